"""Operators and functions of constant folding, each refusing a result out of bounds."""

import ast
import operator
from collections.abc import Callable, Iterable
from typing import Any, cast

MAX_BITS = 4096  # of an int
MAX_ITEMS = 10_000  # of a text, or of a container with all that is nested in it


class NotFoldable(Exception):
    """The expression has no value that can be told within bounds; the message says why."""


_CONTAINERS = (tuple, list, set, frozenset, dict)


def weight(value: object) -> int:
    """Items of a value with all that is nested in it; counting ends a little above the limit."""
    total = 0
    stack: list[Any] = [value]
    while stack and total <= MAX_ITEMS:
        item = stack.pop()
        total += 1
        if isinstance(item, _CONTAINERS):
            items = cast("Any", item)
            if len(items) > MAX_ITEMS:
                return MAX_ITEMS + 1
            stack.extend(items)
            if isinstance(item, dict):
                stack.extend(cast("dict[object, object]", item).values())
        elif isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, int):
            if item.bit_length() > MAX_BITS:
                raise NotFoldable("the number is too large")
        elif isinstance(item, range):
            total += _range_length(item)
    return total


def _range_length(value: range) -> int:
    try:
        return len(value)
    except OverflowError:
        return MAX_ITEMS + 1


def _multiply(left: Any, right: Any) -> object:
    for sequence, count in ((left, right), (right, left)):
        if (
            isinstance(sequence, str | bytes | tuple | list)
            and isinstance(count, int)
            and len(cast("list[object]", sequence)) * max(count, 0) > MAX_ITEMS
        ):
            raise NotFoldable("the value is too large")
    return left * right


def _power(left: Any, right: Any) -> object:
    if isinstance(left, int) and isinstance(right, int) and abs(left) > 1:
        if abs(right) * left.bit_length() > MAX_BITS:
            raise NotFoldable("the number is too large")
    elif not isinstance(left, int | float) or not isinstance(right, int | float):
        raise NotFoldable("power of other than numbers")
    return left**right


def _shift_left(left: Any, right: Any) -> object:
    if not isinstance(left, int) or not isinstance(right, int):
        raise NotFoldable("shift of other than ints")
    if right > MAX_BITS:
        raise NotFoldable("the number is too large")
    return left << right


def _modulo(left: Any, right: Any) -> object:
    if isinstance(left, str | bytes):
        raise NotFoldable("% formatting")
    return left % right


BINARY: dict[type[ast.operator], Callable[[Any, Any], object]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _multiply,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: left // right,
    ast.Mod: _modulo,
    ast.Pow: _power,
    ast.LShift: _shift_left,
    ast.RShift: lambda left, right: left >> right,
    ast.BitOr: lambda left, right: left | right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitXor: lambda left, right: left ^ right,
}
UNARY: dict[type[ast.unaryop], Callable[[Any], object]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}


def _range(*arguments: Any) -> range:
    made = range(*arguments)
    if _range_length(made) > MAX_ITEMS:
        raise NotFoldable("the range is too long")
    return made


def _sum(items: Iterable[Any], start: Any = 0) -> object:
    total = start
    for item in items:
        if not isinstance(item, int | float):
            raise NotFoldable("sum of other than numbers")
        total = total + item
    return total


def _int(*arguments: Any) -> int:
    if arguments and isinstance(arguments[0], str | bytes) and len(arguments[0]) > 1000:
        raise NotFoldable("the number is too large")
    return int(*arguments)


def text_of(value: object = "") -> str:
    if not isinstance(value, str | int | float) or (
        isinstance(value, int) and value.bit_length() > MAX_BITS
    ):
        raise NotFoldable("str() of other than a number or a text")
    return str(value)


def _bytes(value: object = b"") -> bytes:
    if isinstance(value, int | str):
        raise NotFoldable("bytes() of a number or a text")
    return bytes(cast("Any", value))


FUNCTIONS: dict[str, Callable[..., object]] = {
    "range": _range,
    "len": len,
    "min": min,
    "max": max,
    "abs": abs,
    "sum": _sum,
    "int": _int,
    "float": float,
    "bool": bool,
    "str": text_of,
    "bytes": _bytes,
    "tuple": tuple,
    "list": list,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "sorted": sorted,
    "ord": ord,
    "chr": chr,
}
