"""Which names a module's `__getattr__` serves."""

import ast
from collections.abc import Sequence

from contract_guard.facts.constants import Constants
from contract_guard.facts.guards import split_not
from contract_guard.facts.observations import FunctionNode, Observations
from contract_guard.facts.source import dotted
from contract_guard.facts.tables import Tables


def getattr_of(
    notes: Observations, constants: Constants, tables: Tables
) -> tuple[tuple[str, ...], bool]:
    """The names that `__getattr__` visibly serves, and whether it may serve others."""
    names: dict[str, None] = {}
    may_serve_others = False
    functions = {
        id(record.node): record.node
        for record in notes.functions
        if record.here.scope is notes.module and record.node.name == "__getattr__"
    }
    for item in notes.bindings[notes.module]:
        if item.name != "__getattr__" or item.kind == "annotation":
            continue
        node = functions.get(id(item.node))
        if node is not None:
            reader = _GetattrReader(node, constants, tables)
            names.update(reader.names)
            may_serve_others = may_serve_others or reader.open
            continue
        if item.value is not None and any(
            isinstance(part, ast.Name) and part.id == "__getattr__" for part in ast.walk(item.value)
        ):
            continue  # `__getattr__ = functools.cache(__getattr__)`
        attached = attached_names(item.value, tables)
        names.update(dict.fromkeys(attached or ()))
        may_serve_others = may_serve_others or attached is None
    return tuple(names), may_serve_others


def attached_names(value: ast.expr | None, tables: Tables) -> list[str] | None:
    """The names of `lazy_loader.attach(__name__, submodules, submod_attrs)`.

    None if `value` is no such call, or its tables cannot be read (`attach_stub` reads a file).
    """
    if not isinstance(value, ast.Call) or dotted(value.func).rpartition(".")[2] != "attach":
        return None
    arguments: dict[str | None, ast.expr] = {k.arg: k.value for k in value.keywords}
    arguments.update(zip(("", "submodules", "submod_attrs"), value.args, strict=False))
    names: dict[str, None] = {}
    for parameter in ("submodules", "submod_attrs"):
        node = arguments.get(parameter)
        if node is None or (isinstance(node, ast.Constant) and node.value is None):
            continue
        entries = tables.entries(node)
        if entries is None:
            return None
        if parameter == "submodules":
            names.update(dict.fromkeys(entries))
        else:
            names.update(dict.fromkeys(name for items in entries.values() for name in items))
    return list(names)


