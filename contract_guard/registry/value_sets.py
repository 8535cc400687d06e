"""The set of integers that a predicate accepts, as disjoint ranges in ascending order."""

import math
from collections.abc import Callable, Collection, Iterable
from typing import cast

from contract_guard.facts.fold import NotFoldable
from contract_guard.facts.model import Predicate

Ranges = tuple[tuple[float, float], ...]
"""Half-open ranges [low, high) of integers, disjoint, not adjacent, ascending. Bounds are ints,
or -inf and inf."""

ALL: Ranges = ((-math.inf, math.inf),)
_MOST_LISTED = 16
_MOST_VALUES = 10_000


def value_set(predicate: Predicate, evaluate: Callable[[str], object]) -> Ranges:
    """The integers for which `predicate` holds of its subject.

    `evaluate` gives the value of an operand's source text. Raises NotFoldable where the parts
    test different subjects, or an operand is no integer or collection of them.
    """
    if predicate.subject is None:
        raise NotFoldable("the parts test different subjects")
    match predicate.op:
        case "and" | "or":
            sets = [value_set(part, evaluate) for part in _parts(predicate)]
            result = sets[0]
            for other in sets[1:]:
                result = (
                    _union((*result, *other))
                    if predicate.op == "or"
                    else _complement(_union((*_complement(result), *_complement(other))))
                )
            return result
        case "not":
            return _complement(value_set(_parts(predicate)[0], evaluate))
        case _:
            return _comparison(predicate, evaluate)


def is_finite(ranges: Ranges) -> bool:
    return all(-math.inf < low and high < math.inf for low, high in ranges)


def overlap(one: Ranges, other: Ranges) -> bool:
    return any(low < top and bottom < high for low, high in one for bottom, top in other)


def literal(ranges: Ranges) -> str:
    """As Python text where there is one: `{1, 5}`, `range(3, 90)`; else as inequalities."""
    if not ranges:
        return "set()"
    size = sum(high - low for low, high in ranges)
    if size <= _MOST_LISTED:
        values = [str(n) for low, high in ranges for n in range(int(low), int(high))]
        return "{" + ", ".join(values) + "}"
    return " | ".join(_range_text(low, high) for low, high in ranges)


def _range_text(low: float, high: float) -> str:
    if low == -math.inf:
        return "any integer" if high == math.inf else f"below {int(high)}"
    return f"from {int(low)}" if high == math.inf else f"range({int(low)}, {int(high)})"


def _parts(predicate: Predicate) -> list[Predicate]:
    parts = [part for part in predicate.operands if isinstance(part, Predicate)]
    if not parts or len(parts) < len(predicate.operands):
        raise NotFoldable("a part is no predicate")
    return parts


def _comparison(predicate: Predicate, evaluate: Callable[[str], object]) -> Ranges:
    left, right = predicate.operands
    if isinstance(left, Predicate) or isinstance(right, Predicate):
        raise NotFoldable("a comparison of comparisons")
    is_swapped = left != predicate.subject
    if is_swapped and right != predicate.subject:
        raise NotFoldable("neither side is the subject")
    value = evaluate(left if is_swapped else right)
    match predicate.op:
        case "in" | "isin" if not is_swapped:
            return _union((n, n + 1) for n in map(_integer, _items(value)))
        case "not in" if not is_swapped:
            return _complement(_union((n, n + 1) for n in map(_integer, _items(value))))
        case "==":
            return ((_integer(value), _integer(value) + 1),)
        case "!=":
            return _complement(((_integer(value), _integer(value) + 1),))
        case "<":
            bound = _integer(value)
            return ((bound + 1, math.inf),) if is_swapped else ((-math.inf, bound),)
        case "<=":
            bound = _integer(value)
            return ((bound, math.inf),) if is_swapped else ((-math.inf, bound + 1),)
        case _:
            raise NotFoldable(f"{predicate.op} of the subject itself")


def _integer(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise NotFoldable("not an integer")
    return value


def _items(value: object) -> Collection[object]:
    if not isinstance(value, list | tuple | set | frozenset | dict | range):
        raise NotFoldable("not a collection")
    items = cast("Collection[object]", value)
    if len(items) > _MOST_VALUES:
        raise NotFoldable("too many values")
    return items


def _union(ranges: Iterable[tuple[float, float]]) -> Ranges:
    merged: list[tuple[float, float]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        elif low < high:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Ranges) -> Ranges:
    result: list[tuple[float, float]] = []
    start = -math.inf
    for low, high in ranges:
        if start < low:
            result.append((start, low))
        start = high
    if start < math.inf:
        result.append((start, math.inf))
    return tuple(result)
