"""Fragments: what one function computes, as a bag of short texts, from one walk of its tree.

A fragment is an operation in normal form (`topk`), an operation with a leaf under it
(`mul>routed_scaling_factor`, `mul>0.9`), or a literal piece of a format string (`f:too many: `).
They nominate pairs; the pairs are then compared as graphs.
"""

import ast
import re
from collections.abc import Callable, Iterable

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.normal_form import FLIPPED, TRANSPARENT, canonical
from contract_guard.mirrors.operations import (
    BINARY,
    COMPARE,
    UNARY,
    canonical_method,
)
from contract_guard.mirrors.scopes import dotted_name

_MAX_TEXT = 60
_PIECE = re.compile(r"[A-Za-z0-9]{2}")


def file_fragments(tree: ast.Module) -> FileFragments:
    """The fragments of every function of a file."""
    walk = _Walk()
    walk.module(tree)
    return FileFragments(
        tuple(walk.functions), tuple(sorted(walk.imports)), tuple(sorted(walk.strings))
    )


_DTYPE = re.compile(r"(u?int|b?float)\d")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\Z")
_CHECKS = frozenset({"raises", "warns"})
_OPERATIONS = frozenset(
    {
        ast.BinOp,
        ast.Compare,
        ast.Subscript,
        ast.BoolOp,
        ast.AugAssign,
        ast.UnaryOp,
        ast.JoinedStr,
        ast.IfExp,
        ast.If,
    }
)
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
# Nothing in them counts; None stands for what a node does not have.
_LEAVES = frozenset({ast.Name, ast.Global, ast.Nonlocal, ast.Pass, ast.MatchSingleton, type(None)})
# Fields of nodes that hold no other nodes, or none that counts.
_PLAIN = frozenset(
    {
        *("ctx", "op", "ops", "id", "attr", "name", "names", "arg", "kind", "value_kind", "rest"),
        *("type_comment", "conversion", "simple", "is_async", "lineno", "kwd_attrs", "level"),
    }
)
_BINARY = {kind: canonical(name) for kind, name in BINARY.items()}
_UNARY = {kind: canonical(name) for kind, name in UNARY.items()}
_COMPARE = {kind: FLIPPED.get(canonical(name), canonical(name)) for kind, name in COMPARE.items()}


class _Parts(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold nodes."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        parts = self[kind] = tuple(name for name in kind._fields if name not in _PLAIN)
        return parts


_PARTS = _Parts()


class _Walk:
    def __init__(self) -> None:
        self.functions: list[FunctionFragments] = []
        self.imports: set[tuple[str, str]] = set()
        self.strings: set[str] = set()
        self._names: dict[str, str] = {}

    def module(self, tree: ast.Module) -> None:
        pending: list[tuple[str, ast.AST]] = [("", tree)]
        while pending:
            prefix, node = pending.pop()
            self._function(prefix, node, pending)
        self.functions.sort(key=lambda f: f.start)

    def _function(self, prefix: str, root: ast.AST, pending: list[tuple[str, ast.AST]]) -> None:
        found: set[str] = set()
        calls: set[str] = set()
        function = root if isinstance(root, (ast.FunctionDef, ast.AsyncFunctionDef)) else None
        stack: list[ast.AST] = list(function.body if function else ast.iter_child_nodes(root))
        asserts = False
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind in _LEAVES:
                continue
            if isinstance(node, ast.Constant):
                self._string(node.value)
            elif kind in _SCOPES:
                assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
                pending.append((f"{prefix}{node.name}.", node))
                stack.extend(node.decorator_list)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                self._import(node)
            else:
                if function is not None:
                    if isinstance(node, ast.Call):
                        self._call(node, found.add, calls)
                    elif kind is ast.Assert:
                        asserts = True
                    elif kind in _OPERATIONS:
                        _operator(node, found.add)
                for name in _PARTS[kind]:
                    value = getattr(node, name)
                    if value.__class__ is list:
                        stack.extend(value)
                    else:
                        stack.append(value)
        if function is not None:
            self.functions.append(
                FunctionFragments(
                    prefix[:-1],
                    function.lineno,
                    function.end_lineno or function.lineno,
                    tuple(sorted(found)),
                    frozenset(calls),
                    asserts or any(c.startswith("assert") or c in _CHECKS for c in calls),
                    _is_kernel(function, calls),
                )
            )

    def _string(self, value: object) -> None:
        if isinstance(value, str) and _DOTTED.match(value):
            self.strings.add(value)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            self.imports.update((alias.name, "") for alias in node.names)
        else:
            module = "." * node.level + (node.module or "")
            self.imports.update((module, alias.name) for alias in node.names)

    def _call(self, node: ast.Call, add: Callable[[str], None], calls: set[str]) -> None:
        function = node.func
        if isinstance(function, ast.Attribute):
            name = function.attr
            operands = [function.value, *node.args]
        elif isinstance(function, ast.Name):
            name = function.id
            operands = node.args
        else:
            return
        calls.add(name)
        known = self._names.get(name)
        if known is None:
            known = self._names[name] = _operation(name)
        if known in TRANSPARENT:
            return
        if known == "format":
            if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Constant):
                text = function.value.value
                if isinstance(text, str):
                    for piece in re.split(r"\{[^{}]*\}", text):
                        _piece(piece, add)
            return
        if known == "reshape" and any(
            isinstance(a, ast.Attribute) and _DTYPE.match(a.attr) for a in node.args
        ):
            known = "bitcast"
        _edges(known, operands, add)
        for keyword in node.keywords:
            text = _leaf(keyword.value) if isinstance(keyword.value, ast.Constant) else ""
            if text:
                add(f"{keyword.arg}=>{text}")


