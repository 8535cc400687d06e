"""Attributes of classes, through their bases, and attribute chains from a module downwards."""

import builtins
import collections.abc
import functools
import importlib
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from contract_guard.facts.model import Binding, ClassFacts
from contract_guard.registry import guards
from contract_guard.registry.model import Reason
from contract_guard.registry.module import Module
from contract_guard.registry.modules import Modules
from contract_guard.registry.names import Found, Names, Target, either

_OPAQUE = Found("exists")

# Bases of the standard library whose attributes the running Python can tell: classes that give
# their subclasses no other ones.
_KNOWN_BASES: dict[str, frozenset[str]] = {
    "abc": frozenset({"ABC"}),
    "argparse": frozenset({"Action", "ArgumentParser", "HelpFormatter", "Namespace"}),
    "ast": frozenset({"NodeTransformer", "NodeVisitor"}),
    "collections": frozenset({"Counter", "OrderedDict", "UserDict", "UserList", "defaultdict"}),
    "collections.abc": frozenset(dir(collections.abc)),
    "contextlib": frozenset({"AbstractContextManager", "ContextDecorator", "ExitStack"}),
    "enum": frozenset({"Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"}),
    "io": frozenset({"BufferedIOBase", "BytesIO", "RawIOBase", "StringIO", "TextIOWrapper"}),
    "json": frozenset({"JSONDecoder", "JSONEncoder"}),
    "logging": frozenset({"Filter", "Formatter", "Handler", "Logger", "StreamHandler"}),
    "threading": frozenset({"Thread"}),
    "types": frozenset({"ModuleType", "SimpleNamespace"}),
    "typing": frozenset({"Generic", "NamedTuple", "Protocol"}),
    "unittest": frozenset({"TestCase"}),
}
_NAMED_TUPLE = frozenset(
    {*dir(tuple), "_asdict", "_field_defaults", "_fields", "_make", "_replace"}
)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")
_CLASS_ATTRIBUTES = frozenset(dir(type)) | frozenset(dir(object)) | {"__dict__", "__annotations__"}
_KNOWN_METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})

# Methods by which a metaclass decides what its classes have.
_MAKING = frozenset({"__new__", "__init__", "__prepare__", "__getattr__", "__getattribute__"})


Importing = Literal["", "modules-first", "attributes-first"]
"""Whether submodules on a dotted way are loaded, and whether an attribute of that name wins:
`pkgutil.resolve_name`, and with it `mock.patch`, takes the submodule, pytest the attribute."""


class Chain(NamedTuple):
    """How far an attribute chain could be followed: `depth` parts, to `found`.

    With status "exists" the rest of the chain is on a value that is neither module nor class.
    `owner` is what the last part that was looked at was asked of.
    """

    found: Found
    depth: int
    owner: Target | None


