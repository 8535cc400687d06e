"""Bounded constant folding: the value of an expression without running any code of it."""

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeGuard, cast

from contract_guard.facts.fold_operations import (
    BINARY,
    COMPARE,
    FUNCTIONS,
    MAX_ITEMS,
    UNARY,
    NotFoldable,
    text_of,
    weight,
)

__all__ = [
    "Lookup",
    "NotFoldable",
    "fold",
    "fold_node",
    "is_foldable",
    "is_text",
    "names_in",
    "no_names",
]

MAX_SOURCE = 20_000  # characters of an expression
MAX_WORK = 200_000  # nodes read and items made for one value
_MAX_DEPTH = 60

Lookup = Callable[[str], object]
"""The value of a dotted name (`A`, `Color.RED`, `mod.A`); raises `NotFoldable` or `KeyError`."""


def fold(text: str, lookup: Lookup) -> object:
    """The value of an expression in source text.

    Values are None, bool, int, float, complex, str, bytes, tuple, list, set, frozenset, dict and
    range of such, or whatever `lookup` gives for a name. Raises `NotFoldable`.
    """
    if len(text) > MAX_SOURCE:
        raise NotFoldable("the expression is too long")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotFoldable("no expression") from error
    return fold_node(node, lookup)


def fold_node(node: ast.expr, lookup: Lookup) -> object:
    """As `fold`, for a parsed expression."""
    try:
        return _Folder(lookup).value(node)
    except RecursionError as error:
        raise NotFoldable("the expression is too deep") from error


def no_names(name: str) -> object:
    """A `Lookup` that knows no name."""
    raise NotFoldable(f"{name} is not known")


def is_text(value: object) -> TypeGuard[str]:
    """A text that can be written as UTF-8: escapes such as `"\\ud800"` make others."""
    if not isinstance(value, str):
        return False
    if value.isascii():
        return True
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def names_in(value: object) -> list[str] | None:
    """The texts in a folded container (the keys of a dict), None if it is no container.

    Sets have no order of their own, so their texts are sorted.
    """
    if isinstance(value, tuple | list | dict):
        items = cast("Iterable[object]", value)
        return [item for item in items if is_text(item)]
    if isinstance(value, set | frozenset):
        items = cast("Iterable[object]", value)
        return sorted(item for item in items if is_text(item))
    return None


def is_foldable(node: ast.expr) -> bool:
    """Whether an expression is in the grammar that `fold` evaluates, if its names have values."""
    stack: list[ast.expr] = [node]
    budget = 500
    while stack:
        budget -= 1
        if budget < 0:
            return False
        part = stack.pop()
        if isinstance(part, ast.Constant | ast.Name):
            continue
        if isinstance(part, ast.Attribute):
            inner: ast.expr = part
            while isinstance(inner, ast.Attribute):
                inner = inner.value
            if not isinstance(inner, ast.Name):
                return False
            continue
        if isinstance(part, ast.Call):
            if not (
                (isinstance(part.func, ast.Name) and part.func.id in FUNCTIONS)
                or (isinstance(part.func, ast.Attribute) and part.func.attr in _METHODS)
            ):
                return False
            if isinstance(part.func, ast.Attribute):
                stack.append(part.func.value)
            stack.extend(part.args)
            stack.extend(keyword.value for keyword in part.keywords)
            continue
        if not isinstance(part, _FOLDED):
            return False
        stack.extend(c for c in ast.iter_child_nodes(part) if isinstance(c, ast.expr))
    return True


_FOLDED = (
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.JoinedStr,
    ast.FormattedValue,
)


_SUBSCRIPTED = (str, bytes, tuple, list, dict, range)
_METHODS = frozenset({"join", "lower", "upper", "strip", "split", "removeprefix", "removesuffix"})


