"""The integers that a predicate accepts: against Python's own answers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.facts.extract import extract
from contract_guard.facts.fold import fold, no_names
from contract_guard.registry.value_sets import literal, value_set

NAMES = {"A": 3, "B": 7, "MANY": (1, 4, 9)}


def lookup(text: str) -> object:
    return fold(text, lambda name: NAMES[name] if name in NAMES else no_names(name))


def accepted(condition: str):
    source = f"A = 3\nB = 7\nMANY = (1, 4, 9)\ndef f(x):\n    return {condition}\n"
    (predicate,) = extract(source.encode()).predicates
    return value_set(predicate, lookup)


comparisons = st.builds(
    lambda left, op, right: f"({left} {op} {right})",
    st.just("x"),
    st.sampled_from(["==", "!=", "<", "<=", ">", ">="]),
    st.sampled_from(["A", "B", "A + 1", "B - 2"]),
) | st.sampled_from(["(x in MANY)", "(x not in MANY)", "(A <= x)", "(B > x)"])
conditions = st.recursive(
    comparisons,
    lambda inner: st.builds(
        lambda a, op, b: f"({a} {op} {b})", inner, st.sampled_from("&|"), inner
    ),
    max_leaves=4,
)


@given(conditions)
def test_as_python_evaluates_it(condition: str) -> None:
    ranges = accepted(condition)
    for x in range(-2, 13):
        expected = bool(eval(condition, dict(NAMES), {"x": x}))
        assert any(low <= x < high for low, high in ranges) is expected


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("x == A", "{3}"),
        ("(x == A) | (x == B)", "{3, 7}"),
        ("(x >= A) & (x < A + 90)", "range(3, 93)"),
        ("x >= A", "from 3"),
        ("x < A", "below 3"),
        ("(x < A) & (x > B)", "set()"),
    ],
)
def test_as_text(condition: str, text: str) -> None:
    assert literal(accepted(condition)) == text
