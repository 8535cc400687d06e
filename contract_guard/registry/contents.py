"""What the modules of a tree define, by symbol, for comparing two trees."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, cast

from contract_guard.facts.fold import NotFoldable
from contract_guard.facts.model import Binding, ClassFacts, ModuleFacts
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Place, Tree
from contract_guard.registry.module import Module

_DEFINING = frozenset({"function", "class", "assign", "type-alias"})


class Definition(NamedTuple):
    """A name that a module or a class of it binds, by the last statement that does.

    `value` is Python literal text of what it folds to, None where it does not.
    """

    symbol: str
    module: Module
    binding: Binding
    value: str | None

    @property
    def name(self) -> str:
        """The own name: the last part."""
        return self.binding.name

    @property
    def owner(self) -> str:
        """What it is a name of: the module, or the class in it."""
        head, colon, qualname = self.symbol.partition(":")
        outer = qualname.rpartition(".")[0]
        return f"{head}{colon}{outer}" if outer else head

    @property
    def is_passed_on(self) -> bool:
        """Whether the module itself takes it from elsewhere."""
        return self.binding.kind == "import"

    @property
    def place(self) -> Place:
        return Place(self.module.path, self.binding.span.line, self.value)


def changed_paths(old: Tree, new: Tree) -> frozenset[str]:
    """Files whose facts differ, or that only one of the trees has."""
    paths = {*old.files, *new.files}
    return frozenset(
        path
        for path in paths
        if (before := old.files.get(path)) is not (after := new.files.get(path)) and before != after
    )


def contents(registry: Registry, paths: Iterable[str]) -> dict[str, Definition]:
    """The definitions in those of `paths` that the project has, by symbol, with what modules pass
    on from others. Two files of one module name share their symbols: the first of them counts."""
    found: dict[str, Definition] = {}
    for path in sorted(paths):
        facts = registry.tree.files.get(path)
        if not isinstance(facts, ModuleFacts):
            continue
        module = registry.module(path)
        for symbol, binding in (*_of_module(module, facts), *_of_classes(module, facts)):
            if symbol not in found:
                value = _value(registry, symbol, binding)
                found[symbol] = Definition(symbol, module, binding, value)
    return found


def _of_module(module: Module, facts: ModuleFacts) -> Iterator[tuple[str, Binding]]:
    for binding in reversed(facts.bindings):
        if binding.kind in _DEFINING or binding.imported >= 0:
            yield f"{module.name}:{binding.name}", binding


def _of_classes(module: Module, facts: ModuleFacts) -> Iterator[tuple[str, Binding]]:
    for class_ in facts.classes:
        if is_reachable(facts, class_):
            owner = f"{module.name}:{facts.scopes[class_.scope].qualname}"
            for binding in reversed(class_.members):
                if binding.kind in _DEFINING:
                    yield f"{owner}.{binding.name}", binding


def is_reachable(facts: ModuleFacts, class_: ClassFacts) -> bool:
    """Whether the class is an attribute of the module, or of a class that is one."""
    scope = class_.scope
    while scope > 0:
        if facts.scopes[scope].kind != "class":
            return False
        scope = facts.scopes[scope].parent
    return True


def _value(registry: Registry, symbol: str, binding: Binding) -> str | None:
    if binding.kind != "assign" or binding.value is None:
        return None
    return value_text(registry, symbol)


def value_text(registry: Registry, symbol: str) -> str | None:
    """The value that a symbol folds to as Python literal text, None where it does not fold."""
    try:
        value = registry.value_of(symbol)
    except NotFoldable:
        return None
    return text_of(value)


def text_of(value: object) -> str:
    """The same text for equal values: sets in order."""
    if isinstance(value, set | frozenset) and value:
        items = cast("set[object]", value)
        return "{" + ", ".join(sorted(map(repr, items))) + "}"
    return repr(cast("object", value))
