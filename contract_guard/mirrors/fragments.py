"""Fragments: what one function computes, as a bag of short texts, from one walk of its tree.

A fragment is an operation in normal form (`topk`), an operation with a leaf under it
(`mul>routed_scaling_factor`, `mul>0.9`), or a literal piece of a format string (`f:too many: `).
They nominate pairs; the pairs are then compared as graphs.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.equivalences import FLIPPED, TRANSPARENT, canonical
from contract_guard.mirrors.graph import LIBRARIES
from contract_guard.mirrors.operations import (
    BINARY,
    COMPARE,
    UNARY,
    canonical_method,
)
from contract_guard.mirrors.scopes import dotted_name

_Add = Callable[[str], None]

_MAX_TEXT = 60
_PIECE = re.compile(r"[A-Za-z0-9]{2}")


def file_fragments(tree: ast.Module) -> FileFragments:
    """The fragments of every function of a file."""
    walk = _Walk()
    walk.module(tree)
    return FileFragments(
        tuple(walk.functions),
        tuple(sorted(walk.imports)),
        tuple(sorted(walk.strings)),
        called=tuple(sorted(walk.called())),
        renamed=tuple(sorted(walk.renamed)),
    )


_DTYPE = re.compile(r"(u?int|b?float)\d")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+\Z")
_CHECKS = frozenset({"raises", "warns"})
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_IMPORTS = frozenset({ast.Import, ast.ImportFrom})
# Nothing in them counts; None stands for what a node does not have.
_LEAVES = frozenset({ast.Name, ast.Global, ast.Nonlocal, ast.Pass, ast.MatchSingleton, type(None)})
# Fields of nodes that hold no other nodes, or none that counts.
_PLAIN = frozenset(
    {
        *("ctx", "op", "ops", "id", "attr", "name", "names", "arg", "kind", "value_kind", "rest"),
        *(
            "type_comment",
            "conversion",
            "simple",
            "is_async",
            "lineno",
            "kwd_attrs",
            "level",
            "str",
        ),
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


PARTS = _Parts()


class _Walk:
    def __init__(self) -> None:
        self.functions: list[FunctionFragments] = []
        self.imports: set[tuple[str, str]] = set()
        self.strings: set[str] = set()
        self.renamed: set[tuple[str, str]] = set()
        self._bound: dict[str, str] = {}
        self._dotted: set[str] = set()

    def called(self) -> Iterator[str]:
        """What is called through an import of this project, dotted."""
        for dotted in self._dotted:
            root, _, rest = dotted.partition(".")
            module = self._bound.get(root)
            if module is not None and (rest or module != root):
                yield f"{module}.{rest}" if rest else module

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
        stack: list[Any] = list(function.body if function else ast.iter_child_nodes(root))
        asserts = False
        # The most frequent kinds of nodes first: every node of a project comes by here.
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind in _LEAVES:
                continue
            if kind is ast.Attribute:
                stack.append(node.value)
            elif kind is ast.Constant:
                value = node.value
                if value.__class__ is str and "." in value and _DOTTED.match(value):
                    self.strings.add(value)
            elif kind is ast.Call:
                if function is not None:
                    _call(node, found.add, calls)
                    if dotted := dotted_name(node.func):
                        self._dotted.add(dotted)
                stack.append(node.func)
                stack += node.args
                stack += node.keywords
            elif kind in _SCOPES:
                pending.append((f"{prefix}{node.name}.", node))
                stack += node.decorator_list
            elif kind in _IMPORTS:
                self._import(node)
            else:
                if function is not None:
                    if kind is ast.Assert:
                        asserts = True
                    elif (operation := _OPERATIONS.get(kind)) is not None:
                        operation(node, found.add)
                for name in PARTS[kind]:
                    value = getattr(node, name)
                    if value.__class__ is list:
                        stack += value
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

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            self.imports.update((alias.name, "") for alias in node.names)
            for alias in node.names:
                if alias.asname:
                    self._bind(alias.asname, alias.name)
                else:
                    root = alias.name.partition(".")[0]
                    self._bind(root, root)
        else:
            module = "." * node.level + (node.module or "")
            dot = "" if module.endswith(".") else "."
            self.imports.update((module, alias.name) for alias in node.names)
            for alias in node.names:
                dotted = f"{module}{dot}{alias.name}"
                self._bind(alias.asname or alias.name, dotted)
                if alias.asname and alias.asname != alias.name:
                    self.renamed.add((alias.asname, dotted))

    def _bind(self, name: str, dotted: str) -> None:
        root = dotted.partition(".")[0]
        if root not in LIBRARIES and root not in sys.stdlib_module_names:
            self._bound[name] = dotted


def _call(node: ast.Call, add: _Add, calls: set[str]) -> None:
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
    known = _operation(name)
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


@lru_cache(10_000)
def _operation(name: str) -> str:
    name = canonical_method(name)
    for dotted in (name, f"builtins.{name}"):
        renamed = canonical(dotted)
        if renamed != dotted:
            return renamed
    return FLIPPED.get(name, name)


def _binary(node: ast.BinOp, add: _Add) -> None:
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


def _compare(node: ast.Compare, add: _Add) -> None:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        _edges(_COMPARE[type(op)], (left, right), add)
        left = right


def _subscript(node: ast.Subscript, add: _Add) -> None:
    _edges("getitem", (node.value, node.slice), add)


def _boolean(node: ast.BoolOp, add: _Add) -> None:
    _edges("and" if isinstance(node.op, ast.And) else "or", node.values, add)


def _augmented(node: ast.AugAssign, add: _Add) -> None:
    _edges(_BINARY[type(node.op)], (node.target, node.value), add)


def _unary(node: ast.UnaryOp, add: _Add) -> None:
    if not isinstance(node.operand, ast.Constant):
        _edges(_UNARY[type(node.op)], (node.operand,), add)


def _format(node: ast.JoinedStr, add: _Add) -> None:
    for value in node.values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            _piece(value.value, add)


def _conditional(node: ast.IfExp, add: _Add) -> None:
    _edges("where", (node.body, node.orelse), add)
    _edges("if", (node.test,), add)


def _branch(node: ast.If, add: _Add) -> None:
    _edges("if", (node.test,), add)


_OPERATIONS: dict[type[ast.AST], Callable[[Any, _Add], None]] = {
    ast.BinOp: _binary,
    ast.Compare: _compare,
    ast.Subscript: _subscript,
    ast.BoolOp: _boolean,
    ast.AugAssign: _augmented,
    ast.UnaryOp: _unary,
    ast.JoinedStr: _format,
    ast.IfExp: _conditional,
    ast.If: _branch,
}


def _edges(name: str, operands: Iterable[ast.expr], add: _Add) -> None:
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


def _piece(text: str, add: _Add) -> None:
    if len(text) >= 4 and _PIECE.search(text):
        add(f"f:{text[:_MAX_TEXT]}")
