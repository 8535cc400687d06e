"""Where a name that is gone lives now, as far as one revision alone can tell."""

from contract_guard.registry.index import Registry

_DEFINING = frozenset({"function", "class", "assign", "type-alias"})


def single_home(registry: Registry, symbol: str) -> str | None:
    """The symbol of the one definition of that name in another module of the same package.

    None where there are several, or the name is one plain word (`run`) that many things have.
    """
    if not is_distinctive(symbol.partition(":")[2]):
        return None
    found = homes(registry, symbol)
    return found[0] if len(found) == 1 else None


def homes(registry: Registry, symbol: str) -> list[str]:
    """The symbols of all definitions of the name in other modules of the same package, tests left
    out."""
    module, _, name = symbol.partition(":")
    top = module.partition(".")[0]
    found = {
        f"{other.name}:{name}"
        for other in registry.modules.all()
        if name in other.bindings
        and other.name.partition(".")[0] == top
        and other.name != module
        and (other.tree or not registry.layout.is_test(other.path))
        and any(b.kind in _DEFINING and b.value != "None" for b in other.bindings[name])
    }
    return sorted(
        home
        for home in found
        if (producer := registry.producer(home)) is not None and producer.symbol == home
    )


def is_distinctive(name: str) -> bool:
    """Whether a name says enough to be known again elsewhere: no dunder, more than one word, or
    a class or constant."""
    if "." in name or name.startswith("__") or len(name) < 4:
        return False
    return "_" in name.strip("_") or name != name.lower()


def single_module(registry: Registry, dotted: str) -> str | None:
    """The one module of the same package that has the last name of a module that is gone."""
    top, last = dotted.partition(".")[0], dotted.rpartition(".")[2]
    found = {
        module.name
        for module in registry.modules.all()
        if module.name.rpartition(".")[2] == last
        and module.name.partition(".")[0] == top
        and module.name != dotted
    }
    return found.pop() if len(found) == 1 and is_distinctive(last) else None
