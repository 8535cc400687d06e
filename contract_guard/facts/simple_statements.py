"""Reading statements that hold no others: assignments, imports, `return`, `assert`, ..."""

import ast
from collections.abc import Sequence
from typing import Any

from contract_guard.facts.digest import OPERATORS
from contract_guard.facts.expressions import ExpressionReader
from contract_guard.facts.imports import dynamic_import, from_import, importer_name, plain_import
from contract_guard.facts.model import Import
from contract_guard.facts.observations import Chain, Here


class SimpleStatementReader(ExpressionReader):
    """With `future_annotations` (PEP 563), no annotation is ever evaluated."""

    future_annotations = False

    def here(self, statement: ast.stmt) -> Here:
        """The present place, for what is seen in `statement`."""
        return Here(self.scope, self.guard, statement)

    def expression_statement(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant):
            if not isinstance(value.value, str):
                self.expression(value, self.here(node))
            return
        self.expression(value, self.here(node))

    def assign_statement(self, node: ast.Assign) -> None:
        here = self.here(node)
        value = node.value
        target = node.targets[0]
        if isinstance(target, ast.Name):
            if isinstance(value, ast.Call) and len(node.targets) == 1 and importer_name(value):
                self._bound_import_call(target, value, node)
                return
            key = (self.scope, target.id)
            named = self.notes.named_values
            named[key] = value if key not in named else None
        self.expression(value, here)
        for target in node.targets:
            self.target(target, "assign", here, value)

    def _bound_import_call(self, target: ast.Name, call: ast.Call, node: ast.Assign) -> None:
        notes = self.notes
        fact = dynamic_import(
            call,
            target.id,
            node,
            notes.scope_index(self.scope),
            notes.guards.index(self.guard),
            self.source,
        )
        self.tokens.append(target.id)
        index = -1
        if fact is not None:
            index = self._add_import(fact)
            notes.import_calls[id(call)] = index
        self.expression(call, self.here(node))
        self.bind(
            target.id, "import" if index >= 0 else "assign", target, node, call, imported=index
        )

    def augmented_statement(self, node: ast.AugAssign) -> None:
        here = self.here(node)
        self.tokens.append(OPERATORS[type(node.op)])
        self.expression(node.value, here)
        target = node.target
        if isinstance(target, ast.Name):
            self.scope.loads.setdefault(target.id, (target, self.guard))
        elif isinstance(target, ast.Attribute):
            self.notes.loaded.add(target.attr)
        self.target(target, "assign", here)

    def annotated_statement(self, node: ast.AnnAssign) -> None:
        here = self.here(node)
        self.annotations([node.annotation], here, run=self.scope.kind != "function")
        if node.value is not None:
            self.expression(node.value, here)
            self.target(node.target, "assign", here, node.value)
        elif isinstance(node.target, ast.Name):
            self.tokens.append(node.target.id)
            self.bind(node.target.id, "annotation", node.target, node)

    def annotations(self, annotations: Sequence[ast.expr], here: Here, *, run: bool) -> None:
        """Read annotations, which are no part of a hash; only some of them are evaluated."""
        run = run and not self.future_annotations
        for annotation in annotations:
            if not run or not isinstance(annotation, ast.Name | ast.Attribute):
                self.mention(annotation)  # also what stands in quotes
        if run:
            kept = len(self.tokens)
            self.expressions(annotations, here)
            del self.tokens[kept:]

    def return_statement(self, node: ast.Return) -> None:
        if node.value is not None:
            self.expression(node.value, self.here(node))

    def delete_statement(self, node: ast.Delete) -> None:
        here = self.here(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.tokens.append(target.id)
                self.bind(target.id, "del", target, node)
            elif isinstance(target, ast.Attribute):
                root: ast.expr = target
                while isinstance(root, ast.Attribute):
                    self.tokens.append(".")
                    self.tokens.append(root.attr)
                    root = root.value
                if isinstance(root, ast.Name):
                    self.tokens.append(root.id)
                    self.notes.chains.append(Chain(root, target, "del", False, here))
                else:
                    self.expression(root, here)
            else:
                self.expression(target, here)

    def raise_statement(self, node: ast.Raise) -> None:
        values = [value for value in (node.exc, node.cause) if value is not None]
        self.expressions(values, self.here(node))

    def assert_statement(self, node: ast.Assert) -> None:
        values = [node.test] if node.msg is None else [node.test, node.msg]
        self.expressions(values, self.here(node))

    def global_statement(self, node: ast.Global) -> None:
        self.tokens.extend(node.names)
        if self.scope.kind != "module":
            self.scope.globals.update(node.names)

    def nonlocal_statement(self, node: ast.Nonlocal) -> None:
        self.tokens.extend(node.names)
        self.scope.nonlocals.update(node.names)

    def type_alias(self, node: Any) -> None:
        """`type Name = value` (Python 3.12): the value is evaluated only on demand."""
        self.mention(node.value)
        self.bind(node.name.id, "type-alias", node.name, node)

    # Imports

    def _add_import(self, fact: Import) -> int:
        self.notes.imports.append(fact)
        return len(self.notes.imports) - 1

    def import_statement(self, node: ast.Import) -> None:
        notes = self.notes
        scope, guard = notes.scope_index(self.scope), notes.guards.index(self.guard)
        for alias in node.names:
            self.tokens.append(f"{alias.name} {alias.asname}")
            fact = plain_import(alias, node, scope, guard, self.source)
            self.bind(fact.bound, "import", alias, node, imported=self._add_import(fact))

    def import_from_statement(self, node: ast.ImportFrom) -> None:
        notes = self.notes
        scope, guard = notes.scope_index(self.scope), notes.guards.index(self.guard)
        self.tokens.append(f"{node.level} {node.module}")
        for alias in node.names:
            self.tokens.append(f"{alias.name} {alias.asname}")
            fact = from_import(alias, node, scope, guard, self.source)
            index = self._add_import(fact)
            if fact.bound:
                self.bind(fact.bound, "import", alias, node, imported=index)
