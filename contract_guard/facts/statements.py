"""Reading statements: bindings, scopes, guards and what their expressions say."""

import ast
from collections.abc import Callable, Sequence
from typing import Any

from contract_guard.facts.digest import OPERATORS, TYPES, arity, digest
from contract_guard.facts.endings import MAY_END, guard_after
from contract_guard.facts.expressions import ExpressionReader, defaults_of, every_argument
from contract_guard.facts.guards import (
    GuardRecord,
    caught_names,
    condition_kind,
    context_guard,
    function_guard,
    split_not,
)
from contract_guard.facts.imports import dynamic_import, from_import, importer_name, plain_import
from contract_guard.facts.model import Import
from contract_guard.facts.observations import (
    Chain,
    ClassRecord,
    FunctionNode,
    FunctionRecord,
    Here,
    Observations,
)
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import Source


def observe(source: Source, tree: ast.Module) -> Observations:
    """Read the whole tree once."""
    reader = StatementReader(source)
    reader.future_annotations = _has_future_annotations(tree)
    reader.block(tree.body)
    reader.finish()
    return reader.notes


class StatementReader(ExpressionReader):
    """Statements nest at most about 100 deep (Python's limit), so they are read recursively;
    chains of `elif`, which have no such limit, are a loop."""

    future_annotations = False

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
                self._type_alias(statement)
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

    def _here(self, statement: ast.stmt) -> Here:
        return Here(self.scope, self.guard, statement)

    # Simple statements

    def expression_statement(self, node: ast.Expr) -> None:
        value = node.value
        if isinstance(value, ast.Constant):
            if not isinstance(value.value, str):
                self.expression(value, self._here(node))
            return
        self.expression(value, self._here(node))

    def assign_statement(self, node: ast.Assign) -> None:
        here = self._here(node)
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
        self.expression(call, self._here(node))
        self.bind(
            target.id, "import" if index >= 0 else "assign", target, node, call, imported=index
        )

    def augmented_statement(self, node: ast.AugAssign) -> None:
        here = self._here(node)
        self.tokens.append(OPERATORS[type(node.op)])
        self.expression(node.value, here)
        target = node.target
        if isinstance(target, ast.Name):
            self.scope.loads.setdefault(target.id, (target, self.guard))
        elif isinstance(target, ast.Attribute):
            self.notes.loaded.add(target.attr)
        self.target(target, "assign", here)

    def annotated_statement(self, node: ast.AnnAssign) -> None:
        here = self._here(node)
        self._annotations([node.annotation], here, run=self.scope.kind != "function")
        if node.value is not None:
            self.expression(node.value, here)
            self.target(node.target, "assign", here, node.value)
        elif isinstance(node.target, ast.Name):
            self.tokens.append(node.target.id)
            self.bind(node.target.id, "annotation", node.target, node)

    def _annotations(self, annotations: Sequence[ast.expr], here: Here, *, run: bool) -> None:
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
            self.expression(node.value, self._here(node))

    def delete_statement(self, node: ast.Delete) -> None:
        here = self._here(node)
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
        self.expressions(values, self._here(node))

    def assert_statement(self, node: ast.Assert) -> None:
        values = [node.test] if node.msg is None else [node.test, node.msg]
        self.expressions(values, self._here(node))

    def global_statement(self, node: ast.Global) -> None:
        self.tokens.extend(node.names)
        if self.scope.kind != "module":
            self.scope.globals.update(node.names)

    def nonlocal_statement(self, node: ast.Nonlocal) -> None:
        self.tokens.extend(node.names)
        self.scope.nonlocals.update(node.names)

    def _type_alias(self, node: Any) -> None:
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
        here = self._here(node)
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
        self.expression(node.test, self._here(node))
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
        here = self._here(node)
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
        here = self._here(node)
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
            self._annotations(annotations, Here(self.scope, self.guard, node), run=True)
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
        here = self._here(node)
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
