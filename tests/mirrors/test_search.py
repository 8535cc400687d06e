"""The search: copies of a production function in many disguises, and oracles that are none."""

import ast
import textwrap
import time

import pytest

from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.index import CALLED, NEARBY, Index, Rarity
from contract_guard.mirrors.search import Resemblance, Search
from contract_guard.mirrors.verdict import is_mirror, is_shadow, probability

PRODUCTION = """
import torch
from torch.nn import functional as F

EPS = 1e-6
LIMIT = 7.0

def gated(x, gate, up, scale):
    gate = gate.clamp(max=LIMIT)
    up = up.clamp(-LIMIT, LIMIT)
    act = gate * torch.sigmoid(1.702 * gate)
    normed = x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt()
    return normed * (up + 1) * act * scale

def padded(rows, block):
    return (rows + block - 1) // block * block + rows % 3

def label(name, rank, size):
    return f"worker {name} of rank {rank}/{size}: ready"

def other(x):
    return x.topk(2).indices.flip(0)
"""


def search(test: str, production: str = PRODUCTION) -> tuple[Search, str]:
    sources = {
        "pkg/__init__.py": "",
        "pkg/ops.py": production,
        "tests/test_ops.py": textwrap.dedent(test),
    }
    trees = {path: ast.parse(source) for path, source in sources.items()}
    files = {path: file_fragments(tree) for path, tree in trees.items()}
    return Search(files, frozenset({"tests/test_ops.py"}), sources.__getitem__), "tests/test_ops.py"


def best(test: str) -> Resemblance | None:
    found, path = search(test)
    mirrors = [
        r
        for function in found.tests_of(path)
        for r in found.resemblances(path, function)
        if is_mirror(r.match, r.reach)
    ]
    return max(mirrors, key=lambda r: probability(r.match, r.reach), default=None)


HEAD = """\
import math
import numpy as np
import torch
from pkg.ops import gated, label, other, padded
"""

COPIES = {
    "as it is": """
def test_it(x, gate, up):
    out = gated(x, gate, up, 2.0)
    g = gate.clamp(max=7.0)
    u = up.clamp(-7.0, 7.0)
    a = g * torch.sigmoid(1.702 * g)
    n = x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
    torch.testing.assert_close(out, n * (u + 1) * a * 2.0)
""",
    "functions, other order, one expression": """
def test_it(x, first, second):
    low = torch.clamp(first, max=7)
    expected = 2.0 * (torch.sigmoid(low * 1.702) * low) * (
        1 + torch.clamp(second, min=-7, max=7)
    ) * torch.div(x, torch.sqrt(1e-6 + torch.mean(torch.pow(x, 2), dim=-1, keepdim=True)))
    assert torch.allclose(expected, gated(x, first, second, 2.0))
""",
    "in a helper": """
def reference(x, gate, up, factor):
    gate = torch.clamp_max(gate, 7.0)
    up = torch.clip(up, -7.0, 7.0)
    x = x * torch.rsqrt((x ** 2).mean(-1, keepdim=True) + 1e-6)
    return factor * x * (1 + up) * gate * (gate * 1.702).sigmoid()

def test_it():
    x, gate, up = torch.randn(3, 4, 8)
    torch.testing.assert_close(gated(x, gate, up, 3.0), reference(x, gate, up, 3.0))
""",
    "in place": """
def test_it(x, gate, up):
    expected = x / torch.sqrt(torch.mean(x ** 2, -1, keepdim=True) + 1e-6)
    g = gate.clamp(max=7.0)
    expected *= up.clamp(-7.0, 7.0) + 1
    expected *= g
    expected.mul_(torch.sigmoid(g * 1.702))
    assert torch.equal(gated(x, gate, up, 1.0), expected)
""",
    "with setUp": """
import unittest
class TestIt(unittest.TestCase):
    def setUp(self):
        self.rows, self.block = 10, 4
    def test_it(self):
        n = self.rows
        self.assertEqual(padded(n, 4), -(-n // 4) * 4 + n % 3)
""",
    "over cases": """
def test_it():
    for rows in (1, 5, 9):
        assert padded(rows, 4) == math.ceil(rows / 4) * 4 + rows % 3
""",
    "a text": """
def test_it(name, rank, size):
    message = "worker {} of rank {}/{}: ready".format(name, rank, size)
    assert label(name, rank, size) == message
""",
}


@pytest.mark.parametrize("test", COPIES.values(), ids=COPIES.keys())
def test_copies_are_found(test: str) -> None:
    found = best(HEAD + test)
    assert found is not None
    assert found.reach == CALLED
    assert found.entry.path == "pkg/ops.py"
    assert found.entry.function.qualname in test
    assert probability(found.match, found.reach) >= 0.6
    assert (found.helper is not None) == ("def reference" in test)


