"""Where a name that is gone lives now, as far as one revision alone can tell."""

from contract_guard.registry.index import Registry

_DEFINING = frozenset({"function", "class", "assign", "type-alias"})


def single_home(registry: Registry, symbol: str) -> str | None:
    """The symbol of the one definition of that name in another module of the same package.

    None where there are several, or the name is one plain word (`run`) that many things have.
    """
    module, _, name = symbol.partition(":")
    if not is_distinctive(name):
        return None
    top = module.partition(".")[0]
    homes = {
        f"{other.name}:{name}"
        for other in registry.modules.mentioning(name)
        if name in other.bindings
        and other.name.partition(".")[0] == top
        and other.name != module
        and (other.tree or not registry.layout.is_test(other.path))
        and any(b.kind in _DEFINING and b.value != "None" for b in other.bindings[name])
    }
    if len(homes) != 1:
        return None
    (home,) = homes
    producer = registry.producer(home)
    return home if producer is not None and producer.symbol == home else None


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
