"""Laws of the fixes over generated modules."""

import ast
import difflib
import dis
from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contract_guard.facts.model import Span
from contract_guard.facts.reader import read
from contract_guard.fixes.imports import renamed, widened, without
from contract_guard.fixes.model import Edit
from contract_guard.fixes.text import edited

Fix = Callable[..., Any]
BODY = "def make_gate(experts):\n    return experts * 2\n"
FILES = {"pkg/__init__.py": "", "pkg/a.py": "KEPT = 1\n", "pkg/b.py": f"OTHER = 1\n{BODY}"}

line_ends = st.sampled_from(["\n", "\r\n"])
comments = st.sampled_from(["", "  # why", "  # é ünï", "  # type: ignore"])
statements = st.sampled_from(
    [
        "x = 1",
        "s = 'make_gate é'",
        "def f(make_gate): return make_gate",
        "y = [make_gate for make_gate in ()]",
        "if True:\n    z = make_gate(1)",
        "class C:\n    make_gate = make_gate",
        'text = """\nmake_gate\n"""',
        "w = (make_gate(1),\n     make_gate (2))",
        "",
        "# make_gate",
    ]
)
imports = st.sampled_from(
    [
        "from pkg.a import make_gate",
        "from pkg.a import KEPT, make_gate",
        "from pkg.a import make_gate, KEPT",
        "from pkg.a import (\n    KEPT,\n    make_gate,\n)",
        "from pkg.a import (KEPT,\n                   make_gate)",
    ]
)
under_another_name = st.just("from pkg.a import make_gate as gate\nmake_gate = gate")


@st.composite
def modules(draw: st.DrawFn, imports: st.SearchStrategy[str] = imports) -> bytes:
    lines = [
        *draw(
            st.lists(st.sampled_from(["import os", "from pkg.b import OTHER", "# -"]), max_size=2)
        ),
        draw(imports) + draw(comments),
        *draw(st.lists(statements, max_size=5)),
    ]
    text = "\n".join(lines) + draw(st.sampled_from(["\n", ""]))
    return text.replace("\n", draw(line_ends)).encode()


