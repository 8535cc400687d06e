"""Which assertions compare with an expected value, and what they look at.

A bound, the parts of one result, a number of another program: comparing with these is no copy.
"""

import re
from typing import NamedTuple

from contract_guard.mirrors.graph import OBJECT, Graph
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.trace import Expectation


def is_expected(expectation: Expectation, graph: Graph, *, calls_production: bool) -> bool:
    """True where the expected side may be computed as production computes the actual one."""
    return (
        not (calls_production and _is_bound(expectation))
        and not _is_production_data(expectation.value, graph)
        and not _is_same_view(expectation, graph)
        and not _is_of_one_result(expectation, graph)
        and not _is_relation(expectation, graph)
        and not _is_from_elsewhere(expectation, graph)
    )


def _is_bound(expectation: Expectation) -> bool:
    """True for what only has to be larger or smaller: a bound is no expected value."""
    form = expectation.form
    return form.endswith(("<", "<=", ">", ">=")) or form.startswith(("assertLess", "assertGreater"))


def _is_of_one_result(expectation: Expectation, graph: Graph) -> bool:
    """True where the actual side is a part of what one call returned, and the expected side is
    computed from another: `sizes, total = count(x)`, then `sizes.sum() == total`."""
    actual, value = expectation.actual, expectation.value
    result = _part_of(actual, graph) if isinstance(actual, int) else None
    if result is None or not isinstance(value, int):
        return False
    stack: list[Reference] = [value]
    seen: set[Reference] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, int) and value not in seen and value not in graph.produced:
            seen.add(value)
            if _part_of(value, graph) == result:
                return True
            op = graph.ops[value]
            stack += [*op.arguments, *(v for _, v in op.keywords)]
    return False


def _part_of(value: int, graph: Graph) -> int | None:
    """The call of production that returned the tuple of which a value is a part."""
    op = graph.ops[value]
    base = op.arguments[0] if op.name == "getitem" else None
    if isinstance(base, int) and base in graph.produced:
        return base if isinstance(graph.constant(op.arguments[1]), int) else None
    return None


def _is_relation(expectation: Expectation, graph: Graph) -> bool:
    """True for a property that relates results of one function: `d.log_prob(x) - c` beside
    `e.log_prob(y)`, `p * a.trace + q * b.trace` beside `merged.trace`."""
    if expectation.actual is None:
        return False
    theirs = _results(expectation.actual, graph)
    names = {result.name for result in theirs}
    same = [
        result
        for result in _results(expectation.value, graph)
        if result.name in names and result.value not in {other.value for other in theirs}
    ]
    return any(result.is_call for result in same) or len(same) > 1


class _Result(NamedTuple):
    """What production gave: the name of the function or field, the value, whether it was called."""

    name: str
    value: Reference
    is_call: bool


def _results(root: Reference, graph: Graph) -> list[_Result]:
    """What a value takes from production, each time that it does."""
    found: list[_Result] = []
    stack: list[Reference] = [root]
    seen: set[Reference] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            base, _, name = value.rpartition(".")
            if base in graph.objects:
                found.append(_Result(name, value, False))
        if not isinstance(value, int):
            continue
        op = graph.ops[value]
        key = op.arguments[1] if op.name == "getattr" and len(op.arguments) == 2 else None
        if value in graph.produced:
            is_call = bool(op.arguments or op.keywords)
            found.append(_Result(op.name.rsplit(".", 1)[-1], value, is_call))
        elif isinstance(key, Const) and graph.rank(op.arguments[0]) >= OBJECT:
            found.append(_Result(str(key.value), value, False))
        elif value not in seen:
            seen.add(value)
            stack += [*op.arguments, *(v for _, v in op.keywords)]
    return found


_PROGRAM = re.compile(r"_(r|stata|sas|matlab|julia|eviews|octave)$", re.IGNORECASE)


