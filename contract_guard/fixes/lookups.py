"""Where production looks a definition up, the places at which a patch of it takes effect; and who
takes a name from a file that only imports it."""

import msgspec

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


def is_taken(registry: Registry, path: str, name: str) -> bool:
    """Whether another file may take `name` out of the file `path`: by an import (a star too), as an
    attribute of the module, or as what it patches there."""
    own = registry.module(path).name
    for other, facts in registry.facts():
        if other == path:
            continue
        if any(patch.target == f"{own}.{name}" for patch in facts.patches):
            return True
        as_attribute = any(name in use.chain for use in facts.uses) or any(
            patch.attribute == name for patch in facts.patches
        )
        for imp in facts.imports:
            if not as_attribute and imp.name not in (name, "*"):
                continue
            found = registry.resolve_import(other, msgspec.structs.replace(imp, name=None))
            module = found.producer.symbol if found.producer is not None else ""
            if module == own and imp.name in (name, "*"):
                return True
            if as_attribute and module and f"{own}.".startswith(f"{module}."):
                return True
    return False
