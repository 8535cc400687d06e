"""The values that a test file writes down itself: what its inputs can be made of.

Lists with a constant or a distinctive number in them, and other expressions around a constant.
What stands in a comparison is a rule or an expectation, and left out.
"""

import ast
import re

from contract_guard.facts.literals import MIN_INT, is_distinctive_int
from contract_guard.facts.model import Input
from contract_guard.mirrors.operations import words
from contract_guard.mirrors.scopes import dotted_name

_MOST_ELEMENTS = 200
_MOST_TEXT = 120
_COUNTING = words("arange range randint integers")
_INCLUSIVE = frozenset({"random.randint", "randint", "st.integers", "strategies.integers"})
_COMPARING = words("eq ne lt le gt ge isin equal not_equal less greater")
_LEAVES = frozenset({ast.Constant, ast.Load, ast.Store, ast.Del, ast.arguments, ast.alias})
_IMPORTS = frozenset({ast.Import, ast.ImportFrom})
# Stands in a comparison for what the test knows; inputs are deeper: `is_image([PAD]) == [True]`.
_KNOWN = (ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Name, ast.Attribute, ast.BinOp, ast.Constant)
# A number, or the root of a dotted name.
_NAME = re.compile(r"(?<![\w.])\w+")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_TELLING = (ast.Name, ast.Attribute, ast.List, ast.Tuple, ast.Set, ast.Call, ast.BinOp)


def inputs(tree: ast.Module) -> list[Input]:
    """The inputs of a file, top to bottom. Its own constants are none: only what it imports."""
    found: list[Input] = []
    imported: set[str] = set()
    stack: list[tuple[ast.AST, str]] = [(tree, "")]
    while stack:
        node, qualname = stack.pop()
        if isinstance(node, _SCOPES):
            qualname = f"{qualname}.{node.name}" if qualname else node.name
        elif isinstance(node, _TELLING):
            if isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            if isinstance(node, ast.Name) and not node.id.isupper():
                continue
            here = _input(node, qualname)
            if here is not None:
                found.append(here)
                continue
            if isinstance(node, ast.Call) and _compares(node):
                stack += [(a, qualname) for a in node.args if not isinstance(a, _KNOWN)]
                continue
        elif isinstance(node, ast.Compare):
            operands = (node.left, *node.comparators)
            stack += [(each, qualname) for each in operands if not isinstance(each, _KNOWN)]
            continue
        for field in node._fields:
            value = getattr(node, field)
            if value.__class__ is list:
                for child in value:
                    if child.__class__ in _IMPORTS:
                        imported.update(a.asname or a.name.split(".", 1)[0] for a in child.names)
                    elif isinstance(child, ast.AST):
                        stack.append((child, qualname))
            elif value.__class__ not in _LEAVES and isinstance(value, ast.AST):
                stack.append((value, qualname))
    found = [each for each in found if _is_from_outside(each, imported)]
    found.sort(key=lambda each: (each.line, each.column))
    return found


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


def _input(node: ast.expr, qualname: str) -> Input | None:
    """The fact of an expression that is an input as a whole, None for others."""
    is_list = isinstance(node, ast.List | ast.Tuple | ast.Set)
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        if not all(_is_plain(item) for item in node.elts) or not any(map(_is_told, node.elts)):
            return None
        texts = tuple(ast.unparse(item)[:_MOST_TEXT] for item in node.elts[:_MOST_ELEMENTS])
    elif isinstance(node, ast.Call):
        counted = _counted(node)
        if counted is None:
            return None
        texts = (counted,)
    elif isinstance(node, ast.BinOp | ast.Name | ast.Attribute) and _names_constant(node):
        if isinstance(node, ast.BinOp) and not _is_plain(node):
            return None
        texts = (ast.unparse(node)[:_MOST_TEXT],)
    else:
        return None
    return Input(
        qualname,
        texts,
        is_list,
        node.lineno,
        node.col_offset + 1,
        node.end_lineno or node.lineno,
        (node.end_col_offset or 0) + 1,
    )


def _counted(call: ast.Call) -> str | None:
    """`range(low, high)` for a call that counts or draws from one bound to another."""
    function = call.func
    last = function.attr if isinstance(function, ast.Attribute) else ""
    if isinstance(function, ast.Name):
        last = function.id
    bounding = (*call.args, *(keyword.value for keyword in call.keywords))
    if last not in _COUNTING or not any(_names_constant(a) or _is_far(a) for a in bounding):
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
