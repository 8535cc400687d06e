"""Functions that leave the class they decorate what it was, but for attributes that can be read.

A function counts where it gives back its first argument, in every case, and does nothing with it
that could add attributes of other names. Factories (`@register("name")`) count where they give
back such a function of their own. Whatever is not understood makes the function none.
"""

import ast
from collections.abc import Callable, Iterator, Sequence

from contract_guard.facts.model import ClassDecorator
from contract_guard.facts.observations import FunctionNode, Observations
from contract_guard.facts.source import callee, dotted

# What may be done with the class, beside reading and setting its attributes.
_ASKING = frozenset(
    {"hasattr", "getattr", "isinstance", "issubclass", "repr", "str", "id", "type", "len", "print"}
)
_COLLECTING = frozenset({"append", "add", "insert", "setdefault", "register"})
_READING = (ast.Return, ast.Compare, ast.Subscript, ast.FormattedValue, ast.BoolOp, ast.IfExp)

_Resolve = Callable[[str], "set[str] | None"]


class _NotUnderstood(Exception):
    pass


def class_decorators(notes: Observations) -> tuple[ClassDecorator, ...]:
    """Those among the functions of the module itself, each with the attributes that it sets."""
    functions = _Functions(notes)
    found = [(name, functions.sets(name)) for name in functions.of_module]
    return tuple(
        ClassDecorator(name, tuple(sorted(attributes)))
        for name, attributes in found
        if attributes is not None
    )


class _Functions:
    def __init__(self, notes: Observations) -> None:
        self.of_module: dict[str, FunctionNode | None] = {}
        self._names = {record.node.name for record in notes.functions}
        self._known: dict[str, set[str] | None] = {}
        for record in notes.functions:
            node = record.node
            if record.here.scope is notes.module and not _is_overload(node):
                # Of several of that name, it is not known which is in force.
                self.of_module[node.name] = None if node.name in self.of_module else node

    def sets(self, name: str) -> set[str] | None:
        """The attributes that a decorator of that name sets, None where it is none."""
        if name not in self._known:
            self._known[name] = None  # one that leads back to itself is none
            node = self.of_module.get(name)
            if node is not None and self._may_be_one(node):
                self._known[name] = _attributes(node, self.sets)
        return self._known[name]

    def _may_be_one(self, node: FunctionNode) -> bool:
        """The cheap test for most functions: their last statement gives back something else."""
        if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list or _may_end(node.body):
            return False
        last = node.body[-1]
        return not isinstance(last, ast.Return) or self._may_give(last.value, _subject(node))

    def _may_give(self, value: ast.expr | None, subject: str) -> bool:
        if isinstance(value, ast.IfExp):
            return self._may_give(value.body, subject) and self._may_give(value.orelse, subject)
        name = _given(value)
        return name == subject or name in self._names


def _is_overload(node: FunctionNode) -> bool:
    return any(
        callee(decorator).rpartition(".")[2] == "overload" for decorator in node.decorator_list
    )


def _subject(node: FunctionNode) -> str:
    """The name of the first parameter, "" without one."""
    parameters = [*node.args.posonlyargs, *node.args.args]
    return parameters[0].arg if parameters else ""


def _given(value: ast.expr | None) -> str:
    """The name that a function gives back, or whose result it gives back."""
    if isinstance(value, ast.Name):
        return value.id
    if not isinstance(value, ast.Call):
        return ""
    name = dotted(value.func)
    if name.rpartition(".")[2] == "partial" and value.args:
        name = dotted(value.args[0])
    return name


def _attributes(node: FunctionNode, others: _Resolve) -> set[str] | None:
    try:
        return _Reading(node, others).sets
    except _NotUnderstood:
        return None


