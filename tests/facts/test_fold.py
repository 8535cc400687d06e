"""Constant folding: what Python computes, or a refusal, within bounds."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.facts.fold import NotFoldable, fold, is_foldable

VALUES: dict[str, object] = {"A": 3, "T": ("x", "y"), "Color.RED": 1, "mod.NAME": "n"}


def lookup(name: str) -> object:
    return VALUES[name]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 << 40", 1 << 40),
        ("0x10 + 1_000", 1016),
        ("-A ** 2 // 2 % 5", -(3**2) // 2 % 5),
        ("(1, 'a', [2], {3}, {'k': 4})", (1, "a", [2], {3}, {"k": 4})),
        ("T[1] + T[-2][0:1]", "yx"),
        ("{**{'a': 1}, 'b': 2}['b']", 2),
        ("[*T, 'z']", ["x", "y", "z"]),
        ("range(3)", range(3)),
        ("tuple(range(A))", (0, 1, 2)),
        ("len(T) + max(1, A) + sum([1, 2])", 8),
        ("frozenset({1}) | {2}", frozenset({1, 2})),
        ("f'{T[0]}-{A}!'", "x-3!"),
        ("'-'.join(T).upper()", "X-Y"),
        ("'a' 'b' * 2", "abab"),
        ("1 if A > 2 and not 0 else 2", 1),
        ("1 < A < 3", False),
        ("'x' in T", True),
        ("Color.RED | 4", 5),
        ("mod.NAME", "n"),
        ("sorted(T, reverse=True)", ["y", "x"]),
        ("chr(97) + str(1) + str(True)", "a1True"),
        ("int('12') + ord('a')", 109),
        ("float('inf')", float("inf")),
        ("...", ...),
        ("None", None),
        ("  \n 1 ", 1),
    ],
)
def test_values(text: str, value: object) -> None:
    folded = fold(text, lookup)
    assert folded == value
    assert type(folded) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        "10**10**10",
        "2**100000",
        "'a' * 10**9",
        "10**9 * 'a'",
        "[[0] * 9999] * 9999",
        "(('a',) * 100,) * 1000",
        "1 << 10**9",
        "range(10**9)",
        "list(range(10**100))",
        "tuple('a' * 9999) * 9999",
        "'x' * 9999 + 'y' * 9999",
        "('x' * 9000).join(['a'] * 9000)",
        "int('9' * 5000)",
        "9" * 30_000,
        "[" + "1," * 30_000 + "]",
        "sum([['a'] * 999] * 9, [])",
        "'%1000000000d' % 1",
        "f'{1:>1000000000}'",
        "bytes(10**9)",
        " + ".join(["('a' * 9999)[0:9998]"] * 50),
        "unknown",
        "A.b",
        "f(1)",
        "A()",
        "lambda: 1",
        "[x for x in T]",
        "1 / 0",
        "T[9]",
        "T['a']",
        "1 + 'a'",
        "(1).real",
        "''.__class__",
        "'a'.format(1)",
        "max(T, key=A)",
        "x = 1",
        "",
        "(",
        "\x00",
        "-" * 5000 + "1",
        "-" * 500 + "1",
        "[" * 150 + "]" * 150,
        "open('x')",
        "__import__('os')",
        "min()",
        "f'{A!r}'",
    ],
)
def test_refusals(text: str) -> None:
    with pytest.raises(NotFoldable):
        fold(text, lookup)


def test_a_name_that_hides_a_builtin_is_not_that_builtin() -> None:
    with pytest.raises(NotFoldable):
        fold("len(T)", {"T": (1,), "len": 5}.__getitem__)


def test_long_sums_fold() -> None:
    assert fold(" + ".join(["1"] * 500), lookup) == 500


NUMBERS = st.one_of(st.integers(-20, 20), st.booleans(), st.none()).map(repr)
TEXTS = st.sampled_from(["'a'", "'bc'", "''", "b'x'"])
ATOMS = st.one_of(NUMBERS, TEXTS, st.sampled_from(["A", "T"]))


def combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(["+", "-", "*", "//", "%", "|", "&", "^", "<<", ">>", "**", "/"])
    compare = st.sampled_from(["<", "==", ">=", "!=", "in", "and", "or"])
    return st.one_of(
        st.tuples(inner, binary, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, compare, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(st.sampled_from(["-", "~", "not "]), inner).map(lambda p: f"({p[0]}{p[1]})"),
        st.lists(inner, max_size=3).map(lambda p: f"[{', '.join(p)}]"),
        st.lists(inner, min_size=1, max_size=3).map(lambda p: f"({', '.join(p)},)"),
        st.tuples(inner, inner).map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})"),
        inner.map(lambda p: f"len({p})"),
        inner.map(lambda p: f"tuple({p})"),
        inner.map(lambda p: f"f'{{{p}}}'" if "'" not in p else p),
    )


@given(st.recursive(ATOMS, combined, max_leaves=8))
def test_a_folded_value_is_what_python_computes(text: str) -> None:
    """And what has no value folds to none; `**` and `*` stay within bounds."""
    try:
        folded = fold(text, lookup)
    except NotFoldable:
        return
    scope = {"A": 3, "T": ("x", "y")}
    expected = eval(compile(ast.parse(text, mode="eval"), "x", "eval"), scope)
    assert repr(folded) == repr(expected)
    assert is_foldable(ast.parse(text, mode="eval").body)
