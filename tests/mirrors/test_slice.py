"""The slicer: what a test expects, as a program of operations."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from contract_guard.mirrors.model import UNRESOLVED, Const, OracleSlice
from contract_guard.mirrors.slice import lift, lift_all

PAD_FREE = Path(__file__).parents[2] / "examples" / "pad_free" / "before" / "tests"


def lifted(source: str, name: str = "test_it") -> OracleSlice:
    return lift(textwrap.dedent(source), f"tests/test_x.py::{name}")


def text(sliced: OracleSlice, value: object) -> str:
    """One output written as a nested expression."""
    if isinstance(value, int):
        op = sliced.ops[value]
        parts = [text(sliced, a) for a in op.arguments]
        parts += [f"{key}={text(sliced, v)}" for key, v in op.keywords]
        return f"{op.name}({', '.join(parts)})"
    if isinstance(value, Const):
        return str(value.symbol) if value.value is UNRESOLVED else repr(value.value)
    return str(value)


def outputs(source: str, name: str = "test_it") -> dict[str, str]:
    sliced = lifted(source, name)
    return {key: text(sliced, value) for key, value in sliced.outputs}


def test_pad_free_routing() -> None:
    source = (PAD_FREE / "test_gate.py").read_bytes()
    sliced = lift(source, "tests/test_gate.py::test_routing[1-2]")
    assert sliced.inputs == (
        "gate.correction_bias",
        "gate.image_bias",
        "gate.weight",
        "hidden",
        "ids",
        "scale",
        "top_k",
    )
    assert [op.name for op in sliced.ops if op.name not in ("slice", "tuple", "getitem")] == [
        "to", "t", "matmul", "softplus", "sqrt", "eq", "eq", "bitor", "add", "mul", "add", "topk",
        "gather", "sum", "add", "div", "mul",
    ]  # fmt: skip
    assert [name for name, _ in sliced.outputs] == ["expected_chosen", "expected"]
    assert [check.actual for check in sliced.checks] == ["chosen", "weights"]
    symbols = {a.symbol for op in sliced.ops for a in op.arguments if isinstance(a, Const)}
    assert "gate.constants:IMAGE_SENTINEL_BASE_ID" in symbols
    assert sliced.refused == ()
    assert dict(sliced.parameters)["scale"] == (1.0, 2.5)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert run(x) == x.softmax(-1)", "softmax($x, dim=-1)"),
        ("assert run(x) == torch.nn.functional.softmax(x, dim=-1)", "softmax($x, dim=-1)"),
        ("assert x * 2 == run(x)", "mul($x, 2)"),
        ("assert_close(run(x), torch.add(x, 1))", "add($x, 1)"),
        ("assert torch.allclose(run(x), x.clamp_min(3))", "clamp($x, min=3)"),
        ("assert (run(x) == x.sum(1, True)).all()", "sum($x, dim=1, keepdim=True)"),
        ("assert run(x) == np.sum(x, axis=1)", "sum($x, dim=1)"),
        ("y = x.float()\ny *= 2\nassert run(x) == y", "mul(to($x, dtype=torch:float32), 2)"),
        ("y = x + 1\ny.mul_(2)\nassert run(x) == y", "mul(add($x, 1), 2)"),
        ("y = x + 1\ny[0] = 5\nassert run(x) == y", "setitem(add($x, 1), 0, 5)"),
        ("i = x.topk(2).indices\nassert run(x) == i", "getitem(topk($x, 2), 1)"),
        ("_, i = torch.topk(x, 2)\nassert run(x) == i", "getitem(topk($x, 2), 1)"),
        ("y = 1 if x else 2\nassert run() == y", "ifelse($x, 1, 2)"),
        ("y = 1\nif x:\n    y = x + 1\nassert run() == y", "ifelse($x, add($x, 1), 1)"),
        ("y = 0\nfor i in range(2):\n    y = y + i * x\nassert run() == y",
         "add(add(0, mul(0, $x)), mul(1, $x))"),
        ("y = [i * x for i in (1, 2)]\nassert run() == y", "list(mul(1, $x), mul(2, $x))"),
        ("assert run(x) == f'{x:>4} of {N}'", "format(format_spec($x, ':>4'), ' of ', 7)"),
        ("assert run(x) == helper(x)", "add($x, 7)"),
        ("assert run(x) == x == N", "$x"),
        ("fn = lambda v: v - 1\nassert run(x) == fn(x)", "sub($x, 1)"),
    ],
)  # fmt: skip
def test_expected_side(body: str, expected: str) -> None:
    source = f"""\
import numpy as np
import torch
from pkg.mod import run
from torch.testing import assert_close

N = 7

def helper(v, n=N):
    return v + n

