"""What a call has to fit: the parameters of functions, of constructors and of methods."""

from collections.abc import Iterable
from typing import NamedTuple

from contract_guard.facts.model import Binding, ClassFacts, Field, Parameter, Signature
from contract_guard.registry.index import Registry
from contract_guard.registry.module import Module
from contract_guard.registry.names import Target

_MOST_BASES = 20
# Bases of which nothing comes that a call would notice.
_PLAIN_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})


class Callable(NamedTuple):
    """The parameters that a call by the symbol's own name has to fit, and, of a method, those that
    a call on an instance has to."""

    signature: Signature
    on_instance: Signature | None = None


def callable_of(registry: Registry, symbol: str) -> Callable | None:
    """What a call of `package.module:name`, `:Class` or `:Class.method` has to fit. None for
    everything of which that is not plain to see: several definitions, decorators, metaclasses."""
    dotted, _, qualname = symbol.partition(":")
    first, *rest = qualname.split(".")
    for module in registry.modules.named(dotted)[:1]:
        binding = _only(module.bindings.get(first, ()))
        if binding is None or registry.names.is_stored(Target(module), first):
            return None
        if binding.kind == "function" and not rest:
            return _function(binding)
        if binding.kind == "class" and len(rest) < 2:
            target = Target(module, binding)
            classes = registry.members.classes(target)
            if len(classes) == 1:
                facts = classes[0][1]
                if _is_replaced(registry, target, rest[0] if rest else "__init__"):
                    return None
                if not rest:
                    return _constructor(registry, target, facts)
                if _gives_another(registry, module, facts) or _hides(facts, rest[0]):
                    return None
                return _method(facts, rest[0])
    return None


def _is_replaced(registry: Registry, class_: Target, name: str) -> bool:
    """Whether something may store another method under the name."""
    own = class_.module.facts
    return (own is not None and name in own.stored_attributes) or registry.names.is_stored(
        class_, name
    )


def _hides(facts: ClassFacts, name: str) -> bool:
    """Whether instances may have something of their own under the name of a method."""
    return name in facts.self_attributes or any(
        member.name == "__getattribute__" for member in facts.members
    )


def _only(bindings: Iterable[Binding]) -> Binding | None:
    """The single definition, bound whatever happens."""
    found = list(bindings)
    return found[0] if len(found) == 1 and found[0].guard < 0 else None


def _function(binding: Binding) -> Callable | None:
    if binding.decorators or binding.signature is None:
        return None
    return Callable(binding.signature)


def _method(facts: ClassFacts, name: str) -> Callable | None:
    binding = _only(member for member in facts.members if member.name == name)
    if binding is None or binding.signature is None or facts.dynamic:
        return None
    whole, bound = binding.signature, _bound(binding.signature)
    if binding.decorators == ("staticmethod",):
        return Callable(whole, whole)
    if binding.decorators == ("classmethod",):
        return Callable(bound, bound) if bound is not None else None
    return Callable(whole, bound) if not binding.decorators else None


def _constructor(registry: Registry, target: Target, facts: ClassFacts) -> Callable | None:
    signature = _constructed(registry, target.module, facts, 0)
    return Callable(signature) if signature is not None else None


def _constructed(
    registry: Registry, module: Module, facts: ClassFacts, depth: int
) -> Signature | None:
    """The parameters of a class's constructor without `self`."""
    if depth > _MOST_BASES or facts.dynamic or (facts.metaclass or "ABCMeta") != "ABCMeta":
        return None
    if any(base.endswith(("Enum", "Flag")) for base in facts.bases):
        return None  # a call looks a member up
    if any(member.name == "__new__" for member in facts.members):
        return None
    if any(member.name == "__init__" for member in facts.members):
        # A decorator that writes constructors leaves one that is there.
        if _gives_another(registry, module, facts) or _is_intercepted(registry, module, facts, 0):
            return None
        method = _method(facts, "__init__")
        return method.on_instance if method is not None else None
    is_data = bool(facts.decorators)
    if is_data and not all(_is_dataclass(module, name) for name in facts.decorators):
        return None
    bases = [base for base in facts.bases if base.rpartition(".")[2] not in _PLAIN_BASES]
    if bases in (["NamedTuple"], ["typing.NamedTuple"]):
        return _written(facts.fields) if facts.fields is not None else None
    if is_data:
        fields = _fields(registry, module, facts, bases, depth)
        return _written(fields.values()) if fields is not None else None
    if not bases:
        return Signature(())
    base = _single_base(registry, module, bases)
    return _constructed(registry, *base, depth + 1) if base is not None else None


