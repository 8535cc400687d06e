"""The values that a test file writes down itself: what its inputs can be made of.

Lists with a constant or a distinctive number in them, and other expressions around a constant.
What stands in a comparison is a rule or an expectation, and left out.
"""

import ast
import re
from typing import Any

from contract_guard.facts.literals import MIN_INT, is_distinctive_int
from contract_guard.facts.model import Input
from contract_guard.mirrors.fragments import PARTS
from contract_guard.mirrors.operations import words
from contract_guard.mirrors.scopes import dotted_name

_MOST_ELEMENTS = 200
_MOST_TEXT = 120
_COUNTING = words("arange range randint integers")
_INCLUSIVE = frozenset({"random.randint", "randint", "st.integers", "strategies.integers"})
_COMPARING = words("eq ne lt le gt ge isin equal not_equal less greater")
_LEAVES = frozenset({ast.Constant, ast.arguments, ast.MatchSingleton, type(None)})
_IMPORTS = frozenset({ast.Import, ast.ImportFrom})
# Stands in a comparison for what the test knows; inputs are deeper: `is_image([PAD]) == [True]`.
_KNOWN = frozenset(
    {ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.BinOp, ast.Constant}
)
# A number, or the root of a dotted name.
_NAME = re.compile(r"(?<![\w.])\w+")
_SCOPES = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
_LISTS = (ast.List, ast.Tuple, ast.Set)
_TELLING = frozenset({*_LISTS, ast.Name, ast.Attribute, ast.Call, ast.BinOp})
_TARGETS = frozenset({ast.Name, ast.Attribute, ast.List, ast.Tuple})


def inputs(tree: ast.Module) -> list[Input]:
    """The inputs of a file, top to bottom. Its own constants are none: only what it imports."""
    walk = _Walk()
    walk.module(tree)
    found = [each for each in walk.found if _is_from_outside(each, walk.imported)]
    found.sort(key=lambda each: (each.line, each.column))
    return found


class _Walk:
    def __init__(self) -> None:
        self.found: list[Input] = []
        self.imported: set[str] = set()

    def module(self, tree: ast.Module) -> None:
        scopes: list[tuple[ast.AST, str]] = [(tree, "")]
        while scopes:
            node, qualname = scopes.pop()
            self._scope(node, qualname, scopes)

    def _scope(self, root: ast.AST, qualname: str, scopes: list[tuple[ast.AST, str]]) -> None:
        stack: list[Any] = []
        _push_parts(root, stack)
        while stack:
            node = stack.pop()
            kind = node.__class__
            if kind in _LEAVES or (kind is ast.Name and not node.id.isupper()):
                continue
            if kind is ast.Attribute and not node.attr.isupper():
                if node.ctx.__class__ is not ast.Store:
                    stack.append(node.value)
            elif kind in _TELLING:
                if kind in _TARGETS and node.ctx.__class__ is ast.Store:
                    continue
                texts = _texts(node)
                if texts:
                    self._add(node, texts, qualname)
                elif kind is not ast.Call:
                    _push_parts(node, stack)
                elif _compares(node):
                    stack += [a for a in node.args if a.__class__ not in _KNOWN]
                else:
                    _push_parts(node, stack)
            elif kind is ast.Compare:
                operands = (node.left, *node.comparators)
                stack += [each for each in operands if each.__class__ not in _KNOWN]
            elif kind in _IMPORTS:
                self.imported.update(a.asname or a.name.split(".", 1)[0] for a in node.names)
            elif kind in _SCOPES:
                scopes.append((node, f"{qualname}.{node.name}" if qualname else node.name))
            else:
                _push_parts(node, stack)

    def _add(self, node: ast.expr, texts: tuple[str, ...], qualname: str) -> None:
        self.found.append(
            Input(
                qualname,
                texts,
                isinstance(node, _LISTS),
                node.lineno,
                node.col_offset + 1,
                node.end_lineno or node.lineno,
                (node.end_col_offset or 0) + 1,
            )
        )


