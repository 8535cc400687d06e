"""Whether a call fits a signature: against `inspect.Signature.bind`."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.facts.extract import extract
from contract_guard.registry.signatures import (
    difference,
    misfit,
    signature_change,
    signature_text,
    takes_all,
)

HEADS = ["a", "a, b=1", "a, /, b", "*, a, b=2", "a, *rest", "a, **more", "a, b, *, c=3", ""]


def signature_of(head: str):
    (binding,) = extract(f"def f({head}): ...\n".encode()).bindings
    assert binding.signature is not None
    return binding.signature


@given(st.sampled_from(HEADS), st.integers(0, 4), st.sets(st.sampled_from("abcd")))
def test_as_python_binds(head: str, positional: int, keywords: set[str]) -> None:
    python = inspect.signature(eval(f"lambda {head}: 0"))
    try:
        python.bind(*range(positional), **dict.fromkeys(keywords))
        fits = True
    except TypeError:
        fits = False
    assert (misfit(signature_of(head), positional, keywords, bound=False) is None) is fits


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("a", "a", None),
        ("a, b=1", "a, b=2", "default-changed"),
        ("a, b=1", "a, b", "signature-changed"),
        ("a", "b", "signature-changed"),
    ],
)
def test_change(old: str, new: str, change: str | None) -> None:
    assert signature_change(signature_of(old), signature_of(new)) == change


MORE_HEADS = [
    *HEADS,
    "a, b=1, c=2",
    "a, c=2, *, b=1",
    "b, a",
    "a, b=1, /",
    "a, /, *, b=3",
    "*, b=1",
]


@given(
    st.sampled_from(MORE_HEADS),
    st.sampled_from(MORE_HEADS),
    st.integers(0, 4),
    st.sets(st.sampled_from("abcd")),
)
def test_what_takes_all_takes_each(old: str, new: str, positional: int, keywords: set[str]) -> None:
    before, after = signature_of(old), signature_of(new)
    fits = misfit(before, positional, keywords, bound=False) is None
    if takes_all(after, before) and fits:
        assert misfit(after, positional, keywords, bound=False) is None


@pytest.mark.parametrize("head", MORE_HEADS)
def test_a_signature_takes_its_own_calls_and_reads_as_written(head: str) -> None:
    assert takes_all(signature_of(head), signature_of(head))
    assert signature_text(signature_of(head)) == f"({head})"


@pytest.mark.parametrize(
    ("old", "new"), [("a", "a, b=1"), ("a, b=1", "a, b=2, *, c=3"), ("a, *, b=1", "a, b=1")]
)
def test_a_wider_signature(old: str, new: str) -> None:
    assert takes_all(signature_of(new), signature_of(old))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("a, b=1", "a, c", "- b=1, + c"),
        ("a, b=1", "a, *, b=1", "+ *"),
        ("a, b", "b, a", "(a, b) -> (b, a)"),
    ],
)
def test_difference(old: str, new: str, said: str) -> None:
    assert difference(signature_of(old), signature_of(new)) == said
