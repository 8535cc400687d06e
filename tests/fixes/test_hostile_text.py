"""Files whose text is unusual: a rename changes the name and no other byte."""

import ast
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest

Fix = Callable[..., Any]

CODE = "def make_gate(experts):\n    return experts * 2\n"
SOURCES = {
    "form feeds": "import os\n\x0c\nfrom pkg.a import make_gate\n\x0c\nmake_gate(1)\n",
    "a form feed before the import": "\x0cfrom pkg.a import make_gate\nmake_gate(1)\n",
    "a form feed in the indent": "if 1:\n    \x0cfrom pkg.a import make_gate\nmake_gate(1)\n",
    "what is a line end elsewhere": (
        "X = 'a\x0bb\x1c\x1e\x85\u2028\u2029'; from pkg.a import make_gate\nmake_gate(X)\n"
    ),
    "wide letters": "x = '😀é'; from pkg.a import make_gate; make_gate('😀')\n",
    "line ends in the statement": "from pkg.a import \\\n    make_gate\nmake_gate(1)\n",
    "tabs": "def f():\n\tfrom pkg.a import make_gate\n\treturn make_gate(1)\n",
    "another list on the line": "if 1: from pkg.a import make_gate; make_gate(1)\n",
    "letters that are the same name": "from pkg.a import make_gate as größe\ngröße(1)\n",
    "texts with code": (
        "from pkg.a import make_gate\n"
        "x = f'é{make_gate(1)!r:>{make_gate(2)}} {make_gate(3)=}'\n"
        "y = f'''é{\nmake_gate(1)}'''\n"
    ),
    "nested texts with code": (
        "from pkg.a import make_gate\nx = f'{f\"{make_gate(f'{make_gate(1)}')}\"}'\n"
    ),
    "a very long line": "from pkg.a import make_gate\nx = [" + "make_gate(1), " * 300 + "]\n",
    "very many lines": "from pkg.a import make_gate\n" + "x = make_gate(1)\n" * 300,
}
ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "plain": str.encode,
    "CRLF": lambda text: text.replace("\n", "\r\n").encode(),
    "CR": lambda text: text.replace("\n", "\r").encode(),
    "mixed": lambda text: b"".join(
        line + end for line, end in zip(text.encode().split(b"\n"), cycle([b"\r\n", b"\n", b"\r"]))
    ),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "latin-1": lambda text: b"# coding: latin-1\n" + text.encode("latin-1", "replace"),
    "no end": lambda text: text.rstrip("\n").encode(),
}


def parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("kind", SOURCES)
def test_a_rename_changes_nothing_else(fix: Fix, kind: str, encoding: str) -> None:
    before = ENCODINGS[encoding](SOURCES[kind])
    if not parses(before):
        pytest.skip("Python does not take it, so that it is not read either")
    base = {"pkg/__init__.py": "", "pkg/a.py": CODE, "tests/test_a.py": before}
    fixed = fix({"pkg/a.py": CODE.replace("make_gate", "open_gate")}, base=base)
    assert fixed.reasons == []
    (_, after) = fixed.mended.files["tests/test_a.py"]
    assert after == before.replace(b"make_gate", b"open_gate")
