"""Python's scope rules: which scope a name leads to, and which imports bind it there.

A name belongs to one scope for the whole of that scope, wherever in it the binding stands, so
names are resolved after the pass over the tree.
"""

import ast
from collections.abc import Iterator

from contract_guard.facts.guards import GuardRecord
from contract_guard.facts.model import ScopeKind


class ScopeRecord:
    """A scope while the tree is read.

    `bound` maps each name bound here to the imports that bind it; `other` are the names that
    something else than an import binds as well. `loads` is the first plain load of each name.
    """

    __slots__ = (
        "bound",
        "globals",
        "index",
        "kind",
        "loads",
        "name",
        "node",
        "nonlocals",
        "other",
        "parent",
        "qualname",
    )

    def __init__(
        self, kind: ScopeKind, name: str, parent: "ScopeRecord | None", node: ast.AST | None
    ) -> None:
        self.kind: ScopeKind = kind
        self.name = name
        self.parent = parent
        self.node = node
        self.index = -1
        self.bound: dict[str, list[int]] = {}
        self.other: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.loads: dict[str, tuple[ast.Name, GuardRecord | None]] = {}
        outer = parent.qualname if parent is not None else ""
        if kind in ("class", "function"):
            self.qualname: str = f"{outer}.{name}" if outer else name
        else:
            self.qualname = outer

    def bind(self, name: str) -> None:
        """Something other than an import binds `name`."""
        if name not in self.bound:
            self.bound[name] = []
        self.other.add(name)

    def ancestors(self) -> Iterator["ScopeRecord"]:
        scope = self.parent
        while scope is not None:
            yield scope
            scope = scope.parent

    def module(self) -> "ScopeRecord":
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def binding_scope(self) -> "ScopeRecord":
        """Where a walrus in this scope binds: comprehensions hand it to the scope around them."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    def home(self, name: str) -> "ScopeRecord | None":
        """The scope that `name`, used here, belongs to; None for builtins and unknown names."""
        scope: ScopeRecord | None = self
        while scope is not None:
            if name in scope.globals:
                return scope.module()
            if name in scope.bound and (scope is self or scope.kind != "class"):
                return scope
            scope = scope.parent
        return None

    def nonlocal_home(self, name: str) -> "ScopeRecord | None":
        """The enclosing function scope that a `nonlocal name` of this scope means."""
        for scope in self.ancestors():
            if scope.kind not in ("class", "module") and name in scope.bound:
                return scope
        return None
