"""Reading statements: bindings, scopes, guards and what their expressions say."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from contract_guard.facts.digest import TYPES, arity, digest
from contract_guard.facts.endings import MAY_END, guard_after
from contract_guard.facts.guards import (
    GuardRecord,
    caught_names,
    condition_kind,
    context_guard,
    function_guard,
    split_not,
)
from contract_guard.facts.noting import defaults_of, every_argument
from contract_guard.facts.observations import (
    ClassRecord,
    FunctionNode,
    FunctionRecord,
    Here,
    Observations,
)
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.simple_statements import SimpleStatementReader
from contract_guard.facts.source import Source


def observe(source: Source, tree: ast.Module) -> Observations:
    """Read the whole tree once."""
    reader = StatementReader(source)
    reader.future_annotations = _has_future_annotations(tree)
    reader.block(tree.body)
    reader.finish()
    return reader.notes


class StatementReader(SimpleStatementReader):
    """Statements nest at most about 100 deep (Python's limit), so they are read recursively;
    chains of `elif`, which have no such limit, are a loop."""

    def block(self, statements: Sequence[ast.stmt]) -> None:
        outer = self.guard
        emit = self.tokens.append
        for statement in statements:
            kind = type(statement)
            emit(TYPES[kind])
            reader = _READERS.get(kind)
            if reader is not None:
                reader(self, statement)
            elif kind.__name__ == "TypeAlias":
                self.type_alias(statement)
            if kind in MAY_END:
                guard = guard_after(statement, self.guard, self.source)
                if guard is not None:
                    self.guard = guard
        emit(":end")
        self.guard = outer

    def finish(self) -> None:
        for scope, name in self.notes.nonlocal_bindings:
            home = scope.nonlocal_home(name)
            if home is not None:
                home.bind(name)

    # Compound statements

    def if_statement(self, node: ast.If) -> None:
        outer = self.guard
        while True:
            self.expression(node.test, Here(self.scope, self.guard, node))
            test, negated = split_not(node.test)
            kind = condition_kind(test, self.source)
            guard = self.guard
            if isinstance(test, ast.Constant):
                runs = bool(test.value) is not negated
                dead = GuardRecord("unreachable", guard, test)
                body, orelse = (guard, dead) if runs else (dead, guard)
            else:
                body = GuardRecord(kind, guard, test, negated)
                orelse = GuardRecord(kind, guard, test, not negated)
            self.guard = body
            self.block(node.body)
            self.guard = orelse
            rest = node.orelse
            if len(rest) == 1 and isinstance(rest[0], ast.If):
                self.tokens.append("elif")
                node = rest[0]
                continue
            if rest:
                self.tokens.append("else")
                self.block(rest)
            break
        self.guard = outer

    def _guarded_block(self, guard: GuardRecord | None, statements: Sequence[ast.stmt]) -> None:
        outer, self.guard = self.guard, guard
        self.block(statements)
        self.guard = outer

    def for_statement(self, node: ast.For | ast.AsyncFor) -> None:
        here = self.here(node)
        self.expression(node.iter, here)
        outer, self.guard = self.guard, GuardRecord("loop", self.guard, node.iter)
        self.target(node.target, "loop", here)
        if isinstance(node.target, ast.Name):
            self.notes.loops[self.scope, node.target.id] = node.iter
        self.block(node.body)
        self.guard = outer
        if node.orelse:
            self._guarded_block(GuardRecord("loop", outer, node.iter, True), node.orelse)

    def while_statement(self, node: ast.While) -> None:
        self.expression(node.test, self.here(node))
        self._guarded_block(GuardRecord("loop", self.guard, node.test), node.body)
        if node.orelse:
            self._guarded_block(GuardRecord("loop", self.guard, node.test, True), node.orelse)

    def with_statement(self, node: ast.With | ast.AsyncWith) -> None:
        guard = self.guard
        for item in node.items:
            context = item.context_expr
            here = Here(self.scope, guard, node)
            self.expression(context, here)
            self.tokens.append("with")
            if item.optional_vars is not None:
                self.tokens.append("as")
                if isinstance(item.optional_vars, ast.Name):
                    self.notes.named_values[self.scope, item.optional_vars.id] = context
                self.target(item.optional_vars, "with", here)
            guard = context_guard(context, guard) or guard
        self._guarded_block(guard, node.body)

    def try_statement(self, node: ast.Try | ast.TryStar) -> None:
        guard = self.guard
        catches = tuple(name for handler in node.handlers for name in caught_names(handler.type))
        if node.handlers:
            guard = GuardRecord("try", guard, None, catches=catches)
        self._guarded_block(guard, node.body)
        for handler in node.handlers:
            self.tokens.append(f"except {handler.name}")
            if handler.type is not None:
                self.expression(handler.type, Here(self.scope, self.guard, handler))
            outer = self.guard
            self.guard = GuardRecord(
                "except", outer, handler.type, catches=caught_names(handler.type)
            )
            if handler.name is not None:
                self.bind(handler.name, "except", handler, handler)
            self.block(handler.body)
            self.guard = outer
        if node.orelse:
            self.tokens.append("else")
            self._guarded_block(GuardRecord("try", self.guard, None, True), node.orelse)
        if node.finalbody:
            self.tokens.append("finally")
            self.block(node.finalbody)

    def match_statement(self, node: ast.Match) -> None:
        here = self.here(node)
        self.expression(node.subject, here)
        outer = self.guard
        for case in node.cases:
            self.guard = GuardRecord("match", outer, case.pattern)
            values: list[ast.expr] = []
            for part in ast.walk(case.pattern):
                self.tokens.append(type(part).__name__)
                self.tokens.extend(_pattern_tokens(part))
                if isinstance(part, ast.MatchStar | ast.MatchAs) and part.name is not None:
                    self.bind(part.name, "match", part, node)
                elif isinstance(part, ast.MatchMapping) and part.rest is not None:
                    self.bind(part.rest, "match", part, node)
                if isinstance(part, ast.MatchValue):
                    values.append(part.value)
                elif isinstance(part, ast.MatchClass):
                    values.append(part.cls)
                elif isinstance(part, ast.MatchMapping):
                    values.extend(part.keys)
            if case.guard is not None:
                values.append(case.guard)
            self.expressions(values, Here(self.scope, self.guard, node))
            self.block(case.body)
        self.guard = outer

    # Definitions

    def _decorators(self, decorators: Sequence[ast.expr]) -> None:
        self.tokens.append(arity(len(decorators)))
        for decorator in decorators:
            self.expression(decorator, Here(self.scope, self.guard, decorator))

    def _type_parameters(self, node: FunctionNode | ast.ClassDef) -> None:
        """Enter the scope of `[T, ...]` (Python 3.12), if there is one."""
        parameters: Sequence[Any] = getattr(node, "type_params", ())
        if parameters:
            scope = self.notes.enter("type-parameters", node.name, self.scope, node)
            for parameter in parameters:
                scope.bind(parameter.name)
            self.scope = scope

    def function_statement(self, node: FunctionNode) -> None:
        here = self.here(node)
        outer = self.scope
        self._decorators(node.decorator_list)
        arguments = node.args
        defaults = defaults_of(arguments)
        if defaults:
            self.expressions(defaults, here)
        self._type_parameters(node)
        annotations = [a.annotation for a in every_argument(arguments) if a.annotation is not None]
        if node.returns is not None:
            annotations.append(node.returns)
        if annotations:
            self.annotations(annotations, Here(self.scope, self.guard, node), run=True)
        scope = self.notes.enter("function", node.name, self.scope, node)
        self.notes.functions.append(FunctionRecord(node, scope, here))
        self.tokens.append(node.name)
        self.parameters(arguments, scope)
        start = len(self.tokens)
        outer_guard = self.guard
        self.guard = function_guard(outer_guard, node.decorator_list, self.source)
        self.scope = scope
        self.block(without_docstring(node.body))
        self.scope, self.guard = outer, outer_guard
        body = self._digest(start, outer, node.name)
        self.bind(node.name, "function", node, node, digest=body)

    def _digest(self, start: int, outer: ScopeRecord, name: str) -> int:
        """The hash of the body whose tokens begin at `start`, if it is bound in a module or class.

        Behind a definition of the module no earlier token is needed any more.
        """
        if outer.kind not in ("module", "class"):
            return 0
        body = digest(self.tokens[start:], name)
        if outer.kind == "module":
            self.tokens.clear()
        return body

    def class_statement(self, node: ast.ClassDef) -> None:
        here = self.here(node)
        outer = self.scope
        self._decorators(node.decorator_list)
        self._type_parameters(node)
        self.tokens.append(f"{node.name}({len(node.bases)}")
        self.tokens.extend(f"={keyword.arg}" for keyword in node.keywords)
        bases = [*node.bases, *(keyword.value for keyword in node.keywords)]
        if bases:
            self.expressions(bases, Here(self.scope, self.guard, node))
        scope = self.notes.enter("class", node.name, self.scope, node)
        self.notes.bindings[scope] = []
        self.notes.classes.append(ClassRecord(node, scope, here))
        start = len(self.tokens)
        self.scope = scope
        self.block(without_docstring(node.body))
        self.scope = outer
        body = self._digest(start, outer, node.name)
        self.bind(node.name, "class", node, node, digest=body)


_READERS: dict[type[ast.stmt], Callable[[StatementReader, Any], None]] = {
    ast.Expr: StatementReader.expression_statement,
    ast.Assign: StatementReader.assign_statement,
    ast.AugAssign: StatementReader.augmented_statement,
    ast.AnnAssign: StatementReader.annotated_statement,
    ast.Return: StatementReader.return_statement,
    ast.If: StatementReader.if_statement,
    ast.For: StatementReader.for_statement,
    ast.AsyncFor: StatementReader.for_statement,
    ast.While: StatementReader.while_statement,
    ast.With: StatementReader.with_statement,
    ast.AsyncWith: StatementReader.with_statement,
    ast.Try: StatementReader.try_statement,
    ast.TryStar: StatementReader.try_statement,
    ast.Match: StatementReader.match_statement,
    ast.FunctionDef: StatementReader.function_statement,
    ast.AsyncFunctionDef: StatementReader.function_statement,
    ast.ClassDef: StatementReader.class_statement,
    ast.Import: StatementReader.import_statement,
    ast.ImportFrom: StatementReader.import_from_statement,
    ast.Global: StatementReader.global_statement,
    ast.Nonlocal: StatementReader.nonlocal_statement,
    ast.Delete: StatementReader.delete_statement,
    ast.Raise: StatementReader.raise_statement,
    ast.Assert: StatementReader.assert_statement,
}


def _pattern_tokens(pattern: ast.AST) -> list[str]:
    if isinstance(pattern, ast.MatchAs | ast.MatchStar):
        return [str(pattern.name)]
    if isinstance(pattern, ast.MatchSingleton):
        return [str(pattern.value)]
    if isinstance(pattern, ast.MatchClass):
        return [arity(len(pattern.patterns)), *pattern.kwd_attrs]
    if isinstance(pattern, ast.MatchMapping):
        return [arity(len(pattern.patterns)), str(pattern.rest)]
    if isinstance(pattern, ast.MatchSequence | ast.MatchOr):
        return [arity(len(pattern.patterns))]
    return []


def without_docstring(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    first = body[0]
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


def _has_future_annotations(tree: ast.Module) -> bool:
    for statement in without_docstring(tree.body) if tree.body else ():
        if not isinstance(statement, ast.ImportFrom) or statement.module != "__future__":
            return False
        if any(alias.name == "annotations" for alias in statement.names):
            return True
    return False
