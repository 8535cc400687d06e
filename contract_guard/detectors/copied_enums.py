"""CG401 for enumerations: one that was copied, of which a member has another value by now."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, NoReturn, cast

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.fold import NotFoldable, fold
from contract_guard.facts.model import Binding, ClassFacts, ModuleFacts
from contract_guard.findings import Finding, Related
from contract_guard.registry.module import Module

_ENUMERATIONS = ("Enum", "Flag")
_FEWEST_SHARED = 4


class _Enumeration(NamedTuple):
    module: Module
    class_: ClassFacts
    values: Mapping[str, object]


def divergent_enums(context: Context) -> Iterable[Finding]:
    """CG401: an enumeration of production has a member with another value than one of the same name
    in the same package, or in a distribution that the project is checked against; most members
    that both have are the same, and at least four."""
    registry = context.registry
    own: dict[str, list[_Enumeration]] = {}
    for path, facts in registry.whole.facts():
        if not registry.layout.is_loose(path) and facts.classes:
            for each in _enumerations(registry.module(path), facts):
                own.setdefault(each.class_.name, []).append(each)
    for name, (first, *rest) in sorted(own.items()):
        package = _package(first)
        others = [each for each in rest if _package(each) == package]
        others += _elsewhere(context, name)
        for other in others:
            members = _diverging(first.values, other.values)
            if members:
                yield _divergent(context, first, other, members)


def _package(each: _Enumeration) -> str:
    return each.module.name.partition(".")[0]


def _elsewhere(context: Context, name: str) -> Iterator[_Enumeration]:
    """Enumerations of that name in the distributions that the project is checked against."""
    if len(context.registry.trees) < 2:
        return
    for module in context.registry.modules.mentioning(name):
        layout = context.registry.modules.layouts[module.tree]
        if module.tree and module.facts is not None and not layout.is_test(module.path):
            yield from (e for e in _enumerations(module, module.facts) if e.class_.name == name)


def _enumerations(module: Module, facts: ModuleFacts) -> Iterator[_Enumeration]:
    for class_ in facts.classes:
        is_enumeration = any(base.endswith(_ENUMERATIONS) for base in class_.bases)
        if is_enumeration and facts.scopes[class_.scope].parent == 0 and class_.guard < 0:
            values = dict(_values(class_))
            if len(values) >= _FEWEST_SHARED:
                yield _Enumeration(module, class_, values)


def _values(class_: ClassFacts) -> Iterator[tuple[str, object]]:
    """The members that are numbers and texts; `(9,)` is the number 9 too."""
    for binding in class_.members:
        if binding.kind == "assign" and binding.value is not None:
            try:
                value = fold(binding.value, _unknown)
            except NotFoldable:
                continue
            if isinstance(value, tuple) and len(cast("tuple[object, ...]", value)) == 1:
                value = cast("tuple[object, ...]", value)[0]
            if isinstance(value, int | str):
                yield binding.name, value


def _unknown(name: str) -> NoReturn:
    raise NotFoldable(name)


def _diverging(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """The members with two values; none where the enumerations only have their names in common."""
    shared = [name for name in one if name in other]
    differing = [name for name in shared if one[name] != other[name]]
    same = len(shared) - len(differing)
    is_copy = same >= _FEWEST_SHARED and 2 * same >= min(len(one), len(other))
    return differing if is_copy and len(differing) < same else []


def _divergent(
    context: Context, first: _Enumeration, other: _Enumeration, members: list[str]
) -> Finding:
    facts = first.module.facts
    assert facts is not None
    name = first.class_.name
    binding = _member(first, members[0])
    origin = context.registry.trees[other.module.tree].origin
    where = f"`{other.module.name}`" + (f" of {origin}" if other.module.tree else "")
    listed = ", ".join(
        f"`{name}.{member}` is {first.values[member]!r} here and {other.values[member]!r}"
        for member in members
    )
    related: tuple[Related, ...] = ()
    if not other.module.tree:
        span = _member(other, members[0]).span
        message = f"`{name}.{members[0]}` is {other.values[members[0]]!r}"
        related = (Related(other.module.path, span.line, span.end_line, name, message),)
    return context.finding(
        "CG401",
        "note",
        Site(first.module.path, facts, binding.span, binding.statement, 0, -1),
        f"{first.module.name}:{name}.{members[0]}",
        f"{listed} in {where}, where the other members are the same",
        "keep one definition, and import it; or translate the one into the other by name",
        related=related,
    )


def _member(each: _Enumeration, name: str) -> Binding:
    return next(binding for binding in each.class_.members if binding.name == name)
