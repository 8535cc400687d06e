"""What the pass over a syntax tree notes down, still in terms of its nodes.

The other modules of this package turn these notes into facts once every binding is known.
"""

import ast
from itertools import takewhile
from typing import NamedTuple

from contract_guard.facts.guards import GuardRecord, GuardTable
from contract_guard.facts.model import BindingKind, Import, ScopeKind, UseContext
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import Positioned, Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


_INNER = frozenset({"lambda", "comprehension", "type-parameters"})


class Here(NamedTuple):
    """Where something was seen."""

    scope: ScopeRecord
    guard: GuardRecord | None
    statement: Positioned


class Bound(NamedTuple):
    """A binding in the module or a class body.

    `value` is the bound expression; `path` are the indices that unpacking takes from it.
    `digest` is the hash of a body.
    """

    name: str
    kind: BindingKind
    node: Positioned
    statement: Positioned
    guard: GuardRecord | None
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    imported: int = -1
    digest: int = 0
    via_global: bool = False


class Chain(NamedTuple):
    """An attribute chain: its root (a name, or a call that imports), and its outermost part."""

    root: ast.Name | ast.Call
    outer: ast.Attribute
    context: UseContext
    called: bool
    here: Here


class FunctionRecord(NamedTuple):
    node: FunctionNode
    scope: ScopeRecord  # its own
    here: Here


class ClassRecord(NamedTuple):
    node: ast.ClassDef
    scope: ScopeRecord  # its own
    here: Here


class Observations:
    """Notes in the order of the pass: a statement's expressions before its body."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.guards = GuardTable(source)
        self.module = module = ScopeRecord("module", "", None, None)
        module.index = 0
        self.scopes: list[ScopeRecord] = [module]  # those with a number
        self.inner_scopes: list[ScopeRecord] = []  # lambdas, comprehensions, type parameters
        self.bindings: dict[ScopeRecord, list[Bound]] = {module: []}
        self.classes: list[ClassRecord] = []
        self.functions: list[FunctionRecord] = []
        self.imports: list[Import] = []
        self.import_calls: dict[int, int] = {}  # id of a call node -> index of its import
        self.chains: list[Chain] = []
        # Calls by the last name of what is called: "c" for `a.b.c()`.
        self.calls_by_name: dict[str, list[tuple[ast.Call, Here]]] = {}
        self.conditions: list[tuple[ast.expr, Here]] = []
        self.literals: list[tuple[ast.Constant, Here]] = []
        self.loaded: set[str] = set()
        self.subscript_stores: list[tuple[ast.Subscript, ast.expr | None, Here]] = []
        self.attribute_stores: list[tuple[ast.Attribute, Here]] = []  # on other than names
        self.nonlocal_bindings: list[tuple[ScopeRecord, str]] = []
        # What `name = value` or `with value as name` binds, None where there are several.
        self.named_values: dict[tuple[ScopeRecord, str], ast.expr | None] = {}
        self.loops: dict[tuple[ScopeRecord, str], ast.expr] = {}  # loop variable -> iterable

    def scope_index(self, scope: ScopeRecord) -> int:
        """The number of a scope; lambdas and comprehensions get one when a fact needs it."""
        if scope.index < 0:
            fresh = [scope, *takewhile(lambda outer: outer.index < 0, scope.ancestors())]
            for inner in reversed(fresh):
                inner.index = len(self.scopes)
                self.scopes.append(inner)
        return scope.index

    def enter(self, kind: ScopeKind, name: str, parent: ScopeRecord, node: ast.AST) -> ScopeRecord:
        """A new scope below `parent`."""
        scope = ScopeRecord(kind, name, parent, node)
        if kind in ("function", "class"):
            self.scope_index(scope)
        else:
            self.inner_scopes.append(scope)
        return scope

    def every_scope(self) -> list[ScopeRecord]:
        return [*(s for s in self.scopes if s.kind not in _INNER), *self.inner_scopes]