def _is_kernel(node: ast.FunctionDef | ast.AsyncFunctionDef, calls: set[str]) -> bool:
    for decorator in node.decorator_list:
        target = decorator.func if isinstance(decorator, ast.Call) else decorator
        name = dotted_name(target).rsplit(".", 1)[-1]
        if name in ("jit", "kernel", "prim_func") or name.endswith("_kernel"):
            return True
    return "program_id" in calls or "thread_idx" in calls or "make_block_ptr" in calls


def _operation(name: str) -> str:
    name = canonical_method(name)
    for dotted in (name, f"builtins.{name}"):
        renamed = canonical(dotted)
        if renamed != dotted:
            return renamed
    return FLIPPED.get(name, name)


def _operator(node: ast.AST, add: Callable[[str], None]) -> None:
    if isinstance(node, ast.BinOp):
        _binary(node, add)
    elif isinstance(node, ast.Compare):
        _compare(node, add)
    elif isinstance(node, ast.Subscript):
        _edges("getitem", (node.value, node.slice), add)
    elif isinstance(node, ast.BoolOp):
        _edges("and" if isinstance(node.op, ast.And) else "or", node.values, add)
    elif isinstance(node, ast.AugAssign):
        _edges(_BINARY[type(node.op)], (node.target, node.value), add)
    elif isinstance(node, ast.UnaryOp):
        if not isinstance(node.operand, ast.Constant):
            _edges(_UNARY[type(node.op)], (node.operand,), add)
    elif isinstance(node, ast.JoinedStr):
        for value in node.values:
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                _piece(value.value, add)
    elif isinstance(node, ast.IfExp):
        _edges("where", (node.body, node.orelse), add)
        _edges("if", (node.test,), add)
    elif isinstance(node, ast.If):
        _edges("if", (node.test,), add)


def _binary(node: ast.BinOp, add: Callable[[str], None]) -> None:
    left, right = node.left, node.right
    if isinstance(left, ast.Constant) and isinstance(left.value, str):
        if isinstance(node.op, ast.Mod):
            for piece in re.split(r"%[-#0-9.]*[a-zA-Z]", left.value):
                _piece(piece, add)
        elif isinstance(node.op, ast.Add):
            _piece(left.value, add)
    elif isinstance(right, ast.Constant) and isinstance(right.value, str):
        _piece(right.value, add)
    else:
        _edges(_BINARY[type(node.op)], (left, right), add)


def _compare(node: ast.Compare, add: Callable[[str], None]) -> None:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        _edges(_COMPARE[type(op)], (left, right), add)
        left = right


def _edges(name: str, operands: Iterable[ast.expr], add: Callable[[str], None]) -> None:
    add(name)
    for operand in operands:
        if isinstance(operand, ast.Name):
            add(f"{name}>{operand.id}")
        elif isinstance(operand, ast.Attribute):
            add(f"{name}>{operand.attr}")
        elif isinstance(operand, (ast.Constant, ast.UnaryOp)):
            text = _leaf(operand)
            if text:
                add(f"{name}>{text}")


def _leaf(node: ast.expr) -> str:
    """A constant as `leaf_text` writes it, "" for what is none or is too common to tell."""
    sign = ""
    if isinstance(node, ast.UnaryOp):
        if not isinstance(node.op, ast.USub):
            return ""
        sign, node = "-", node.operand
    if not isinstance(node, ast.Constant):
        return ""
    value = node.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, (str, bytes)):
        return repr(value) if 1 < len(value) <= _MAX_TEXT else ""
    if isinstance(value, int) and value.bit_length() > 256:
        return ""
    return sign + repr(value)


def _piece(text: str, add: Callable[[str], None]) -> None:
    if len(text) >= 4 and _PIECE.search(text):
        add(f"f:{text[:_MAX_TEXT]}")
