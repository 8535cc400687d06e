"""Bytes that are, and are not, Python source."""

import sys
import warnings

import pytest

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts, Span, Unreadable
from contract_guard.facts.reader import MAX_BYTES


def unreadable(source: bytes) -> Unreadable:
    facts = extract(source)
    assert isinstance(facts, Unreadable)
    return facts


def readable(source: bytes) -> ModuleFacts:
    facts = extract(source)
    assert isinstance(facts, ModuleFacts)
    return facts


@pytest.mark.parametrize(
    "source",
    [
        "x = 'é'".encode(),
        b"\xef\xbb\xbfx = '\xc3\xa9'",
        b"# -*- coding: latin-1 -*-\nx = '\xe9'",
        b"#!/usr/bin/env python\n# vim: set fileencoding=cp1252 :\nx = '\xe9'",
        b"# coding: utf-8\r\nx = '\xc3\xa9'\r\n",
    ],
)
def test_encodings_that_python_accepts(source: bytes) -> None:
    (binding,) = readable(source).bindings
    assert binding.value == "'é'"


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [
        (b"x = 1\ny = '\xe9'\n", 2, 6),
        (b"# coding: no-such-codec\n", 1, 1),
        (b"\xef\xbb\xbf# coding: latin-1\n", 1, 1),
        (b"# coding: ascii\nx = '\xc3\xa9'\n", 2, 6),
        (b"# coding: punycode\nx = 1\n", 1, 1),
        (b"# coding: zlib\nx = 1\n", 1, 1),
    ],
)
def test_encodings_that_are_wrong(source: bytes, line: int, column: int) -> None:
    found = unreadable(source)
    assert (found.reason, found.line, found.column) == ("encoding", line, column)


def test_a_coding_line_counts_only_in_the_first_two_lines() -> None:
    assert unreadable(b"\n\n# coding: latin-1\nx = '\xe9'\n").reason == "encoding"
    assert unreadable(b"import x\n# coding: latin-1\nx = '\xe9'\n").reason == "encoding"


def test_nul_bytes_have_a_place() -> None:
    assert unreadable(b"x = 1\ny\0 = 2\n") == Unreadable("nul-bytes", "NUL byte", 2, 2)


@pytest.mark.parametrize(
    "source",
    [
        b"print 'hello'\n",
        b"print x\n",
        b"try:\n    pass\nexcept ValueError, error:\n    print error\n",
        b"raise ValueError, 'text'\n",
        b"exec 'x' in scope\n",
        b"x = 0777\n",
        b"x = 10L\n",
        b"if a <> b: pass\n",
        b"x = `y`\n",
        b"try:\n    pass\nexcept OSError, why:\n    pass\n",
        b"x = 0xFFL\n",
        b"def f(a, (b, c)): pass\n",
        b"raise info[0], info[1]\n",
    ],
)
def test_python_2(source: bytes) -> None:
    assert unreadable(source).reason == "python-2"


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        (b"x = t'{y}'\n", "template string needs Python 3.14"),
        (
            b"try:\n    pass\nexcept ValueError, KeyError:\n    pass\n",
            "except without parentheses needs Python 3.14",
        ),
    ],
)
def test_newer_python_is_named(source: bytes, detail: str) -> None:
    found = extract(source)
    if isinstance(found, Unreadable):  # an interpreter that is new enough reads it
        assert (found.reason, found.detail) == ("newer-python", detail)


def test_an_fstring_of_a_newer_python_is_read_or_said() -> None:
    found = extract(b"""x = f"{d["k"]}"\n""")
    if isinstance(found, Unreadable):
        assert found.reason == "newer-python"
        assert found.detail.endswith("Python 3.12 may accept it")


@pytest.mark.parametrize(
    ("source", "version"),
    [
        (b"def f[T](x: T): pass\n", (3, 12)),
        (b"class A[T]: pass\n", (3, 12)),
        (b"class A[T = int]: pass\n", (3, 13)),
        (b"lazy import json\n", (3, 15)),
    ],
)
def test_the_python_that_is_needed(source: bytes, version: tuple[int, int]) -> None:
    found = extract(source)
    assert isinstance(found, Unreadable) is (sys.version_info < version)
    if isinstance(found, Unreadable):
        assert found.reason == "newer-python"
        assert found.detail.endswith("Python {}.{}".format(*version))


def test_type_statement_is_read_or_named() -> None:
    found = extract(b"type Pair[T] = tuple[T, T]\n")
    if isinstance(found, Unreadable):
        assert found.detail == "type statement needs Python 3.12"
    else:
        assert [(b.name, b.kind) for b in found.bindings] == [("Pair", "type-alias")]


def test_a_plain_syntax_error_has_its_message_and_place() -> None:
    found = unreadable(b"x = 1\ndef f(:\n    pass\n")
    assert (found.reason, found.line, found.column) == ("syntax", 2, 7)


@pytest.mark.parametrize(
    "source",
    [
        "(" * 2000 + ")" * 2000,
        "a" + ".b" * 50_000,
        "a" + "()" * 50_000,
        "a" + " + a" * 50_000,
        "-" * 50_000 + "x",
        "lambda: " * 50_000 + "x",
        "if a:\n pass\n" + "elif a:\n pass\n" * 50_000,
    ],
    ids=["parentheses", "attributes", "calls", "sums", "signs", "lambdas", "elifs"],
)
def test_extreme_nesting_is_refused(source: str) -> None:
    assert unreadable(source.encode()).reason == "too-deep"


@pytest.mark.parametrize(
    "source",
    [
        "import m\nx = m" + ".b" * 900,
        "import m\nx = " + "m.b + " * 900 + "1",
        "import m\nx = " + "lambda: " * 900 + "m.b",
        "import m\nx = " + "not " * 900 + "m.b",
        "import m\nif a:\n pass\n" + "elif m.b:\n pass\n" * 900,
        "def __getattr__(name):\n    if " + "not " * 900 + "name == 'x':\n        return 1\n",
    ],
    ids=["attributes", "sums", "lambdas", "nots", "elifs", "getattr"],
)
def test_deep_but_parsable_nesting_is_read(source: str) -> None:
    readable(source.encode())


def test_too_large() -> None:
    assert unreadable(b" " * (MAX_BYTES + 1)).reason == "too-large"


def test_parser_warnings_stay_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        readable(b"x = '\\d'\nassert (x, 'always')\ny = 1 is 1\n")


def test_columns_count_code_points() -> None:
    facts = readable("import m\nx = 'é𝄞', m.café, m.b\n".encode())
    spans = [use.span for use in facts.uses]
    assert spans == [Span(2, 11, 2, 17), Span(2, 19, 2, 22)]
    assert facts.uses[0].ends == ((2, 12), (2, 17))


@pytest.mark.parametrize(
    ("source", "lines"), [(b"", 0), (b"x", 1), (b"x\n", 1), (b"x\n\ny", 3), (b"a\rb\r\nc", 3)]
)
def test_lines(source: bytes, lines: int) -> None:
    assert readable(source).lines == lines


def test_suppressions_are_seen() -> None:
    assert readable(b"x = 1  # contract-guard: ignore[CG101] why\n").has_suppressions
    assert not readable(b"x = 1\n").has_suppressions
