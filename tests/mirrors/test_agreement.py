"""What of a test is run for `--confirm`, and on which inputs."""

import ast
import textwrap

import pytest

from contract_guard.mirrors.agreement import CannotLift, Program, program, unknown_inputs
from contract_guard.mirrors.model import UNRESOLVED, Const

HEAD = """
import numpy as np
import pytest
import torch
from pkg import scale
from tests.tools import assert_verbose_allclose

FEW = [(1, "a"), (2, "b")]
MORE = [pytest.param(3, "c", id="three")]
"""


def lifted(test: str, name: str = "test_it") -> Program:
    tree = ast.parse(HEAD + textwrap.dedent(test))
    return program(tree, name, 1, 999, frozenset({"pkg"}))


@pytest.mark.parametrize(
    "assertion",
    [
        "assert scale(x) == x * 3",
        "assert np.isclose(scale(x), x * 3)",
        "assert_verbose_allclose(scale(x), x * 3)",
        "np.testing.assert_array_almost_equal(scale(x), x * 3)",
    ],
)
def test_equalities(assertion: str) -> None:
    found = lifted(f"def test_it():\n    x = 5\n    {assertion}")
    assert [found.ops[c.expected].name for c in found.comparisons] == ["mul"]  # type: ignore[index]


@pytest.mark.parametrize(
    "assertion", ["assert not np.allclose(scale(x), x * 3)", "assert scale(x) != x * 3"]
)
def test_no_equality(assertion: str) -> None:
    with pytest.raises(CannotLift):
        lifted(f"def test_it():\n    x = 5\n    {assertion}")


def test_rows_of_lists_that_are_joined() -> None:
    found = lifted(
        """
    class TestScale:
        EDGES = [(0, "d")]

        @pytest.mark.parametrize("x, name", FEW + MORE + EDGES)
        def test_it(self, x, name):
            assert scale(x) == x * 3
    """,
        "TestScale.test_it",
    )
    texts = ["a", "b", "c", "d"]
    numbers = [1, 2, 3, 0]
    rows = tuple((Const(x), Const(name)) for x, name in zip(numbers, texts, strict=True))
    assert found.rows == ((("$x", "$name"), rows),)


def test_a_column_of_other_values_takes_only_itself_away() -> None:
    found = lifted("""
    @pytest.mark.parametrize("x, shape", [(1, (2, 3)), (2, (4,))])
    def test_it(x, shape):
        assert scale(x) == x * 3
    """)
    assert found.rows == ((("$x",), ((Const(1),), (Const(2),))),)


def test_fixtures_known_by_name() -> None:
    found = lifted("""
    def test_it(device, dtype, rows):
        x = torch.ones(4, device=device, dtype=dtype)
        assert scale(x) == x * 3 + rows
    """)
    assert (("$device",), ((Const("cpu"),),)) in found.rows
    assert (("$dtype",), ((Const(UNRESOLVED, "torch:float32"),),)) in found.rows
    assert list(unknown_inputs(found)) == ["rows"]