INDEPENDENT = {
    "written out": """
def test_it():
    assert padded(5, 4) == 10
""",
    "arithmetic of literals": """
def test_it():
    assert padded(5, 4) == 2 * 4 + 5 % 3
""",
    "brute force": """
def test_it(rows, block):
    size = next(n for n in range(rows, rows + block) if n % block == 0)
    assert padded(rows, block) - size in (0, 1, 2)
""",
    "an invariant": """
def test_it(x, gate, up):
    once = gated(x, gate, up, 1.0)
    torch.testing.assert_close(gated(x, gate, up, 4.0), 4.0 * once)
""",
    "another library": """
def test_it(x):
    order = np.argsort(-x.numpy())
    assert other(x).tolist() == order[1::-1].tolist()
""",
    "one operation": """
def test_it(x):
    assert other(x).tolist() == x.topk(2).indices.tolist()[::-1]
""",
    "shapes": """
def test_it(x, gate, up):
    assert gated(x, gate, up, 1.0).shape == x.shape
""",
    "an expression of production's own objects": """
from pkg.ops import Symbol
def test_it():
    x, y = Symbol("x"), Symbol("y")
    assert padded(x, y) == (x + y - 1) // y * y + x % 3
""",
    "no assertion": """
def test_it(x, gate, up):
    gated(x, gate, up, 1.0)
""",
}


@pytest.mark.parametrize("test", INDEPENDENT.values(), ids=INDEPENDENT.keys())
def test_independent_oracles_stay_quiet(test: str) -> None:
    assert best(HEAD + test) is None


def test_a_copy_that_is_never_compared_with_production_is_a_shadow() -> None:
    found, path = search("""
        import torch
        def gated(x, gate, up, scale):
            gate = gate.clamp(max=7.0)
            up = up.clamp(-7.0, 7.0)
            act = gate * torch.sigmoid(1.702 * gate)
            normed = x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt()
            return normed * (up + 1) * act * scale
        def test_it():
            x, gate, up = torch.randn(3, 4, 8)
            assert torch.equal(gated(x, gate, up, 2.0), 2.0 * gated(x, gate, up, 1.0))
    """)
    (test,) = found.tests_of(path)
    resemblance = found.resemblances(path, test)[0]
    assert not resemblance.calls_production
    assert resemblance.reach < NEARBY
    assert resemblance.entry.function.qualname == "gated"
    assert is_shadow(resemblance.match)


def test_aligned_lines_belong_together() -> None:
    found = best(HEAD + COPIES["as it is"])
    assert found is not None
    production = PRODUCTION.splitlines()
    test = (HEAD + COPIES["as it is"]).splitlines()
    pairs = {
        (test[here - 1].strip(), production[there - 1].strip())
        for here, there in found.match.aligned
    }
    assert ("a = g * torch.sigmoid(1.702 * g)", "act = gate * torch.sigmoid(1.702 * gate)") in pairs


def test_rarity_falls_with_frequency() -> None:
    tree = ast.parse("def f(a): return a.softmax(-1) + a.erf()\ndef g(a): return a.erf()")
    rarity = Rarity(file_fragments(tree).functions)
    assert rarity("softmax") > rarity("mul") > rarity("getitem") >= 0
    assert rarity("list") == 0


def test_reach() -> None:
    found, path = search("from pkg.ops import padded\ndef test_it(): assert padded(1, 2) == 3")
    (test,) = found.tests_of(path)
    index: Index = found.index
    reach = {
        index.entries[n].function.qualname: r for n, r in index.reach(path, test.calls).items()
    }
    assert reach["padded"] == 1.0
    assert reach["gated"] == 0.5


@pytest.mark.parametrize(
    "test",
    [
        "def test_it():\n" + "".join(f"    x{i} = 2 * {i}\n" for i in range(5000)) + "    assert f",
        "def f(n): return f(n - 1) + f(n - 2)\ndef test_it(): assert padded(3, 4) == f(30)",
        "def test_it(x): assert padded(eval(x), 4) == eval(x)",
        "def test_it():\n" + "".join(f"{'    ' * i}    for i{i} in range(30):\n" for i in range(9))
        + "    " * 10 + "assert padded(i0, 4) == i8 * i7",
        "def test_it(x): assert padded(x, 4) == " + "(" * 60 + "x" + " + 1)" * 60,
    ],
    ids=["long", "recursive", "eval", "nested loops", "deep"],
)  # fmt: skip
def test_bounded(test: str) -> None:
    started = time.perf_counter()
    assert best(HEAD + test) is None
    assert time.perf_counter() - started < 5
