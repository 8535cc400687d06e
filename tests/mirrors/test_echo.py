"""Assertions whose two sides are one call."""

import ast
import textwrap

import pytest

from contract_guard.mirrors.echo import echoes


def found(body: str, before: str = "") -> list[tuple[str, int, tuple[int, ...]]]:
    """Callee, line of the assertion and lines of the calls, in a test with this body; its first
    line is 1."""
    source = f"{before}def test_it(fixture):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    shift = before.count("\n") + 1
    return [
        (echo.function, echo.line - shift, tuple(line - shift for line in echo.evaluated))
        for echo in echoes(ast.parse(source))
    ]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert f(1) == f(1)", ("f", 1, (1,))),
        ("assert m.f(1)[0].x == m.f(1)[0].x", ("m.f", 1, (1,))),
        ("self.assertEqual(f(1), f(1))", ("f", 1, (1,))),
        ("torch.testing.assert_close(f(1), f(1))", ("f", 1, (1,))),
        ("assert torch.allclose(f(1), f(1))", ("f", 1, (1,))),
        ("assert f(1) == pytest.approx(f(1))", ("f", 1, (1,))),
        ("a = f(1)\nb = f(1)\nassert a == b", ("f", 3, (1, 2))),
        ("a = f(1)\nb = a.clone()\nassert_close(a, b)", ("f", 3, (1,))),
        ("a, b = f(1)\nc, d = f(1)\nassert a == c", ("f", 3, (1, 2))),
        ("a: int = f(1)\nassert a == f(1)", ("f", 2, (1, 2))),
        ("x = Thing(3)\nassert x.f(1) == x.f(1)", ("Thing.f", 2, (2,))),
        ("assert Thing(3).f(1) == Thing(3).f(1)", ("Thing.f", 1, (1,))),
        ("assert list(f(1)) == list(f(1))", ("f", 1, (1,))),
        ("if fixture:\n    a = f(1)\n    assert a == f(1)", ("f", 3, (2, 3))),
    ],
)
def test_echo(body: str, expected: tuple[str, int, tuple[int, ...]]) -> None:
    assert found(body) == [expected]


@pytest.mark.parametrize(
    "body",
    [
        "assert f(1) == f(2)",
        "assert f(1) != f(1)",
        "assert f(1) is f(1)",
        "assert f(1) == 1",
        "assert f(1) == f(1) == 3",
        "assert Thing(1) == Thing(1)",
        "assert make_thing(1) == make_thing(1)",
        "assert a.f(1) == b.f(1)",
        "a = f(1)\nchange()\nassert a == f(1)",
        "x = [1]\na = f(x)\nx[0] = 2\nassert a == f(x)",
        "x = 1\na = f(x)\nx = 2\nassert a == f(x)",
        "a = f(1)\nwith patched():\n    assert a == f(1)",
        "a = f(1)\nfor _ in range(3):\n    assert a == f(1)",
        "a = f(1)\nassert a == sorted(a)",
        "a = f(1)\nassert a == list(set(a))",
        "assert f(torch.randn(3)) == f(torch.randn(3))",
        "assert f(1, seed=0) == f(1, seed=0)",
        "assert next(f(1)) == next(f(1))",
        "assert fixture.f(1) == fixture.f(1)",
        "one, other = Thing(1), Thing(1)\nassert one.f(1) == other.f(1)",
        "assert isinstance(f(1), int)",
    ],
)
def test_no_echo(body: str) -> None:
    assert found(body) == []


def test_helpers_of_one_expression_are_looked_into() -> None:
    helper = "def reference(x):\n    '''What f gives.'''\n    return f(x, 2)\n\n"
    assert found("assert f(7, 2) == reference(7)", helper) == [("f", 1, (1,))]
    assert found("assert f(7, 3) == reference(7)", helper) == []


def test_functions_of_the_file_are_not_production() -> None:
    helper = "def f(x):\n    y = x\n    return y\n\n"
    assert found("assert f(1) == f(1)", helper) == []


def test_only_tests_are_looked_at() -> None:
    assert list(echoes(ast.parse("def check():\n    assert f(1) == f(1)\n"))) == []


def test_methods_have_qualified_names() -> None:
    source = "class TestA:\n    def test_b(self):\n        assert f(1) == f(1)\n"
    assert [echo.qualname for echo in echoes(ast.parse(source))] == ["TestA.test_b"]


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("expected = a + b\nassert_allclose(expected, expected, rtol=1e-5)", "expected"),
        ("result = f(1)\nself.assertEqual(result, result)", "result"),
        ("actual = a.b(1).c\nself.assert_close(actual, actual)", "actual"),
        ("assert expected == expected", None),  # may be a test of equality
        ("left = a + b\nassert_allclose(left, left)", None),
        ("assert_allclose(expected, expected.T)", None),
    ],
)
def test_one_name_for_both_sides(body: str, name: str | None) -> None:
    tree = ast.parse(f"def test_it(fixture):\n{textwrap.indent(body, '    ')}")
    assert [echo.name for echo in echoes(tree)] == ([] if name is None else [name])
