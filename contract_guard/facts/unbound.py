"""`Unbound` facts: names that are loaded and that nothing in the file binds."""

import builtins

from contract_guard.facts.model import Unbound
from contract_guard.facts.observations import Observations

_BUILTINS = frozenset(dir(builtins))


def unbound_of(notes: Observations) -> tuple[Unbound, ...]:
    """The first load of each such name in each scope; none where a star import may bind it."""
    if any(imported.name == "*" for imported in notes.imports):
        return ()
    known = _BUILTINS.union(notes.module.bound)
    return tuple(
        Unbound(name, notes.source.span(node), notes.scope_index(scope), notes.guards.index(guard))
        for scope in notes.every_scope()
        for name, (node, guard) in scope.loads.items()
        if name not in known
        and name not in scope.bound
        and not name.startswith("__")
        and scope.home(name) is None
    )
