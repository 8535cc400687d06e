"""Which expected values are expressions of production from end to end."""

import ast

import pytest

from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.index import Index
from contract_guard.mirrors.instance import operations_of_instance
from contract_guard.mirrors.normal_form import normal_form
from contract_guard.mirrors.scopes import FunctionNode, module_of
from contract_guard.mirrors.trace import trace_function
from contract_guard.mirrors.weights import Graphs, weigh


def graphs(source: str) -> Graphs:
    tree = ast.parse(source)
    node = next(n for n in tree.body if isinstance(n, FunctionNode))
    graph = trace_function(module_of(tree), node)
    form = normal_form(graph.ops, graph.aliases)
    rarity = Index({"pkg/it.py": file_fragments(tree)}, frozenset()).rarity
    return weigh(form, range(len(form.nodes)), rarity)


def operations(test: str, production: str) -> int:
    here = graphs(f"def f(a, b, c):\n    return {test}")
    there = graphs(f"def g(x, y, z):\n    return {production}")
    return operations_of_instance(here, max(here.nodes), there)


@pytest.mark.parametrize(
    ("test", "production", "expected"),
    [
        ("a * b + c", "z + y * x", 2),
        ("a * b + c", "(z + y * x).sqrt()", 2),
        ("a * b + c", "x * y - z", 0),
        ("a * a + b", "x * y + z", 0),  # one input is one value throughout
        ("a * a + b", "x * x + z", 2),
        ("a * 0.9 * a", "x * 0.9 * x", 2),
        ("a * 0.9 * a", "x * 0.8 * x", 0),
        ("a * 4 + b", "x * max(y, 2) + z", 2),  # a number where production computes one
        ("a * 4 + 1", "x * max(y, 2) + z", 0),  # numbers alone say little
        ("a * 4 + 1", "x * max(y, 2) + 1", 2),
        ("(a - b) / c", "(x.reshape(4, -1) - y) / z", 2),
        ("(a + b - 1) // b * b", "(x + y - 1) // y * y", 2),
        ("f'{a}_{b}.json'", "f'{x}_{y}.json'", 2),
        ("f'{a}_{b}.json'", "f'{x}_{y}.yaml'", 0),
        ("a & 255", "(x & 255) | y", 1),
        ("a", "x + y", 0),
    ],
)
def test_operations_of_a_whole_value(test: str, production: str, expected: int) -> None:
    if test == "a":
        here, there = graphs("def f(a):\n    return a"), graphs("def g(x, y):\n    return x + y")
        assert operations_of_instance(here, "$a", there) == expected
    else:
        assert operations(test, production) == expected


def test_large_sums_are_bounded() -> None:
    names = [f"v{n}" for n in range(40)]
    total = " + ".join(f"{name} * {name}" for name in names)
    source = f"def f({', '.join(names)}):\n    return {total}"
    here = graphs(source)
    assert operations_of_instance(here, max(here.nodes), here) in (0, 79)