def _is_from_elsewhere(expectation: Expectation, graph: Graph) -> bool:
    """True where a side is a number of another program, by its name, at most shifted and scaled:
    `loglik_R + const`."""
    sides = (expectation.value, expectation.actual)
    return any(side is not None and _is_scaled_result(side, graph) for side in sides)


def _is_scaled_result(value: Reference, graph: Graph) -> bool:
    if isinstance(value, str):
        return any(_PROGRAM.search(part) for part in value.split("."))
    if isinstance(value, Const):
        return value.symbol is not None and _PROGRAM.search(value.symbol) is not None
    op = graph.ops[value]
    if op.name in ("getitem", "getattr"):
        key = op.arguments[1] if len(op.arguments) > 1 else None
        text = key.value if isinstance(key, Const) else None
        told = isinstance(text, str) and _PROGRAM.search(text) is not None
        return told or _is_scaled_result(next(iter(op.arguments)), graph)
    if op.name in ("add", "sub", "mul", "div"):
        return any(_is_scaled_result(argument, graph) for argument in op.arguments)
    return False


def _is_same_view(expectation: Expectation, graph: Graph) -> bool:
    """True where both sides do the same to something: `abs(a).sum() == abs(b).sum()` compares a
    with b, whatever is done to them."""
    actual = expectation.actual
    if not isinstance(expectation.value, int) or not isinstance(actual, int):
        return False
    mine, other = _done_to(expectation.value, graph), _done_to(actual, graph)
    return bool(mine) and mine == other


def _done_to(root: int, graph: Graph) -> list[str]:
    """The operations that a test applies to what production gave, sorted; empty where production
    gave nothing."""
    found: list[str] = []
    stack: list[Reference] = [root]
    seen: set[Reference] = set()
    from_production = False
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if isinstance(value, int) and value not in graph.produced:
            op = graph.ops[value]
            found.append(op.name)
            stack += [*op.arguments, *(v for _, v in op.keywords)]
        elif not isinstance(value, Const):
            from_production = from_production or graph.rank(value) >= OBJECT
    return sorted(found) if from_production else []


def form_of(expectation: Expectation, graph: Graph) -> str:
    """The form of an assertion, and whether it looks at a shape or the text of an error alone:
    `assert == shape`, `assert == message`."""
    actual = expectation.actual
    while isinstance(actual, int) and graph.ops[actual].name == "getitem":
        actual = graph.ops[actual].arguments[0]
    op = graph.ops[actual] if isinstance(actual, int) else None
    of_shape = op is not None and (
        op.name in ("size", "stride") or (op.name == "getattr" and op.arguments[1:] == _SHAPE)
    )
    if of_shape:
        return f"{expectation.form} shape"
    of_message = op is not None and (
        op.name == "builtins.str" or (op.name == "getattr" and op.arguments[1] in _MESSAGE)
    )
    return f"{expectation.form} message" if of_message else expectation.form


_SHAPE = (Const("shape"),)
_MESSAGE = (Const("msg"), Const("message"), Const("args"))


def _is_production_data(root: Reference, graph: Graph) -> bool:
    """True for values that only join objects and constants of production (`2 * x + sin(y)` in a
    package of symbols): production's own operators compute them, so they are written out. What is
    read from a field of a result is plain data: the test computes with it."""
    stack: list[Reference] = [root]
    seen: set[int] = set()
    found = False
    while stack:
        value = stack.pop()
        if isinstance(value, str):
            if value not in graph.objects:
                return False
            found = True
        elif isinstance(value, Const):
            if value.symbol and value.value is not UNRESOLVED:
                return False
            found = found or value.value is UNRESOLVED
        elif value not in seen:
            seen.add(value)
            op = graph.ops[value]
            if value in graph.produced:
                found = True
            elif op.name in ("getattr", "getitem") and graph.rank(op.arguments[0]) >= OBJECT:
                return False
            elif op.arguments or op.keywords:
                stack += [*op.arguments, *(v for _, v in op.keywords)]
            else:
                return False
    return found
