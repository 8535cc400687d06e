"""A walk over syntax that knows where an error would be caught or is expected."""

import ast

from contract_guard.facts.guards import caught_names, context_guard
from contract_guard.registry.guards import Error, catches


class GuardedVisitor(ast.NodeVisitor):
    """Visits everything; `is_guarded` is true inside of a `try` or `with` that catches `error`, up
    to the next function: that runs elsewhere."""

    def __init__(self, error: Error) -> None:
        self.is_guarded = False
        self._error: Error = error

    def catches(self, name: str) -> bool:
        """Whether a handler for the exception of this name, its last part, counts."""
        return catches(name, self._error)

    def visit_Try(self, node: ast.Try) -> None:
        self._visit_try(node)

    def visit_TryStar(self, node: ast.TryStar) -> None:
        self._visit_try(node)

    def visit_With(self, node: ast.With) -> None:
        self._visit_with(node)

    def visit_AsyncWith(self, node: ast.AsyncWith) -> None:
        self._visit_with(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._visit_function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._visit_function(node)

    def _visit_try(self, node: ast.Try | ast.TryStar) -> None:
        names = [name for handler in node.handlers for name in caught_names(handler.type)]
        self._visit_body(node.body, names)
        for part in (*node.handlers, *node.orelse, *node.finalbody):
            self.visit(part)

    def _visit_with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item)
        guards = [context_guard(item.context_expr, None) for item in node.items]
        self._visit_body(node.body, [name for guard in guards if guard for name in guard.catches])

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        before, self.is_guarded = self.is_guarded, False
        self.generic_visit(node)
        self.is_guarded = before

    def _visit_body(self, body: list[ast.stmt], caught: list[str]) -> None:
        before = self.is_guarded
        lasts = [name.rpartition(".")[2] for name in caught]
        self.is_guarded = before or any(map(self.catches, lasts))
        for statement in body:
            self.visit(statement)
        self.is_guarded = before


class Unguarded(GuardedVisitor):
    """Collects the calls whose error nothing around them catches."""

    def __init__(self, error: Error) -> None:
        super().__init__(error)
        self.calls: list[ast.Call] = []

    def visit_Call(self, node: ast.Call) -> None:
        if not self.is_guarded:
            self.calls.append(node)
        self.generic_visit(node)