class _Reading:
    """One function, read as a decorator of classes or as one that makes such decorators."""

    def __init__(self, node: FunctionNode, others: _Resolve) -> None:
        self.others = others
        self.sets: set[str] = set()
        self._read: set[str] = set()
        self._decorator(node, {})

    def _decorator(self, node: FunctionNode, outer: dict[str, FunctionNode]) -> None:
        subject = _subject(node)
        own = list(_own(node))
        inner = {**outer, **{n.name: n for n in own if isinstance(n, ast.FunctionDef)}}
        returned = [n.value for n in own if isinstance(n, ast.Return)]
        yields = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own)
        if not returned or yields or _may_end(node.body):
            raise _NotUnderstood
        for value in returned:
            self._returned(value, subject, inner)
        # One that makes decorators is given something else than a class.
        if any(_names(value, subject) for value in returned):
            for statement in node.body:
                self._check(statement, (node,), subject, inner)

    def _returned(
        self, value: ast.expr | None, subject: str, inner: dict[str, FunctionNode]
    ) -> None:
        if isinstance(value, ast.Name) and value.id == subject:
            return
        if isinstance(value, ast.IfExp):
            self._returned(value.body, subject, inner)
            self._returned(value.orelse, subject, inner)
            return
        self._other(_given(value), inner)

    def _other(self, name: str, inner: dict[str, FunctionNode]) -> None:
        """Another decorator, of this function's own or of the module."""
        if name in inner:
            if name not in self._read:
                self._read.add(name)
                self._decorator(inner[name], inner)
            return
        sets = self.others(name)
        if sets is None:
            raise _NotUnderstood
        self.sets |= sets

    def _check(
        self,
        node: ast.AST,
        above: tuple[ast.AST, ...],
        subject: str,
        inner: dict[str, FunctionNode],
    ) -> None:
        """Every place that names the subject, down to functions in which it means another value."""
        if isinstance(node, ast.Name) and node.id == subject:
            self._place(node, above, inner)
        if not _binds(node, subject):
            for child in ast.iter_child_nodes(node):
                self._check(child, (*above, node), subject, inner)

    def _place(
        self, subject: ast.Name, above: tuple[ast.AST, ...], inner: dict[str, FunctionNode]
    ) -> None:
        parent = above[-1]
        if isinstance(parent, ast.keyword):
            parent = above[-2]
        if isinstance(parent, ast.Attribute):
            if isinstance(parent.ctx, ast.Store):
                self.sets.add(parent.attr)
            called = isinstance(above[-2], ast.Call) and above[-2].func is parent
            if isinstance(parent.ctx, ast.Del) or parent.attr == "__dict__" or called:
                raise _NotUnderstood
        elif isinstance(parent, ast.Call):
            self._argument(parent, inner)
        elif isinstance(parent, ast.Assign):
            # Kept in a table; under another name it could be changed unseen.
            if not all(isinstance(target, ast.Subscript) for target in parent.targets):
                raise _NotUnderstood
        elif not isinstance(parent, _READING):
            raise _NotUnderstood

    def _argument(self, call: ast.Call, inner: dict[str, FunctionNode]) -> None:
        name = dotted(call.func)
        last = name.rpartition(".")[2]
        if name == "setattr":
            attribute = call.args[1] if len(call.args) > 1 else None
            if not (isinstance(attribute, ast.Constant) and isinstance(attribute.value, str)):
                raise _NotUnderstood
            self.sets.add(attribute.value)
        elif name not in _ASKING and not ("." in name and last in _COLLECTING):
            self._other(name, inner)


def _names(value: ast.expr | None, name: str) -> bool:
    return value is not None and any(
        isinstance(node, ast.Name) and node.id == name for node in ast.walk(value)
    )


def _binds(node: ast.AST, name: str) -> bool:
    """Whether the node is a function with a parameter of that name."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return False
    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    return any(argument.arg == name for argument in arguments)


def _own(node: FunctionNode) -> Iterator[ast.AST]:
    """Nodes of the function itself, without those in functions and classes that it defines."""
    queue: list[ast.AST] = list(node.body)
    while queue:
        found = queue.pop()
        yield found
        if not isinstance(
            found, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            queue.extend(ast.iter_child_nodes(found))


def _may_end(body: Sequence[ast.stmt]) -> bool:
    """Whether control may reach the end of a block, as far as its last statement tells."""
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return False
    if isinstance(last, ast.If):
        return not last.orelse or _may_end(last.body) or _may_end(last.orelse)
    if isinstance(last, ast.With):
        return _may_end(last.body)
    return True