class _Folder:
    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self._budget = MAX_WORK
        self._depth = 0

    def value(self, node: ast.expr) -> object:
        self._budget -= 1
        self._depth += 1
        if self._budget < 0 or self._depth > _MAX_DEPTH:
            raise NotFoldable("the expression is too large")
        try:
            return self._charged(self._value(node))
        except (ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
            raise NotFoldable(str(error) or type(error).__name__) from error
        finally:
            self._depth -= 1

    def _charged(self, value: object) -> object:
        cost = weight(value)
        if cost > MAX_ITEMS:
            raise NotFoldable("the value is too large")
        self._budget -= cost
        return value

    def _value(self, node: ast.expr) -> object:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._name(node)
            case ast.BinOp(op=op):
                return self._binary(node)
            case ast.UnaryOp(op=op, operand=operand):
                return UNARY[type(op)](self.value(operand))
            case ast.BoolOp(op=op, values=values):
                result: object = None
                for part in values:
                    result = self.value(part)
                    if bool(result) is isinstance(op, ast.Or):
                        break
                return result
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.value(body if self.value(test) else orelse)
            case ast.Tuple(elts=items):
                return tuple(self._items(items))
            case ast.List(elts=items):
                return list(self._items(items))
            case ast.Set(elts=items):
                return set(self._items(items))
            case ast.Dict():
                return self._dict(node)
            case ast.Subscript(value=value, slice=index):
                return self._subscript(value, index)
            case ast.JoinedStr(values=values):
                return self._joined(values)
            case ast.Call():
                return self._call(node)
            case _:
                raise NotFoldable(f"{type(node).__name__} is not folded")

    def _name(self, node: ast.expr) -> object:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            raise NotFoldable("attribute of an expression")
        name = ".".join((node.id, *reversed(parts)))
        return self._lookup(name)

    def _binary(self, node: ast.BinOp) -> object:
        """Left operands nest deeply in long sums, so they are a loop."""
        rest: list[ast.BinOp] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp):
            rest.append(left)
            left = left.left
        result = self.value(left)
        for part in reversed(rest):
            result = self._charged(BINARY[type(part.op)](result, self.value(part.right)))
            if self._budget < 0:
                raise NotFoldable("the expression is too large")
        return result

    def _compare(self, node: ast.Compare) -> bool:
        left = self.value(node.left)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            right = self.value(comparator)
            if not COMPARE[type(op)](left, right):
                return False
            left = right
        return True

    def _items(self, nodes: list[ast.expr]) -> Iterator[object]:
        if len(nodes) > MAX_ITEMS:
            raise NotFoldable("the value is too large")
        count = 0
        for node in nodes:
            if isinstance(node, ast.Starred):
                for item in cast("Iterable[object]", self.value(node.value)):
                    count += 1
                    if count > MAX_ITEMS:
                        raise NotFoldable("the value is too large")
                    yield item
            else:
                yield self.value(node)

    def _dict(self, node: ast.Dict) -> dict[object, object]:
        result: dict[object, object] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                result.update(cast("dict[object, object]", self.value(value)))
            else:
                result[self.value(key)] = self.value(value)
        return result

    def _subscript(self, value: ast.expr, index: ast.expr) -> object:
        container: Any = self.value(value)
        if not isinstance(container, _SUBSCRIPTED):
            raise NotFoldable("subscript of other than a container")
        key: Any
        if isinstance(index, ast.Slice):
            parts = (index.lower, index.upper, index.step)
            key = slice(*[None if part is None else self.value(part) for part in parts])
        else:
            key = self.value(index)
        return cast("Any", container)[key]

    def _joined(self, values: list[ast.expr]) -> str:
        parts: list[str] = []
        for part in values:
            if isinstance(part, ast.FormattedValue):
                if part.format_spec is not None or part.conversion not in (-1, 115):
                    raise NotFoldable("formatted value")
                parts.append(text_of(self.value(part.value)))
            else:
                parts.append(text_of(self.value(part)))
        return "".join(parts)

    def _call(self, node: ast.Call) -> object:
        arguments = list(self._items(node.args))
        if any(keyword.arg is None for keyword in node.keywords):
            raise NotFoldable("** argument")
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        function = node.func
        if isinstance(function, ast.Name) and function.id in FUNCTIONS:
            if self._is_shadowed(function.id) or keywords.keys() & {"key", "default"}:
                raise NotFoldable(f"{function.id} is not the builtin")
            return FUNCTIONS[function.id](*arguments, **keywords)
        if isinstance(function, ast.Attribute) and function.attr in _METHODS and not keywords:
            text = self.value(function.value)
            if isinstance(text, str) and (
                function.attr != "join" or _is_small_join(text, arguments)
            ):
                return getattr(text, function.attr)(*arguments)
        raise NotFoldable("call")

    def _is_shadowed(self, name: str) -> bool:
        try:
            self._lookup(name)
        except (NotFoldable, LookupError):
            return False
        return True


def _is_small_join(separator: str, arguments: list[object]) -> bool:
    if len(arguments) != 1 or not isinstance(arguments[0], tuple | list):
        return False
    items = cast("list[object]", arguments[0])
    return (
        all(isinstance(item, str) for item in items)
        and sum(len(cast("str", item)) + len(separator) for item in items) <= MAX_ITEMS
    )
