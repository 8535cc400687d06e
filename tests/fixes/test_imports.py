"""Import statements: the plain ones and those with a layout come out alike."""

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from contract_guard.fixes import imports, layout

NAMES = st.sampled_from(["a", "b", "gate", "Gate", "GateKind", "PAD", "PAD_ID", "zeta"])
PAIRS = st.tuples(NAMES, st.none() | st.sampled_from(["x", "y"]))
LISTS = st.lists(PAIRS, min_size=1, max_size=6, unique=True)
WIDTHS = st.integers(20, 90)


def statement(pairs: list[tuple[str, str | None]], indent: str | None) -> str:
    names = [f"{name} as {bound}" if bound else name for name, bound in pairs]
    if indent is None:
        return f"from pkg.mod import {', '.join(names)}"
    rows = "".join(f"{indent}    {name},\n" for name in names)
    return f"from pkg.mod import (\n{rows}{indent})"


@given(LISTS, st.sampled_from([None, "", "    "]), PAIRS, PAIRS, WIDTHS)
def test_plain_statements_are_changed_as_libcst_does(
    pairs, indent: str | None, old, new, width: int
) -> None:
    text = statement(pairs, indent)
    assert imports.without(text, {old}, width) == layout.without(text, {old}, width)
    assert imports.widened(text, new, width) == layout.widened(text, new, width)
    for each in (old, pairs[0]):
        assert imports.renamed(text, each, new, width) == layout.renamed(text, each, new, width)


def test_plain_statements_do_not_wait_for_libcst() -> None:
    program = (
        "import sys\n"
        "from contract_guard.fixes import plan, imports, moved, modules, calls\n"
        "print(imports.renamed('from m import a, b', ('a', None), ('c', None), 80))\n"
        "print('libcst' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "from m import b, c\nFalse\n"
