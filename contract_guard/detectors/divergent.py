"""CG401 divergent constants and CG402 divergent rules: two places of production that do not agree
with each other."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple, cast

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.fold import NotFoldable
from contract_guard.facts.literals import is_distinctive_int, is_distinctive_text
from contract_guard.facts.model import Binding, ModuleFacts
from contract_guard.findings import Finding, Related
from contract_guard.registry.layout import parent
from contract_guard.registry.module import Module
from contract_guard.registry.risk import is_constant_name
from contract_guard.registry.rules import Rule, given_rules, rules_of
from contract_guard.registry.value_sets import is_finite, literal, overlap

_Value = int | float | str | dict[object, object]

# Larger numbers than anybody counts with, such as -3.0e38.
_LARGE = 1e30
_FEWEST_SHARED = 2
_MOST_TEXT = 80


class _Defined(NamedTuple):
    """A module's constant with its value."""

    module: Module
    binding: Binding
    value: _Value


def divergent_constants(context: Context) -> Iterable[Finding]:
    """CG401: modules of one directory define a constant of one name, each once and always, with
    different values of a kind that nobody chooses by chance; or modules of one package a table
    that is the same in part.

    A warning where one module takes the name from both.
    """
    found: dict[tuple[str, str], list[_Defined]] = {}
    for path, _ in context.registry.whole.facts():
        if context.registry.layout.is_loose(path):
            continue  # tests, and scripts that each run alone
        module = context.registry.module(path)
        for name, bindings in module.bindings.items():
            binding = bindings[0]
            if len(bindings) > 1 or binding.kind != "assign" or binding.guard >= 0:
                continue
            if not _is_telling(name):
                continue
            value = _value(context, module, name)
            if value is not None:
                is_table = isinstance(value, dict)
                near = module.name.partition(".")[0] if is_table else parent(path)
                found.setdefault((near, name), []).append(_Defined(module, binding, value))
    for (_, name), places in sorted(found.items()):
        others = [place for place in places if _diverges(places[0].value, place.value)]
        if others:
            yield _divergent(context, name, places[0], others)


def _is_telling(name: str) -> bool:
    """Several words: one alone (`SIZE`) may mean another thing in each module."""
    return is_constant_name(name) and name.strip("_").count("_") >= 1


def _value(context: Context, module: Module, name: str) -> _Value | None:
    """A distinctive value or a table, None for any other."""
    try:
        value = context.registry.value_of(f"{module.name}:{name}")
    except NotFoldable:
        return None
    if type(value) is int and is_distinctive_int(value):
        return value
    if isinstance(value, float) and _LARGE <= abs(value) < math.inf:
        return value  # stands for infinity
    if isinstance(value, dict):
        return cast("dict[object, object]", value)
    return value if isinstance(value, str) and is_distinctive_text(value) else None


def _diverges(one: _Value, other: _Value) -> bool:
    """For tables: most entries of the smaller one are the same in the other, and some are not."""
    if isinstance(one, dict) and isinstance(other, dict):
        entries, others = one.items(), other.items()
        same = sum(entry in others for entry in entries)
        fewest = min(len(entries), len(others))
        return max(_FEWEST_SHARED, fewest / 2) <= same < max(len(entries), len(others))
    return type(one) is type(other) and one != other


def _divergent(
    context: Context, name: str, first: "_Defined", others: Sequence["_Defined"]
) -> Finding:
    facts = first.module.facts
    assert facts is not None
    where = [other.module.name for other in others]
    if isinstance(first.value, dict):
        what = f"`{name}` has other entries in {', '.join(f'`{module}`' for module in where)}"
    else:
        listed = ", ".join(f"{other.value!r} in `{other.module.name}`" for other in others)
        what = f"`{name}` is {first.value!r} here and {listed}"
    takers = _takers(context, name, {first.module.name, *where})
    reach = f"; `{takers[0]}` takes it from both" if takers else ""
    binding = first.binding
    return context.finding(
        "CG401",
        "warning" if takers else "note",
        Site(first.module.path, facts, binding.span, binding.statement, 0, binding.guard),
        f"{first.module.name}:{name}",
        f"{what}{reach}",
        "keep one definition, and import it; or give each a name of its own",
        related=tuple(
            Related(
                other.module.path,
                other.binding.span.line,
                other.binding.span.end_line,
                "",
                f"`{name}` is {_short(other.value)}",
            )
            for other in others
        ),
    )