class _GetattrReader:
    """Follows one `__getattr__(name)`: a `return` that no test of `name` guards serves any name."""

    def __init__(self, node: FunctionNode, constants: Constants, tables: Tables) -> None:
        self.names: dict[str, None] = {}
        self.open = False
        self._constants = constants
        self._tables = tables
        self._local: dict[str, list[str] | None] = {}
        parameters = [*node.args.posonlyargs, *node.args.args]
        if parameters:
            self._parameter = parameters[0].arg
            self._block(node.body, checked=False)
        else:
            self.open = True

    def _block(self, statements: Sequence[ast.stmt], checked: bool) -> bool:
        """Read a block; whether `name` is known to be in a table after it."""
        for statement in statements:
            checked = self._statement(statement, checked)
        return checked

    def _statement(self, node: ast.stmt, checked: bool) -> bool:
        if isinstance(node, ast.If):
            return self._if(node, checked)
        if isinstance(node, ast.Return):
            value = node.value
            if not checked and not (
                value is not None and (_is_globals(value) or self._looks_up(value))
            ):
                self.open = True
            return checked
        if isinstance(node, ast.For | ast.AsyncFor):
            self._loop(node)
            self._block(node.body, checked)
            return self._block(node.orelse, checked)
        if isinstance(node, ast.While):
            self._block(node.body, checked)
            return self._block(node.orelse, checked)
        if isinstance(node, ast.With | ast.AsyncWith):
            return self._block(node.body, checked)
        if isinstance(node, ast.Try | ast.TryStar):
            after = self._block(node.body, checked)
            for handler in node.handlers:
                self._block(handler.body, checked)
            after = self._block(node.orelse, after)
            self._block(node.finalbody, checked)
            return after
        if isinstance(node, ast.Match):
            return self._match(node, checked)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            table = self._tables.names(node.value)
            if table is not None:
                self._local[node.targets[0].id] = table
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.Expr) and node.value is not None:
            return self._looks_up(node.value) or checked
        return checked

    def _if(self, node: ast.If, checked: bool) -> bool:
        before = dict(self.names)
        positive = self._test(node.test)
        if positive is True and _only_raises(node.body):
            self.names = before
        body = self._block(node.body, checked or positive is True)
        orelse = self._block(node.orelse, checked or positive is False)
        if positive is False and isinstance(node.body[-1], ast.Raise | ast.Return):
            return True
        return checked or (body and orelse and bool(node.orelse))

    def _is_name(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id == self._parameter

    def _test(self, condition: ast.expr) -> bool | None:
        """Whether the condition being true (or false) means that the name is a known one."""
        test, negated = split_not(condition)
        if negated:
            inner = self._test(test)
            return None if inner is None else not inner
        if isinstance(test, ast.BoolOp):
            results = [self._test(part) for part in test.values]
            if isinstance(test.op, ast.And):
                return True if True in results else None
            if all(result is True for result in results):
                return True
            return False if False in results else None
        if isinstance(test, ast.Compare) and len(test.ops) == 1:
            operator, right = test.ops[0], test.comparators[0]
            if self._is_name(test.left):
                if isinstance(operator, ast.Eq | ast.NotEq):
                    self._add(self._text(right))
                    return isinstance(operator, ast.Eq)
                if isinstance(operator, ast.In | ast.NotIn):
                    if not _is_globals(right):  # those are bound, and known as such
                        self._add(self._names(right))
                    return isinstance(operator, ast.In)
            elif self._is_name(right) and isinstance(operator, ast.Eq | ast.NotEq):
                self._add(self._text(test.left))
                return isinstance(operator, ast.Eq)
            if self._looks_up(test.left) and isinstance(operator, ast.Is | ast.IsNot):
                return isinstance(operator, ast.IsNot)
            return None
        return True if self._looks_up(test) else None

    def _text(self, node: ast.expr) -> list[str] | None:
        text = self._constants.text(node)
        return None if text is None else [text]

    def _names(self, table: ast.expr) -> list[str] | None:
        if isinstance(table, ast.Name) and table.id in self._local:
            return self._local[table.id]
        return self._tables.names(table)

    def _add(self, names: list[str] | None) -> None:
        if names is None:
            self.open = True
        else:
            self.names.update(dict.fromkeys(names))

    def _looks_up(self, node: ast.expr) -> bool:
        """Whether an expression takes `name` from a table: `TABLE[name]`, `TABLE.get(name)`."""
        found = False
        for part in ast.walk(node):
            if isinstance(part, ast.Subscript) and self._is_name(part.slice):
                if not _is_globals(part.value):
                    self._add(self._names(part.value))
                    found = True
            elif (
                isinstance(part, ast.Call)
                and isinstance(part.func, ast.Attribute)
                and part.func.attr in ("get", "pop")
                and part.args
                and self._is_name(part.args[0])
                and not _is_globals(part.func.value)
            ):
                self._add(self._names(part.func.value))
                found = True
        return found

    def _loop(self, node: ast.For | ast.AsyncFor) -> None:
        """Remember what `for module, names in TABLE.items()` binds."""
        entries = self._tables.entries(node.iter)
        target = node.target
        if isinstance(target, ast.Tuple) and len(target.elts) == 2:
            first, second = target.elts
            if isinstance(first, ast.Name):
                self._local[first.id] = list(entries) if entries is not None else None
            if isinstance(second, ast.Name):
                self._local[second.id] = (
                    [name for items in entries.values() for name in items]
                    if entries is not None
                    else None
                )

    def _match(self, node: ast.Match, checked: bool) -> bool:
        for case in node.cases:
            names = self._pattern(case.pattern) if self._is_name(node.subject) else None
            if names is not None:
                self._add(names)
            self._block(case.body, checked or names is not None)
        return checked

    def _pattern(self, pattern: ast.pattern) -> list[str] | None:
        if isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
            return self._pattern(pattern.pattern)
        if isinstance(pattern, ast.MatchValue):
            return self._text(pattern.value)
        if isinstance(pattern, ast.MatchOr):
            found: list[str] = []
            for part in pattern.patterns:
                names = self._pattern(part)
                if names is None:
                    return None
                found.extend(names)
            return found
        return None


def _is_globals(node: ast.expr) -> bool:
    """`globals()` and what it gives: names that are bound otherwise, and known as such."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Call) and dotted(node.func) == "globals"


def _only_raises(body: Sequence[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Raise) and not any(
        isinstance(part, ast.Return) for statement in body for part in ast.walk(statement)
    )
