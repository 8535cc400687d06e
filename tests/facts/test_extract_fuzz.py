"""`extract` never raises, and its facts are the same each time and survive the cache."""

import ast
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts, Unreadable

STDLIB = Path(ast.__file__).parent
SEEDS = [
    (STDLIB / name).read_bytes()
    for name in ("contextlib.py", "enum.py", "shelve.py", "unittest/case.py", "collections/abc.py")
]
SEEDS.append(Path(__file__).with_name("collected_sample.py.txt").read_bytes())

FRAGMENTS = [
    b"__all__ = ",
    b"global x\n",
    b"lambda: ",
    b":= ",
    b"sys.modules[__name__] = ",
    b"def __getattr__(name):\n",
    b"\n    ",
    b"patch(",
    b"monkeypatch.setattr(",
    b"@pytest.mark.parametrize('x', ",
    b"[*x]",
    b"10**10**10",
    b"'a' * 10**9",
    b"async ",
    b"match x:\n case ",
    b"globals()[x] = 1\n",
    b"\xc3\xa9",
    b"\xff",
    b"\0",
    b"from . import *\n",
    b"nonlocal y\n",
    b"f'{x!r:{y}}'",
    b"else:\n",
    b"'\\ud800'",
    b"__slots__ = ",
    b"# coding: latin-1\n",
    b"except* ",
]


def check(source: bytes) -> None:
    facts = extract(source)
    assert facts == extract(source)
    if isinstance(facts, Unreadable):
        assert facts.detail
        return
    encoded = msgspec.msgpack.encode(facts)
    assert msgspec.msgpack.decode(encoded, type=ModuleFacts) == facts
    check_places(facts)


def check_places(facts: ModuleFacts) -> None:
    """Indices lead somewhere, outer scopes and guards come first, ranges are not reversed."""
    for index, scope in enumerate(facts.scopes):
        assert scope.parent < index
    for index, guard in enumerate(facts.guards):
        assert guard.parent < index
    groups = (facts.imports, facts.uses, facts.loads, facts.patches, facts.predicates)
    for group in groups:
        for item in group:
            assert 0 <= item.scope < len(facts.scopes)
            assert -1 <= item.guard < len(facts.guards)
            line, column, end_line, end_column = item.span
            assert (1, 1) <= (line, column) <= (end_line, end_column)
            assert end_line <= facts.lines
    for use in facts.uses:
        assert len(use.ends) == len(use.chain) + 1
        assert use.ends[-1] == use.span[2:]
        assert all(0 <= index < len(facts.imports) for index in use.imported)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    lines = draw(st.sampled_from(SEEDS)).split(b"\n")
    starts = [n for n, line in enumerate(lines) if line[:1].isalpha() or line[:1] == b"@"]
    start = draw(st.sampled_from(starts))
    source = bytearray(b"\n".join(lines[start : start + 80]))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(source)))
        length = draw(st.integers(0, 30))
        kind = draw(st.sampled_from(["insert", "delete", "replace", "rename"]))
        if kind == "insert":
            source[place:place] = draw(st.sampled_from(FRAGMENTS))
        elif kind == "delete":
            del source[place : place + length]
        elif kind == "replace":
            source[place : place + length] = draw(st.sampled_from(FRAGMENTS))
        else:
            names = re.findall(rb"[A-Za-z_]\w*", source)
            if names:
                old, new = draw(st.sampled_from(names)), draw(st.sampled_from(names))
                source = bytearray(bytes(source).replace(old, new, 2))
    return bytes(source)


QUICK = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


@QUICK
@given(mutated())
def test_mutated_files(source: bytes) -> None:
    check(source)


@QUICK
@given(st.binary(max_size=200))
def test_random_bytes(source: bytes) -> None:
    check(source)


@QUICK
@given(st.text(alphabet="abx=.,:()[]{}'\"\n \t#@*\\éf0_if", max_size=120))
def test_random_text(source: str) -> None:
    check(source.encode())


@pytest.mark.parametrize("seed", SEEDS, ids=range(len(SEEDS)))
def test_real_files(seed: bytes) -> None:
    check(seed)
