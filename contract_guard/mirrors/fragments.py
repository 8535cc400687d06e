"""Fragments: what one function computes, as a bag of short texts, from one walk of its tree.

A fragment is an operation in normal form (`topk`), an operation with a leaf under it
(`mul>routed_scaling_factor`, `mul>0.9`), or a literal piece of a format string (`f:too many: `).
They nominate pairs; the pairs are then compared as graphs.
"""

import ast
import re
from collections.abc import Callable

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
_BINARY = {kind: canonical(name) for kind, name in BINARY.items()}
_UNARY = {kind: canonical(name) for kind, name in UNARY.items()}
_COMPARE = {kind: FLIPPED.get(canonical(name), canonical(name)) for kind, name in COMPARE.items()}


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
        asserts = False
        is_function = isinstance(root, (ast.FunctionDef, ast.AsyncFunctionDef))
        stack: list[ast.AST] = list(root.body) if is_function else list(ast.iter_child_nodes(root))
        add = found.add
        pop, push = stack.pop, stack.append
        while stack:
            node = pop()
            kind = node.__class__
            if kind is ast.Name or kind is ast.Constant:
                if kind is ast.Constant and type(node.value) is str and _DOTTED.match(node.value):
                    self.strings.add(node.value)
                continue
            if kind is ast.FunctionDef or kind is ast.AsyncFunctionDef or kind is ast.ClassDef:
                pending.append((f"{prefix}{node.name}.", node))
                stack.extend(node.decorator_list)
                continue
            if kind is ast.Import:
                self.imports.update((alias.name, "") for alias in node.names)
                continue
            if kind is ast.ImportFrom:
                module = "." * node.level + (node.module or "")
                self.imports.update((module, alias.name) for alias in node.names)
                continue
            if is_function:
                if kind is ast.Call:
                    self._call(node, add, calls)
                elif kind is ast.BinOp:
                    _binary(node, add)
                elif kind is ast.Compare:
                    _compare(node, add)
                elif kind is ast.Subscript:
                    _edges("getitem", (node.value, node.slice), add)
                elif kind is ast.BoolOp:
                    _edges("and" if node.op.__class__ is ast.And else "or", node.values, add)
                elif kind is ast.AugAssign:
                    _edges(_BINARY[node.op.__class__], (node.target, node.value), add)
                elif kind is ast.UnaryOp:
                    if node.operand.__class__ is not ast.Constant:
                        _edges(_UNARY[node.op.__class__], (node.operand,), add)
                elif kind is ast.JoinedStr:
                    _pieces(node.values, add)
                elif kind is ast.IfExp:
                    _edges("where", (node.body, node.orelse), add)
                    _edges("if", (node.test,), add)
                elif kind is ast.If:
                    _edges("if", (node.test,), add)
                elif kind is ast.Assert:
                    asserts = True
            for name in node._fields:
                value = getattr(node, name)
                if value.__class__ is list:
                    for item in value:
                        if isinstance(item, ast.AST):
                            push(item)
                elif isinstance(value, ast.AST) and name != "ctx" and name != "op":
                    push(value)
        if is_function:
            asserts = asserts or any(
                c.startswith("assert") or c in ("raises", "warns") for c in calls
            )
            self.functions.append(
                FunctionFragments(
                    prefix[:-1],
                    root.lineno,
                    root.end_lineno or root.lineno,
                    tuple(sorted(found)),
                    frozenset(calls),
                    asserts,
                    _is_kernel(root, calls),
                )
            )

    def _call(self, node: ast.Call, add: Callable[[str], None], calls: set[str]) -> None:
        function = node.func
        if function.__class__ is ast.Attribute:
            name = function.attr
            operands = [function.value, *node.args]
        elif function.__class__ is ast.Name:
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
            if function.__class__ is ast.Attribute and isinstance(function.value, ast.Constant):
                text = function.value.value
                if isinstance(text, str):
                    for piece in re.split(r"\{[^{}]*\}", text):
                        _piece(piece, add)
            return
        if known == "reshape" and any(
            a.__class__ is ast.Attribute and _DTYPE.match(a.attr) for a in node.args
        ):
            known = "bitcast"
        _edges(known, operands, add)
        for keyword in node.keywords:
            if keyword.value.__class__ is ast.Constant:
                text = _leaf(keyword.value)
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


def _binary(node: ast.BinOp, add: Callable[[str], None]) -> None:
    left = node.left
    if left.__class__ is ast.Constant and isinstance(left.value, str):
        if node.op.__class__ is ast.Mod:
            for piece in re.split(r"%[-#0-9.]*[a-zA-Z]", left.value):
                _piece(piece, add)
        elif node.op.__class__ is ast.Add:
            _piece(left.value, add)
        return
    right = node.right
    if right.__class__ is ast.Constant and isinstance(right.value, str):
        _piece(right.value, add)
        return
    _edges(_BINARY[node.op.__class__], (left, right), add)


def _compare(node: ast.Compare, add: Callable[[str], None]) -> None:
    left = node.left
    for op, right in zip(node.ops, node.comparators, strict=True):
        _edges(_COMPARE[op.__class__], (left, right), add)
        left = right


def _edges(
    name: str, operands: "list[ast.expr] | tuple[ast.expr, ...]", add: Callable[[str], None]
) -> None:
    add(name)
    for operand in operands:
        kind = operand.__class__
        if kind is ast.Name:
            add(f"{name}>{operand.id}")
        elif kind is ast.Attribute:
            add(f"{name}>{operand.attr}")
        elif kind is ast.Constant or kind is ast.UnaryOp:
            text = _leaf(operand)
            if text:
                add(f"{name}>{text}")


def _leaf(node: ast.expr) -> str:
    """A constant as `leaf_text` writes it, "" for what is none or is too common to tell."""
    sign = ""
    if isinstance(node, ast.UnaryOp):
        if node.op.__class__ is not ast.USub or node.operand.__class__ is not ast.Constant:
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


def _pieces(values: list[ast.expr], add: Callable[[str], None]) -> None:
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            _piece(value.value, add)


def _piece(text: str, add: Callable[[str], None]) -> None:
    if len(text) >= 4 and _PIECE.search(text):
        add(f"f:{text[:_MAX_TEXT]}")
