"""Definitions by the name that a person would type."""

from collections.abc import Iterator

from contract_guard.registry.contents import is_reachable
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Producer


def definitions(registry: Registry, name: str) -> list[Producer]:
    """The definitions in the project that `name` may mean, in order of symbol.

    `name` is a symbol (`package.module:NAME`), a dotted name, through re-exports too
    (`package.NAME`), or the end of one (`NAME`, `Class.attr`).
    """
    if ":" in name:
        found = registry.producer(name)
        return [found] if found else []
    producers: dict[str, Producer] = {}
    if "." in name:
        found = registry.resolve_dotted(name).producer
        if found is not None and found.kind != "module":
            producers[found.symbol] = found
    for symbol in _symbols(registry, name.rpartition(".")[2]):
        if f".{symbol.replace(':', '.')}".endswith(f".{name}"):
            found = registry.producer(symbol)
            if found is not None:
                producers[found.symbol] = found
    return [producers[symbol] for symbol in sorted(producers)]


def defined_names(registry: Registry) -> set[str]:
    """Own names of all definitions, for suggestions."""
    return {symbol.partition(":")[2].rpartition(".")[2] for symbol in _symbols(registry)}


def _symbols(registry: Registry, name: str | None = None) -> Iterator[str]:
    """Symbols of all that modules and their classes define, of one own name if it is given."""
    for path, facts in registry.facts():
        module = registry.module(path).name
        bound = [(binding, "") for binding in facts.bindings]
        for class_ in facts.classes:
            if is_reachable(facts, class_):
                qualname = facts.scopes[class_.scope].qualname
                bound += [(binding, f"{qualname}.") for binding in class_.members]
        for binding, owner in bound:
            if name in (None, binding.name) and binding.kind not in ("import", "del"):
                yield f"{module}:{owner}{binding.name}"
