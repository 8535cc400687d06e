"""Values of the module's own constants, for names in `__all__`, patch targets and parameters."""

import ast

from contract_guard.facts.fold import NotFoldable, fold_node, is_text
from contract_guard.facts.observations import Observations
from contract_guard.facts.scopes import ScopeRecord


class Constants:
    """Folds expressions of one file with the constants that the file itself binds once."""

    def __init__(self, notes: Observations) -> None:
        self._values = _single_values(notes, notes.module)
        for record in notes.classes:
            if record.here.scope is notes.module:
                for name, value in _single_values(notes, record.scope).items():
                    self._values[f"{record.node.name}.{name}"] = value
        self._known: dict[str, object] = {}
        self._unknown: set[str] = set()
        self._open: set[str] = set()

    def node(self, name: str) -> ast.expr | None:
        """The expression that `name` is bound to, if it is bound once."""
        return self._values.get(name)

    def lookup(self, name: str) -> object:
        """The value of a name; raises `NotFoldable`."""
        if name in self._known:
            return self._known[name]
        node = self._values.get(name)
        if node is None or name in self._unknown or name in self._open or len(self._open) > 20:
            raise NotFoldable(f"{name} has no single value")
        self._open.add(name)
        try:
            value = self._known[name] = fold_node(node, self.lookup)
        except NotFoldable:
            if not self._open - {name}:  # else it may be for a cycle or for depth
                self._unknown.add(name)
            raise
        finally:
            self._open.discard(name)
        return value

    def fold(self, node: ast.expr) -> object:
        """The value of an expression; raises `NotFoldable`."""
        return fold_node(node, self.lookup)

    def text(self, node: ast.expr) -> str | None:
        """The value of an expression if it is a text."""
        if isinstance(node, ast.Constant):
            return node.value if is_text(node.value) else None
        try:
            value = self.fold(node)
        except NotFoldable:
            return None
        return value if is_text(value) else None


def _single_values(notes: Observations, scope: ScopeRecord) -> dict[str, ast.expr]:
    found: dict[str, ast.expr] = {}
    several: set[str] = set()
    for item in notes.bindings[scope]:
        if item.kind == "annotation":
            continue
        if item.name in found or item.kind != "assign" or item.value is None or item.path:
            several.add(item.name)
        else:
            found[item.name] = item.value
    return {name: value for name, value in found.items() if name not in several}
