"""Hostile and generated tests: the work on one test is bounded; a bound that was hit is said."""

import ast
import textwrap
import time

import pytest

from contract_guard.mirrors.copies import FileCopies, copies_in
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.search import Search
from contract_guard.mirrors.slice import lift

PRODUCTION = """
def scaled(x, factor):
    half = (x * factor + 17) // 2
    return half * factor + x % 29 + half // 3
"""
HEAD = "from pkg.ops import scaled\n"


def helpers(count: int) -> str:
    return "".join(
        f"def h{n}(x):\n    return {'x * 2' if n == 0 else f'h{n - 1}(x) + h{n - 1}(x + 1)'}\n"
        for n in range(count)
    )


HOSTILE = {
    "no assertion": "def test_it(x):\n    scaled(x, 2)\n",
    "no body": "def test_it():\n    ...\n",
    "five thousand lines": "def test_it(x0):\n"
    + "".join(f"    x{n} = x{n - 1} * {n} + {n} % 7\n" for n in range(1, 5001))
    + "    assert scaled(x0, 2) == x5000\n",
    "three thousand assertions": "def test_it(x):\n"
    + "".join(f"    assert scaled(x, {n}) == x * {n} // 2 + 1\n" for n in range(3000)),
    "a value that doubles": "def test_it(x):\n"
    + "    x = x + x\n" * 3000
    + "    assert scaled(x, 2) == x * 3 // 2\n",
    "a helper that calls itself": "def h(n):\n    return h(n - 1) * 2 + h(n - 2) // 2\n"
    "def test_it(x):\n    assert scaled(x, 2) == h(x)\n",
    "helpers that call one another": "def a(n):\n    return b(n) * 2\n"
    "def b(n):\n    return a(n) // 2\ndef test_it(x):\n    assert scaled(x, 2) == a(x)\n",
    "thirty helpers, each called twice": helpers(30)
    + "def test_it(x):\n    assert scaled(x, 2) == h29(x)\n",
    "loops in loops": "def test_it(x):\n    y = 0\n    for i in range(32):\n"
    "        for j in range(32):\n            for k in range(32):\n"
    "                y = y + x * i // 2 + j * k\n    assert scaled(x, 2) == y\n",
    "comprehensions in comprehensions": "def test_it(x):\n    assert scaled(x, 2) == "
    "[[[x * i // 2 + j * k for i in range(60)] for j in range(60)] for k in range(60)]\n",
    "a hundred returns": "def test_it(x):\n"
    + "".join(f"    if x > {n}:\n        return\n" for n in range(100))
    + "    assert scaled(x, 2) == x * 3 // 2\n",
    "exec and eval": "def test_it(x):\n    exec('y = 1')\n"
    "    assert scaled(x, 2) == eval('x * 3 // 2') + globals()['y'] * 4 // 3\n",
    "a number that does not fit": "def test_it(x):\n"
    "    assert scaled(x, 2) == 10 ** 10 ** 10 * x + (2 << 999999) // 3\n",
    "a fixture that requests itself": "import pytest\n@pytest.fixture\n"
    "def x(x):\n    return x * 2\n"
    "def test_it(x):\n    assert scaled(x, 2) == x * 3 // 2\n",
    "made by a loop over globals": "def make(n):\n    def test(x):\n"
    "        assert scaled(x, n) == x * n // 2\n    return test\n"
    "for n in range(9):\n    globals()[f'test_{n}'] = make(n)\n",
}


def search(test: str) -> FileCopies:
    sources = {"pkg/ops.py": PRODUCTION, "tests/test_ops.py": HEAD + textwrap.dedent(test)}
    trees = {path: ast.parse(source) for path, source in sources.items()}
    files = {path: file_fragments(tree) for path, tree in trees.items()}
    found = Search(files, frozenset({"tests/test_ops.py"}), sources.__getitem__)
    return copies_in(found, "tests/test_ops.py")


@pytest.mark.parametrize("test", HOSTILE.values(), ids=HOSTILE.keys())
def test_the_work_on_one_test_is_bounded(test: str) -> None:
    started = time.process_time()
    search(test)
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "kind",
    [
        "five thousand lines",
        "three thousand assertions",
        "loops in loops",
        "comprehensions in comprehensions",
    ],
)
def test_a_test_that_is_too_large_to_be_searched_whole_is_told(kind: str) -> None:
    assert search(HOSTILE[kind]).cut == ("test_it",)


def test_a_test_of_many_expected_values_is_told() -> None:
    asserts = "".join(f"    assert scaled(x, {n}) == x * {n} // {n + 3}\n" for n in range(2, 70))
    assert search(f"def test_it(x):\n{asserts}").cut == ("test_it",)
    assert search("def test_it(x):\n" + asserts[: 60 * 30]).cut == ()


@pytest.mark.parametrize(("terms", "cut"), [(150, ()), (250, ("test_it",))])
def test_the_bound_on_depth_is_the_same_deep_in_the_stack(terms: int, cut: tuple[str]) -> None:
    deep = f"def test_it(x):\n    assert scaled(x, 2) == {'x * 3 // 2 + ' * terms}1\n"

    def below(depth: int) -> tuple[str, ...]:
        return below(depth - 1) if depth else search(deep).cut

    assert below(0) == below(200) == cut


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("five thousand lines", "too large"),
        ("three thousand assertions", "too large"),
        ("loops in loops", "too large"),
        ("comprehensions in comprehensions", "too large"),
        ("a helper that calls itself", "recursion: h"),
        ("helpers that call one another", "recursion: a"),
        ("exec and eval", "eval"),
    ],
)
def test_a_bound_that_was_hit_is_said(kind: str, reason: str) -> None:
    assert reason in lift(HEAD + HOSTILE[kind], "tests/test_ops.py::test_it", ["pkg"]).refused