def _short(value: _Value) -> str:
    text = repr(value)
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}..."


def _takers(context: Context, name: str, modules: set[str]) -> list[str]:
    """Files that import the name from two of the modules."""
    found: list[str] = []
    for path, facts in context.registry.whole.facts():
        here = context.registry.module(path)
        sources = {
            module.name
            for imp in facts.imports
            if imp.name == name
            for module in context.registry.modules.locate_import(here, imp).modules[:1]
        }
        if len(sources & modules) > 1:
            found.append(path)
    return found


def divergent_rules(context: Context) -> Iterable[Finding]:
    """CG402: predicates of production over one constant, a distinctive id, that accept different
    sets of values around it."""
    registry = context.registry
    rules = [
        rule
        for path, facts in registry.whole.facts()
        if facts.predicates and not registry.layout.is_test(path)
        for rule in rules_of(registry, path)
    ]
    by_constant: dict[str, list[Rule]] = {}
    for rule in (*rules, *given_rules(registry, by_tests=False)):
        if is_finite(rule.accepts) and _is_sentinel(rule):
            for constant in rule.constants:
                by_constant.setdefault(constant, []).append(rule)
    seen: set[_Place] = set()
    for constant, rules in sorted(by_constant.items()):
        first = rules[0]
        others = [
            rule
            for rule in rules
            if rule.accepts != first.accepts
            and overlap(rule.accepts, first.accepts)
            and _place(rule) != _place(first)
            and (_subject(rule) == _subject(first) or _tells(context, rule, first))
        ]
        if others and _place(first) not in seen:
            seen.add(_place(first))
            yield _divergent_rule(context, constant, first, others)


_Place = tuple[str, int]


def _place(rule: Rule) -> _Place:
    return rule.path, rule.predicate.span.line


def _subject(rule: Rule) -> str:
    """The last name of what is tested: `ids` for `self.ids`."""
    return (rule.predicate.subject or "").rpartition(".")[2]


def _tells(context: Context, *rules: Rule) -> bool:
    """Whether the rules stand in functions that say by their names what they tell: masks and
    tests."""
    names = [_qualname(context, rule).rpartition(".")[2].strip("_") for rule in rules]
    return all("mask" in name or name.startswith("is_") for name in names)


def _is_sentinel(rule: Rule) -> bool:
    return bool(rule.accepts) and is_distinctive_int(int(rule.accepts[0][0]))


def _divergent_rule(
    context: Context, constant: str, first: Rule, others: Sequence[Rule]
) -> Finding:
    facts = context.registry.tree.files[first.path]
    assert isinstance(facts, ModuleFacts)
    predicate = first.predicate
    listed = ", ".join(sorted({literal(rule.accepts) for rule in others}))
    return context.finding(
        "CG402",
        "note",
        Site(
            first.path, facts, predicate.span, predicate.statement, predicate.scope, predicate.guard
        ),
        constant,
        f"this rule over `{constant}` accepts {literal(first.accepts)}, and another {listed}",
        "call one function for the rule in both places, if they mean the same",
        related=tuple(_related(context, rule) for rule in others),
    )


def _related(context: Context, rule: Rule) -> Related:
    span = rule.predicate.span
    accepted = f"accepts {literal(rule.accepts)}"
    return Related(rule.path, span.line, span.end_line, _qualname(context, rule), accepted)


def _qualname(context: Context, rule: Rule) -> str:
    facts = context.registry.tree.files[rule.path]
    assert isinstance(facts, ModuleFacts)
    return facts.scopes[rule.predicate.scope].qualname