class Members:
    """Answers about class attributes and chains of attributes."""

    def __init__(self, modules: Modules, names: Names) -> None:
        self._modules = modules
        self._names = names
        self._classes: dict[tuple[Module, int], list[tuple[Target, ClassFacts]]] = {}

    def attribute(
        self, target: Target, name: str, *, type_checking: bool = False, stores: bool = True
    ) -> Found:
        """What `target.name` is."""
        if target.binding is None:
            return self._names.find(
                target.module, name, type_checking=type_checking, importing=False, stores=stores
            )
        classes = self.classes(target)
        if classes:
            return either([self._member(t, c, name, stores, frozenset()) for t, c in classes])
        return Found("unknown", reason="object")

    def follow(
        self,
        targets: Sequence[Target],
        chain: Sequence[str],
        *,
        type_checking: bool = False,
        stores: bool = True,
        importing: Importing = "",
    ) -> Chain:
        """Follow `chain` from any of `targets`. Without `stores`, assignments from elsewhere to
        the last part do not count; with `importing`, submodules are loaded on the way."""
        found = Found("exists", tuple(targets))
        owner: Target | None = None
        for depth, part in enumerate(chain):
            last = depth == len(chain) - 1
            results: list[Found] = []
            for target in found.targets:
                if importing and not last and target.binding is None:
                    child = self._modules.child(target.module, part)
                    if child is not None and importing == "modules-first":
                        result = Found("exists", (Target(child),))
                    else:
                        result = self._names.find(target.module, part, type_checking=type_checking)
                else:
                    result = self.attribute(
                        target, part, type_checking=type_checking, stores=stores or not last
                    )
                results.append(result)
            if not results:
                return Chain(found, depth, owner)
            lacking = [r.status == "missing" for r in results]
            if any(lacking):
                # A function in the place of a class that lacks it does not have it either.
                pairs = list(zip(found.targets, results, strict=True))
                results = [r for target, r in pairs if not _is_function_without(target, part)]
            step = either(results)
            if step.reason == "object" and step.status != "exists":
                return Chain(found, depth, owner)
            owner = found.targets[lacking.index(True) if step.status == "missing" else 0]
            if step.status != "exists":
                return Chain(step, depth, owner)
            found = step._replace(via=(*found.via, *step.via))
        return Chain(found, len(chain), owner)

    def classes(self, target: Target) -> list[tuple[Target, ClassFacts]]:
        """The classes that a definition may be, following plain aliases (`Old = New`)."""
        if target.binding is None or target.binding.kind not in ("class", "assign"):
            return []
        key = (target.module, id(target.binding))
        found = self._classes.get(key)
        if found is None:
            self._classes[key] = []  # what an alias of itself is
            found = self._classes[key] = self._find_classes(target, target.binding)
        return found

    def _find_classes(self, target: Target, binding: Binding) -> list[tuple[Target, ClassFacts]]:
        if binding.kind == "class":
            found = target.module.classes.get(target.symbol.rpartition(":")[2], [])
            exact = [c for c in found if c.guard == binding.guard]
            return [(target, c) for c in exact or found]
        if binding.value and _DOTTED.fullmatch(binding.value):
            owner = target.owner
            if owner is not None and owner.bases:
                return []  # an enumeration, say, makes members of what stands there
            chain = self.resolve(target.module, binding.value)
            if chain.depth == binding.value.count(".") + 1:
                return [c for aliased in chain.found.targets for c in self.classes(aliased)]
        return []

    def _member(
        self, target: Target, facts: ClassFacts, name: str, stores: bool, seen: frozenset[int]
    ) -> Found:
        module = target.module
        if module.facts is None or id(facts) in seen:
            return Found("missing", reason="no-such-member")
        # The fields of a named tuple are attributes of its class.
        fields = any(base.rpartition(".")[2] == "NamedTuple" for base in facts.bases)
        dead = ("del",) if fields else ("annotation", "del")
        alive = [b for b in facts.members if b.name == name and b.kind not in dead]
        alive = [b for b in alive if not guards.type_checking(module.facts, b.guard)]
        if alive:
            return Found("exists", tuple(Target(module, b, facts) for b in alive))
        if name in _CLASS_ATTRIBUTES or (name.startswith("__") and name.endswith("__")):
            return _OPAQUE
        doubt = self._doubt(target, facts, name, stores)
        if seen and any(member.name == "__init_subclass__" for member in facts.members):
            doubt = doubt or "dynamic-class"  # it is given the class that is asked
        for base in facts.bases:
            inherited = self._inherited(module, base, name, stores, seen | {id(facts)})
            if inherited.status == "exists":
                return inherited
            if inherited.status == "unknown":
                doubt = doubt or inherited.reason
        return (
            Found("unknown", reason=doubt) if doubt else Found("missing", reason="no-such-member")
        )

    def _doubt(
        self, target: Target, facts: ClassFacts, name: str, stores: bool
    ) -> Reason | Literal[""]:
        if facts.dynamic or not all(
            self.keeps_members(target.module, decorator, name)
            for decorator in facts.unread_decorators
        ):
            return "dynamic-class"
        metaclass = "type" if facts.metaclass is None else facts.metaclass
        if not self._is_plain_metaclass(target.module, metaclass, name, frozenset()):
            return "dynamic-class"
        if any(self._writes_owner(target.module, maker) for maker in facts.made_by):
            return "dynamic-class"
        # What a plain class only declares, it does not have; a decorator may make it a slot.
        declared = bool(facts.decorators) and any(b.name == name for b in facts.members)
        if declared or name in facts.self_attributes:
            return "instance-attribute"
        own = target.module.facts
        if own is not None and name in own.stored_attributes:
            return "assigned-elsewhere"
        if stores and self._names.is_stored(target, name):
            return "assigned-elsewhere"
        if self._modules.is_configured(f"{target.symbol}.{name}", target.module.tree):
            return "configured"
        return ""

    def _writes_owner(
        self, module: Module, dotted: str, seen: frozenset[int] = frozenset()
    ) -> bool:
        """Whether what makes a value in a class body is a descriptor that writes to the class."""
        chain = self.resolve(module, dotted) if dotted else None
        if chain is None or chain.depth != dotted.count(".") + 1:
            return False
        return any(
            facts.writes_owner
            or any(
                self._writes_owner(made.module, base, seen | {id(facts)}) for base in facts.bases
            )
            for target in chain.found.targets
            for made, facts in self.classes(target)
            if id(facts) not in seen
        )

    def keeps_members(self, module: Module, decorator: str, name: str) -> bool:
        """Whether a class decorator is a function that is known, and that does not set `name`."""
        chain = self.resolve(module, decorator) if decorator else None
        if chain is None or chain.found.status != "exists" or not chain.found.targets:
            return False
        return chain.depth == decorator.count(".") + 1 and all(
            _is_keeping(target, name) for target in chain.found.targets
        )

    def _is_plain_metaclass(
        self, module: Module, dotted: str, name: str, seen: frozenset[int]
    ) -> bool:
        """Whether a metaclass gives its classes no attribute `name`, and makes none by itself."""
        if dotted.rpartition(".")[2] in _KNOWN_METACLASSES:
            return True
        chain = self.resolve(module, dotted) if dotted else None
        if chain is None or chain.depth != dotted.count(".") + 1:
            return False
        found = [classes for target in chain.found.targets for classes in self.classes(target)]
        return bool(found) and all(
            id(facts) not in seen
            and facts.metaclass is None
            and not (facts.dynamic or facts.unread_decorators)
            and _MAKING.isdisjoint(names := {member.name for member in facts.members})
            and name not in names
            and all(
                self._is_plain_metaclass(target.module, base, name, seen | {id(facts)})
                for base in facts.bases
            )
            for target, facts in found
        )

    def _inherited(
        self, module: Module, base: str, name: str, stores: bool, seen: frozenset[int]
    ) -> Found:
        unknown = Found("unknown", reason="unknown-base")
        if not base:
            return unknown
        found = self.resolve(module, base)
        if found.found.status != "exists" or found.depth != base.count(".") + 1:
            known = self._known_base(module, base)
            if known is None:
                return unknown
            return _OPAQUE if name in known else Found("missing", reason="no-such-member")
        results = [
            self._member(target, facts, name, stores, seen)
            for base_target in found.found.targets
            for target, facts in self.classes(base_target)
        ]
        if not results or len(results) < len(found.found.targets):
            known = self._known_base(module, base)
            if known is not None and not results:
                return _OPAQUE if name in known else Found("missing", reason="no-such-member")
            results.append(unknown)
        return either(results)

    def resolve(self, module: Module, dotted: str, *, type_checking: bool = False) -> Chain:
        """What a dotted name means in the module's own scope."""
        first, *rest = dotted.split(".")
        found = self._names.find(module, first, type_checking=type_checking, importing=False)
        if found.status != "exists" or not found.targets:
            return Chain(found, 1 if found.status == "exists" else 0, None)
        chain = self.follow(found.targets, rest, type_checking=type_checking)
        via = (*found.via, *chain.found.via)
        return Chain(chain.found._replace(via=via), chain.depth + 1, chain.owner)

    def _known_base(self, module: Module, base: str) -> frozenset[str] | None:
        """Attributes of a base that is a builtin or of the standard library."""
        first, dot, rest = base.partition(".")
        bindings = module.bindings.get(first)
        if not bindings:
            builtin = getattr(builtins, base, None)
            return frozenset(dir(builtin)) if isinstance(builtin, type) else None
        if len(bindings) != 1 or bindings[0].imported < 0 or module.facts is None:
            return None
        imp = module.facts.imports[bindings[0].imported]
        dotted = imp.module if imp.name is None else f"{imp.module}.{imp.name}"
        home, _, name = f"{dotted}{dot}{rest}".rpartition(".")
        is_known = not imp.level and name in _KNOWN_BASES.get(home, ())
        return _attributes_of(home, name) if is_known else None


def _is_function_without(target: Target, name: str) -> bool:
    binding, facts = target.binding, target.module.facts
    return (
        binding is not None
        and binding.kind == "function"
        and not binding.decorators
        and facts is not None
        and name not in facts.stored_attributes
        and not hasattr(_is_function_without, name)
    )


def _is_keeping(decorator: Target, name: str) -> bool:
    binding, facts = decorator.binding, decorator.module.facts
    return (
        binding is not None
        and binding.kind == "function"
        and decorator.owner is None
        and facts is not None
        and any(
            known.name == binding.name and name not in known.attributes
            for known in facts.class_decorators
        )
    )


@functools.cache
def _attributes_of(module: str, name: str) -> frozenset[str]:
    """Attributes of a class of the standard library. Only known names may be asked for: importing
    a module runs it."""
    if name == "NamedTuple":
        return _NAMED_TUPLE
    base: type[object] = getattr(importlib.import_module(module), name)
    # Not `dir`: enumerations hide some of theirs from it.
    owners = (*base.__mro__, *type(base).__mro__)
    return frozenset(attribute for owner in owners for attribute in vars(owner))
