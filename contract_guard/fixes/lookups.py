"""Where production looks a definition up: the places at which a patch of it takes effect."""

from contract_guard.facts.model import ModuleFacts
from contract_guard.registry.consumers import consumers_of_any
from contract_guard.registry.index import Registry


def lookups(registry: Registry, symbol: str) -> frozenset[str]:
    """Dotted targets (`package.module.name`) under which production loads the definition `symbol`
    (`package.module:name`): its own module where that uses it or others read it there as an
    attribute, and each module that imports the name and loads it."""
    owner, _, name = symbol.partition(":")
    name = name.partition(".")[0]
    found: set[str] = set()
    for module in registry.modules.named(owner):
        if module.facts is not None and name in module.facts.loaded_names:
            found.add(f"{owner}.{name}")
    for place in consumers_of_any(registry, {name}):
        if place.in_test or place.producer.symbol != symbol:
            continue
        if place.form == "attribute":
            found.add(place.symbol.replace(":", "."))
        elif place.form == "import":
            facts = registry.tree.files[place.path]
            assert isinstance(facts, ModuleFacts)
            importer = registry.module(place.path).name
            found |= {f"{importer}.{bound}" for bound in _loaded(facts, place.span[:2])}
    return frozenset(found)


def _loaded(facts: ModuleFacts, start: tuple[int, int]) -> set[str]:
    """The bound name of the top-level import that begins there, if the file loads it."""
    return {
        imp.bound
        for index, imp in enumerate(facts.imports)
        if imp.span[:2] == start
        and imp.scope == 0
        and any(index in load.imported for load in facts.loads)
    } | {
        imp.bound
        for index, imp in enumerate(facts.imports)
        if imp.span[:2] == start
        and imp.scope == 0
        and any(index in use.imported for use in facts.uses)
    }