def test_it(x):
{textwrap.indent(body, "    ")}
"""
    assert list(outputs(source).values())[:1] == [expected]


def test_constants_keep_value_and_name() -> None:
    sliced = lifted("""
        from pkg.mod import LIMIT, run
        WIDTH = 4
        def test_it(x):
            assert run(x) == x * WIDTH + LIMIT
    """)
    assert [op.arguments[1] for op in sliced.ops] == [
        Const(4, "WIDTH"),
        Const(UNRESOLVED, "pkg.mod:LIMIT"),
    ]


def test_comparison_inside_a_double_and_through_captured_values() -> None:
    assert outputs("""
        from pkg.moe import MoE
        def test_it(monkeypatch, x):
            moe = MoE(4)
            expected = (x @ moe.gate.weight.t()).softmax(-1)
            seen = {}
            def forward(hidden, weights, ids):
                assert_close(weights, expected)
                seen["ids"] = ids
                return hidden
            monkeypatch.setattr(moe.experts, "forward", forward)
            moe(x)
            assert_close(seen["ids"], expected.argmax(-1))
    """) == {
        "expected@13": "argmax(softmax(matmul($x, t($moe.gate.weight)), dim=-1), dim=-1)",
        "expected": "softmax(matmul($x, t($moe.gate.weight)), dim=-1)",
    }


def test_what_production_is_given_is_an_input() -> None:
    sliced = lifted("""
        import torch
        from pkg.moe import Gate
        def test_it(n):
            gate = Gate()
            ids = torch.arange(n).repeat(2)
            assert_close(gate(ids), ids == 3)
    """)
    assert sliced.inputs == ("ids",)
    assert text(sliced, sliced.outputs[0][1]) == "eq($ids, 3)"


def test_unittest_setup_methods_and_class_constants() -> None:
    assert outputs(
        """
        import unittest
        from pkg.mod import run
        class TestA(unittest.TestCase):
            FACTOR = 3
            def setUp(self):
                self.base = 10
            def wanted(self, x):
                return x * self.FACTOR + self.base
            def test_it(self):
                for x in (1, 2):
                    self.assertEqual(run(x), self.wanted(x))
        """,
        "TestA::test_it",
    ) == {"expected@12": "add(mul(2, 3), 10)"}


def test_fixtures_and_conditions() -> None:
    sliced = lifted("""
        import pytest
        from pkg.mod import run
        @pytest.fixture
        def base(size):
            return size + 1
        def test_it(base, flag):
            if flag:
                assert run() == base * 2
    """)
    assert text(sliced, sliced.outputs[0][1]) == "mul(add($base.size, 1), 2)"
    assert sliced.checks[0].conditions == ("$flag",)


def test_mock_call_arguments_and_match() -> None:
    assert outputs("""
        import pytest
        from pkg.mod import run
        def test_it(mocked, n):
            run(mocked)
            mocked.assert_called_once_with(n + 1, key=n * 2)
            with pytest.raises(ValueError, match=f"too many: {n}"):
                run(n)
            assert mocked.call_args.args[0] == n - 1
    """) == {
        "expected@6": "mul($n, 2)",
        "expected@7": "format('too many: ', $n)",
        "expected@9": "sub($n, 1)",
    }


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        ("y = open(x).read()", ("open",)),
        ("y = eval(x)", ("eval",)),
        ("y = 0\nfor v in x:\n    y = y + v", ("loop over x at line 7",)),
        ("y = [v + 1 for v in x]", ("comprehension at line 6",)),
        ("y = deep(x)", ("recursion: deep",)),
    ],
)
def test_refused(body: str, refused: tuple[str, ...]) -> None:
    source = f"""\
from pkg.mod import run
def deep(v):
    return deep(v - 1) + 1
def test_it(x):
    z = x
{textwrap.indent(body, "    ")}
    assert run(z) == y
"""
    assert lifted(source).refused == refused


def test_unknown_test_and_empty_slice() -> None:
    with pytest.raises(LookupError):
        lifted("def test_a(): pass", "test_b")
    assert lifted("def test_it(): pass") == lifted("def test_it():\n    x = 1\n    assert f(x)")


def test_a_huge_test_is_bounded() -> None:
    lines = "\n".join(f"    x{i} = x{i - 1} * {i} + y" for i in range(1, 8000))
    sliced = lifted(f"def test_it(x0, y):\n{lines}\n    assert f(y) == x7999")
    assert sliced.ops == ()


def test_all_tests_of_a_file() -> None:
    source = (PAD_FREE / "test_gate.py").read_text()
    sliced = lift_all(source, "tests/test_gate.py")
    assert set(sliced) == {
        f"tests/test_gate.py::{name}"
        for name in (
            "test_routing",
            "test_weights_sum_to_the_scale",
            "test_no_expert_is_chosen_twice",
            "test_image_bias_leaves_text_alone",
            "test_image_bias_can_decide",
        )
    }
    assert sliced["tests/test_gate.py::test_routing"] == lift(
        source, "tests/test_gate.py::test_routing"
    )


def test_fingerprint_follows_the_rule_not_the_layout() -> None:
    one = lifted("def test_it(x):\n    assert f(x) == x + 1")
    same = lifted("def test_it(x):\n    # a note\n    y = x + 1\n\n    assert f(x) == y")
    other = lifted("def test_it(x):\n    assert f(x) == x + 2")
    assert one.fingerprint == same.fingerprint != other.fingerprint


def test_imports_only_the_standard_library() -> None:
    code = (
        "import sys; import contract_guard.mirrors.slice; "
        "print({'libcst', 'msgspec', 'torch', 'rich', 'click'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"
