"""The values that a test file writes down."""

import ast

import pytest

from contract_guard.mirrors.inputs import inputs

HEAD = "from m import PAD, LOW, HIGH, Color\nOWN = 5\n\n"


def found(expression: str) -> list[tuple[str, ...]]:
    return [each.texts for each in inputs(ast.parse(f"{HEAD}x = {expression}\n"))]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, PAD, 129257]", [("1", "PAD", "129257")]),
        ("f((PAD, Color.RED))", [("PAD", "Color.RED")]),
        ("f([7, 129257])", [("7", "129257")]),
        ("f(PAD)", [("PAD",)]),
        ("f(Color.RED, x=PAD + 1)", [("Color.RED",), ("PAD + 1",)]),
        ("[PAD + i for i in range(3)]", [("PAD + i",)]),
        ("torch.arange(LOW, HIGH)", [("range(LOW, HIGH)",)]),
        ("range(HIGH)", [("range(0, HIGH)",)]),
        ("random.randint(LOW, HIGH)", [("range(LOW, HIGH + 1)",)]),
        ("torch.randint(low=LOW, high=HIGH, size=(3,))", [("range(LOW, HIGH)",)]),
        ("st.integers(min_value=LOW, max_value=HIGH)", [("range(LOW, HIGH + 1)",)]),
        ("torch.arange(150000)", [("range(0, 150000)",)]),
        ("is_pad([PAD]) == [True]", [("PAD",)]),
        ("f(1) == PAD", []),
        ("ids == [PAD, PAD]", []),
        ("torch.eq(ids, PAD)", []),
        ("[1, 2, 3]", []),
        ("[OWN, 2]", []),
        ("f(OWN)", []),
        ("torch.arange(5)", []),
    ],
)
def test_inputs(expression: str, expected: list[tuple[str, ...]]) -> None:
    assert found(expression) == expected


def test_asserted_calls_hold_inputs() -> None:
    tree = ast.parse(
        f"{HEAD}def test_a():\n    assert is_pad(PAD)\n    assert_equal(g(LOW), HIGH)\n"
    )
    assert [(i.qualname, i.texts) for i in inputs(tree)] == [
        ("test_a", ("PAD",)),
        ("test_a", ("LOW",)),
    ]


def test_parametrized_values_belong_to_their_test() -> None:
    tree = ast.parse(
        f'{HEAD}class TestA:\n    @mark.parametrize("x", [PAD, 3])\n    def test_b(self): ...\n'
    )
    assert [(i.qualname, i.texts, i.is_list) for i in inputs(tree)] == [
        ("TestA.test_b", ("PAD", "3"), True)
    ]


def test_places() -> None:
    (each,) = inputs(ast.parse('from m import PAD\nx = "é", f([PAD,\n 1])\n'))
    assert (each.line, each.column, each.end_line, each.end_column) == (2, 13, 3, 4)