def _push_parts(node: ast.AST, stack: list[Any]) -> None:
    for name in PARTS[node.__class__]:
        value = getattr(node, name)
        if value.__class__ is list:
            stack += value
        else:
            stack.append(value)


def _is_from_outside(found: Input, imported: set[str]) -> bool:
    """Whether an imported name or a distinctive number is in it, or it counts far."""
    return found.texts[0].startswith("range(") or any(
        name in imported or (name.isdecimal() and is_distinctive_int(int(name)))
        for text in found.texts
        for name in _NAME.findall(text)
    )


def _compares(call: ast.Call) -> bool:
    function = call.func
    if isinstance(function, ast.Attribute):
        name = function.attr
    else:
        name = function.id if isinstance(function, ast.Name) else ""
    return name in _COMPARING or name.startswith("assert")


def _texts(node: ast.expr) -> tuple[str, ...]:
    """The texts of an expression that is an input as a whole, () for others."""
    if isinstance(node, _LISTS):
        if not any(map(_is_told, node.elts)) or not all(map(_is_plain, node.elts)):
            return ()
        return tuple(ast.unparse(item)[:_MOST_TEXT] for item in node.elts[:_MOST_ELEMENTS])
    if isinstance(node, ast.Call):
        counted = _counted(node)
        return () if counted is None else (counted,)
    if _names_constant(node) and (not isinstance(node, ast.BinOp) or _is_plain(node)):
        return (ast.unparse(node)[:_MOST_TEXT],)
    return ()


def _counted(call: ast.Call) -> str | None:
    """`range(low, high)` for a call that counts or draws from one bound to another."""
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Name):
        last = function.id
    if last not in _COUNTING:
        return None
    bounding = (*call.args, *(keyword.value for keyword in call.keywords))
    if not any(_names_constant(a) or _is_far(a) for a in bounding):
        return None
    dotted = dotted_name(function)
    bounds = {keyword.arg: keyword.value for keyword in call.keywords}
    low = bounds.get("min_value", bounds.get("low", bounds.get("start")))
    high = bounds.get("max_value", bounds.get("high", bounds.get("end")))
    given = list(call.args)
    if low is None and high is None:
        if len(given) == 1:
            high = given[0]
        elif given:
            low, high = given[:2]
    elif low is None and given:
        low = given[0]
    if high is None:
        return None
    first = ast.unparse(low) if low is not None else "0"
    end = f"{ast.unparse(high)} + 1" if dotted in _INCLUSIVE else ast.unparse(high)
    text = f"range({first}, {end})"
    return text if len(text) <= 2 * _MOST_TEXT else None


def _is_far(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value >= MIN_INT


def _is_plain(node: ast.expr) -> bool:
    """Names, numbers and arithmetic on them."""
    if isinstance(node, ast.BinOp):
        return _is_plain(node.left) and _is_plain(node.right)
    if isinstance(node, ast.UnaryOp):
        return _is_plain(node.operand)
    if isinstance(node, ast.Attribute):
        return dotted_name(node) != ""
    return isinstance(node, ast.Name | ast.Constant)


def _is_told(node: ast.expr) -> bool:
    return _names_constant(node) or (
        isinstance(node, ast.Constant)
        and type(node.value) is int
        and is_distinctive_int(node.value)
    )


def _names_constant(node: ast.expr) -> bool:
    """Whether a name in capitals stands in an expression, comparisons and calls left out."""
    if isinstance(node, ast.Name | ast.Attribute):
        last = node.id if isinstance(node, ast.Name) else node.attr
        return last.isupper() and len(last) > 2 and dotted_name(node) != ""
    if isinstance(node, ast.BinOp):
        return _names_constant(node.left) or _names_constant(node.right)
    return isinstance(node, ast.UnaryOp) and _names_constant(node.operand)
