"""`Use` and `Load` facts: where names that imports bound are used."""

import ast

from contract_guard.facts.model import Load, Use
from contract_guard.facts.observations import Chain, Observations
from contract_guard.facts.scopes import ScopeRecord


class ImportedNames:
    """Which imports a name leads to, by Python's scope rules."""

    def __init__(self, notes: Observations) -> None:
        self.names = frozenset(fact.bound for fact in notes.imports)
        self._alone: dict[tuple[ScopeRecord, str], tuple[int, ...]] = {}
        self._any: dict[tuple[ScopeRecord, str], tuple[int, ...]] = {}

    def alone(self, scope: ScopeRecord, name: str) -> tuple[int, ...]:
        """The imports that bind `name`, used in `scope`; none if anything else binds it too."""
        if name not in self.names:
            return ()
        key = (scope, name)
        found = self._alone.get(key)
        if found is None:
            home = scope.home(name)
            found = tuple(home.bound[name]) if home and name not in home.other else ()
            self._alone[key] = found
        return found

    def any(self, scope: ScopeRecord, name: str) -> tuple[int, ...]:
        """The imports that may have bound `name`, used in `scope`."""
        if name not in self.names:
            return ()
        key = (scope, name)
        found = self._any.get(key)
        if found is None:
            home = scope.home(name)
            found = self._any[key] = tuple(home.bound[name]) if home else ()
        return found


def uses_of(notes: Observations, imported: ImportedNames) -> tuple[Use, ...]:
    found: list[Use] = []
    names = imported.names
    for chain in notes.chains:
        root = chain.root
        if isinstance(root, ast.Name):
            if root.id not in names:
                continue
            imports = imported.alone(chain.here.scope, root.id)
        else:
            index = notes.import_calls.get(id(root))
            imports = () if index is None else (index,)
        if imports:
            found.append(_use(chain, imports, notes))
    return tuple(found)


def _use(chain: Chain, imports: tuple[int, ...], notes: Observations) -> Use:
    source = notes.source
    parts: list[str] = []
    ends: list[tuple[int, int]] = []
    node: ast.expr = chain.outer
    while node is not chain.root:
        assert isinstance(node, ast.Attribute)
        parts.append(node.attr)
        ends.append(source.end(node))
        node = node.value
    ends.append(source.end(node))
    here = chain.here
    return Use(
        imports,
        tuple(reversed(parts)),
        chain.context,
        source.span(chain.outer),
        tuple(reversed(ends)),
        source.statement_span(here.statement),
        notes.scope_index(here.scope),
        notes.guards.index(here.guard),
        chain.called,
    )


def loads_of(notes: Observations, imported: ImportedNames) -> tuple[Load, ...]:
    """The first load of an imported name in each scope, in the order of the scopes' first use."""
    found: list[Load] = []
    for scope in notes.every_scope():
        for name, (node, guard) in scope.loads.items():
            imports = imported.any(scope, name) if name in imported.names else ()
            if imports:
                found.append(
                    Load(
                        imports,
                        notes.source.span(node),
                        notes.scope_index(scope),
                        notes.guards.index(guard),
                    )
                )
    return tuple(found)