def imported(source: bytes) -> set[tuple[str, str]]:
    return {
        (node.module or "", alias.name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@settings(max_examples=60)
@given(source=modules(imports | under_another_name))
def test_a_moved_name_and_nothing_else(fix: Fix, source: bytes) -> None:
    fixed = fix({**FILES, "tests/test_a.py": source})
    before, after = fixed.mended.files["tests/test_a.py"]
    assert before == source
    wanted = imported(source) - {("pkg.a", "make_gate")} | {("pkg.b", "make_gate")}
    assert imported(after) == wanted
    texts = [each.decode().splitlines(True) for each in (source, after)]
    changed = [
        line
        for line in difflib.unified_diff(*texts, n=0)
        if line[:1] in "+-" and line[:3] not in ("+++", "---")
    ]
    words = ("import", "KEPT", "make_gate", "OTHER", ")")
    assert all(any(word in line for word in words) for line in changed)
    others = [n for n in ast.parse(source).body if not isinstance(n, ast.ImportFrom)]
    kept = [n for n in ast.parse(after).body if not isinstance(n, ast.ImportFrom)]
    assert [ast.dump(n) for n in others] == [ast.dump(n) for n in kept]
    ends = b"\r\n" if b"\r\n" in source else b"\n"
    assert after.count(b"\n") == after.count(ends)
    again = fix({**FILES, "tests/test_a.py": after})
    assert again.mended.files == {}


@settings(max_examples=60)
@given(source=modules())
def test_a_renamed_name_at_its_uses_and_nowhere_else(fix: Fix, source: bytes) -> None:
    now = {"pkg/a.py": "KEPT = 1\n" + BODY.replace("make_gate", "build_gate")}
    base = {**FILES, "pkg/a.py": f"KEPT = 1\n{BODY}", "pkg/b.py": "OTHER = 1\n"}
    fixed = fix({**now, "tests/test_a.py": source}, base={**base, "tests/test_a.py": source})
    after = fixed.mended.files["tests/test_a.py"][1]
    assert ("pkg.a", "build_gate") in imported(after)
    assert ("pkg.a", "make_gate") not in imported(after)
    for text in (b"'make_gate \xc3\xa9'", b"# make_gate", b"def f(make_gate): return make_gate"):
        assert (text in after) == (text in source)
    compile(after, "after", "exec")
    # A global name is read as often as before, under one name.
    assert global_loads(source, "make_gate") == global_loads(after, "build_gate") + global_loads(
        after, "make_gate"
    )
    if ast.dump(ast.parse(after)).count("asname='make_gate'") == 0:
        assert global_loads(after, "make_gate") == 0


def global_loads(source: bytes, name: str) -> int:
    """How often the code loads a name from the module, as Python itself compiles it."""
    count, stack = 0, [compile(source, "source", "exec")]
    while stack:
        code = stack.pop()
        stack += [each for each in code.co_consts if hasattr(each, "co_code")]
        count += sum(
            i.opname in ("LOAD_NAME", "LOAD_GLOBAL") and i.argval == name
            for i in dis.get_instructions(code)
        )
    return count


names = st.lists(
    st.sampled_from(["a", "b", "CONST", "Thing", "long_name_of_a_helper"]),
    min_size=1,
    unique=True,
)
layouts = st.sampled_from(["{}", "({})", "(\n    {},\n)", "(\n    {}\n)"])


@st.composite
def from_imports(draw: st.DrawFn) -> tuple[str, list[str]]:
    chosen, layout = draw(names), draw(layouts)
    joint = ",\n    " if "\n" in layout else ", "
    return "from m.n import " + layout.format(joint.join(chosen)), chosen


def names_of(statement: str) -> list[str]:
    (node,) = ast.parse(statement).body
    assert isinstance(node, ast.ImportFrom)
    return [alias.name for alias in node.names]


@given(from_imports(), st.integers(20, 100), st.data())
def test_imports_without_with_and_renamed(
    given_: tuple[str, list[str]], width: int, data: st.DataObject
) -> None:
    statement, chosen = given_
    gone = data.draw(st.sampled_from(chosen))
    rest = without(statement, {(gone, None)}, width)
    assert (names_of(rest) if rest else []) == [name for name in chosen if name != gone]
    wider = widened(statement, ("zeta", None), width)
    assert sorted(names_of(wider)) == sorted([*chosen, "zeta"])
    assert [name for name in names_of(wider) if name != "zeta"] == chosen
    other = renamed(statement, (gone, None), ("zeta", None), width)
    assert sorted(names_of(other)) == sorted([*(n for n in chosen if n != gone), "zeta"])
    assert widened(wider, ("zeta", None), width) == wider


@given(
    st.lists(st.text("ab é\t", max_size=6), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.data(),
)
def test_outside_of_the_edit_the_bytes_are_the_same(
    lines: list[str], end: str, data: st.DataObject
) -> None:
    source = end.join(f"# {line}" for line in lines).encode()
    row = data.draw(st.integers(1, len(lines)))
    last = data.draw(st.integers(row, len(lines)))
    first_length, last_length = len(lines[row - 1]) + 2, len(lines[last - 1]) + 2
    start = data.draw(st.integers(1, first_length + 1))
    stop = data.draw(st.integers(start if last == row else 1, last_length + 1))
    new = data.draw(st.sampled_from(["", "x", "x\ny"]))
    after = edited(source, [Edit("x.py", Span(row, start, last, stop), new)])
    text = source.decode()
    position = [0]
    for line in lines:
        position.append(position[-1] + len(line) + 2 + len(end))
    at, to = position[row - 1] + start - 1, position[last - 1] + stop - 1
    newline = end if len(lines) > 1 else "\n"
    assert after.decode() == text[:at] + new.replace("\n", newline) + text[to:]
    assert edited(source, []) == source
    assert read(source)  # the generated text is what the tool reads
