"""`normalise` and `cut`: what takes part in a finding's identity."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.detectors.statement import cut, decode, normalise
from contract_guard.facts.model import Span


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a, b)", "f(a,b)  # why"),
        ("f(\n    a,  # first\n    b,\n)", "f(a, b,)"),
        ("with patch('x') as p:", "with   patch('x')   as p :"),
        ("x = f'{a  +  b}!'", "x=f'{a  +  b}!'"),
        ("if a and \\\n   b:", "if a and b:"),
    ],
)
def test_comments_and_layout_do_not_count(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("f(a)", "f(b)"),
        ("x = 'a  b'", "x = 'a b'"),
        ("x = f'{a  + b}'", "x = f'{a + b}'"),
        ("x = '# contract'", "x = ''"),
    ],
)
def test_what_is_said_counts(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)


def test_an_f_string_is_one_token_on_every_version() -> None:
    assert normalise("g(f'{a!r:>{w}} and {f\"{b}\"}', 1)") == (
        "g ( f'{a!r:>{w}} and {f\"{b}\"}' , 1 )"
    )


def test_a_piece_that_is_no_python_keeps_its_text() -> None:
    assert normalise("f(a,\n   'b") == "f(a, 'b"


names = st.from_regex(r"[a-z]{1,6}", fullmatch=True).filter(
    lambda name: not keyword.iskeyword(name)
)


@given(st.lists(names, min_size=1, max_size=6), st.data())
def test_layout_never_changes_the_result(arguments: list[str], data: st.DataObject) -> None:
    space = st.sampled_from(["", " ", "\n", "  # note\n", "\n\n    "])
    spread = ",".join(data.draw(space) + argument + data.draw(space) for argument in arguments)
    assert normalise(f"call({spread})") == normalise(f"call({','.join(arguments)})")


def test_cut_counts_code_points_from_one() -> None:
    text = "é = 'ü'; name = 1\nsecond"
    assert cut(text, Span(1, 10, 1, 14)) == "name"
    assert cut(text, Span(1, 10, 2, 4)) == "name = 1\nsec"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (b"\xef\xbb\xbfa = 1\r\nb = 2\r", "a = 1\nb = 2\n"),
        (b"# coding: latin-1\nx = '\xe9'\n", "# coding: latin-1\nx = 'é'\n"),
    ],
)
def test_decode(source: bytes, text: str) -> None:
    assert decode(source) == text