def _gives_another(registry: Registry, module: Module, facts: ClassFacts) -> bool:
    """Whether a decorator of the class is a function that may put something in its place."""
    return any(
        target.owner is None
        and target.binding is not None
        and target.binding.kind == "function"
        and not registry.members.keeps_members(module, decorator, "__init__")
        for decorator in facts.unread_decorators
        if decorator
        for target in registry.members.resolve(module, decorator).found.targets
    )


def _is_intercepted(registry: Registry, module: Module, facts: ClassFacts, depth: int) -> bool:
    """Whether a call of the class runs something of a known base before the constructor."""
    for name in facts.bases if depth <= _MOST_BASES else ():
        if (base := _single_base(registry, module, [name])) is None:
            continue
        home, above = base
        if (
            (above.metaclass or "ABCMeta").rpartition(".")[2] != "ABCMeta"
            or any(member.name == "__new__" for member in above.members)
            or any(each.endswith(("Enum", "Flag")) for each in above.bases)
            or _is_intercepted(registry, home, above, depth + 1)
        ):
            return True
    return False


def _written(fields: Iterable[Field]) -> Signature:
    """The constructor that Python writes for some fields: what only keywords give comes last."""
    parameters = [Parameter(f.name, f.kind, f.default) for f in fields if f.kind != "none"]
    return Signature(tuple(sorted(parameters, key=lambda p: p.kind == "keyword-only")))


def _fields(
    registry: Registry, module: Module, facts: ClassFacts, bases: list[str], depth: int
) -> dict[str, Field] | None:
    """The fields of a data class by name, those of its base first; None where they are not
    known."""
    found: dict[str, Field] = {}
    above = set[str]()
    if depth > _MOST_BASES:
        return None
    if bases:
        base = _single_base(registry, module, bases)
        if base is None:
            return None
        others = [b for b in base[1].bases if b.rpartition(".")[2] not in _PLAIN_BASES]
        inherited = _fields(registry, *base, others, depth + 1)
        if inherited is None:
            return None
        found.update(inherited)
        above = {*inherited, *(member.name for member in base[1].members)}
    if not facts.decorators:
        return found
    if facts.fields is None or not all(_is_dataclass(module, name) for name in facts.decorators):
        return None
    given = [field for field in facts.fields if field.kind != "none"]
    if any(field.default is None and field.name in above for field in given):
        return None  # the base's value may be the default
    found.update((field.name, field) for field in facts.fields)
    return found


def _single_base(
    registry: Registry, module: Module, bases: list[str]
) -> tuple[Module, ClassFacts] | None:
    """The class of a project that is the one base, None where there are others or it is not
    known."""
    if len(bases) != 1 or not bases[0]:
        return None
    chain = registry.members.resolve(module, bases[0])
    targets = chain.found.targets
    is_found = chain.found.status == "exists" and chain.depth == bases[0].count(".") + 1
    if not is_found or len(targets) != 1:
        return None
    classes = registry.members.classes(targets[0])
    if len(classes) != 1:
        return None
    target, facts = classes[0]
    return target.module, facts


def _is_dataclass(module: Module, decorator: str) -> bool:
    first, _, rest = decorator.partition(".")
    binding = _only(module.bindings.get(first, ()))
    if binding is None or binding.imported < 0 or module.facts is None:
        return False
    imported = module.facts.imports[binding.imported]
    dotted = imported.module if imported.name is None else f"{imported.module}.{imported.name}"
    return (f"{dotted}.{rest}" if rest else dotted) == "dataclasses.dataclass"


def _bound(signature: Signature) -> Signature | None:
    """Without the parameter that the lookup gives; None where there is none to give it to."""
    first = signature.parameters[0] if signature.parameters else None
    if first is None or first.kind in ("keyword-only", "var-keyword"):
        return None
    if first.kind == "var-positional":
        return signature
    return Signature(signature.parameters[1:], signature.is_async)
