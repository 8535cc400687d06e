"""Verdicts by kind of copy: what is a warning, what a note, and what is an oracle."""

import ast
import textwrap

import pytest

from contract_guard.mirrors.copies import Copy, copies_in, is_note
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.search import Search

OPS = """
import triton

LIMIT_BASE = max(3, 40)
LIMIT_PER_ITEM = 12

class Pool:
    def __init__(self, runner=None, width=16):
        self.runner = runner
        self.slots = max(width - 1, 0) * runner.max_rows + runner.max_tokens

    def build(self, kind):
        found = []
        if self.row_names:
            found.append(self.row_names)
        if self.shard_row_names:
            found.append(self.shard_row_names)
        if self.pair_row_names:
            found.append(self.pair_row_names)
        return found

    def pull(self, ports, pulls):
        if len(ports) == 1:
            offset = ports[0].rank % pulls
        else:
            offset = len(ports) * 31 % pulls + ports[0].rank // pulls
        return offset

def is_over(failed, valid):
    return failed > LIMIT_BASE + LIMIT_PER_ITEM * valid

def aligned(size, step=512):
    return (size + step - 1) // step * step + size % 7

def logistic(values, slope):
    return 1 / (1 + (-slope * values).exp()) * slope + values.tanh() // 3

@triton.jit
def mapping_kernel(out, positions):
    pass

def uri(variant, target):
    return f"decode_module_{variant}_{target}"

def checked(rows, limit):
    if rows > limit:
        raise ValueError(f"there are {rows} rows, more than the limit of {limit}")
    if rows % 7:
        left = round(rows / limit * 100) % 7
        raise ValueError(f"of these rows {left} cannot be taken together")
    return rows

def spread(values):
    centred = values - values.mean()
    counts = np.bincount(centred)
    return (counts - counts.mean()) ** 2 / (counts.sum() - 1)

class Momentum:
    def __init__(self, weights, rate):
        self.weights, self.rate, self.state = weights, rate, {}

    def step(self):
        slope = self.weights.grad / self.weights.norm()
        self.state["average"] = slope * (1 - self.rate) + self.rate ** 2 * self.weights.mean()

class Grid:
    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns

def grid(rows, columns, step):
    return Grid(rows // step, columns % step)

def momentum(weights, rate):
    return Momentum(weights, rate)
"""
FALLBACK = """
def mapping(positions, block, world, rank, stride):
    virtual = block * world
    inner = positions % virtual
    is_local = inner // stride % world == rank
    local = inner // (world * stride) * stride + inner % stride
    return positions // virtual * block + local // block * stride + local % block, is_local

def budget(tokens, block, width):
    rounded = (tokens + block - 1) // block * block
    return rounded * 1.25 + tokens % 96 + width // 640 * 12
"""


def copies(test: str) -> tuple[Copy, ...]:
    head = "import numpy as np, pytest, torch\nfrom scipy import special\nfrom pkg import *\n"
    head += "from pkg import Pool, aligned, is_over, LIMIT_BASE, LIMIT_PER_ITEM, logistic, uri"
    head += ", checked, grid, spread, momentum\n"
    sources = {
        "pkg/__init__.py": "from pkg.ops import Pool, aligned, is_over, logistic, uri\n"
        "from pkg.ops import checked, grid, spread, momentum\n"
        "from pkg.ops import LIMIT_BASE, LIMIT_PER_ITEM, mapping_kernel\n",
        "pkg/ops.py": OPS,
        "lib/fallback.py": FALLBACK,
        "tests/test_it.py": head + textwrap.dedent(test),
    }
    trees = {path: ast.parse(source) for path, source in sources.items()}
    files = {path: file_fragments(tree) for path, tree in trees.items()}
    search = Search(files, frozenset({"tests/test_it.py"}), sources.__getitem__)
    return copies_in(search, "tests/test_it.py").copies


WARNINGS = {
    "through a name that the package exports again": """
def test_it(size):
    assert aligned(size) == -(-size // 512) * 512 + size % 7
""",
    "with a number worked out": """
def test_it(size):
    step = 2 * 256
    assert aligned(size, step) == (size + step - 1) // step * step + size % (6 + 1)
""",
    "of decisions alone": """
def test_it():
    pool = Pool(4)
    expected = []
    if pool.row_names:
        expected.append(pool.row_names)
    if pool.shard_row_names:
        expected.append(pool.shard_row_names)
    if pool.pair_row_names:
        expected.append(pool.pair_row_names)
    assert pool.build("rows") == expected
""",
    "from fields of what production gave": """
def test_it():
    ports = Pool(4).ports()
    pulls = ports[0].pulls
    expected = len(ports) * 31 % pulls + ports[0].rank // pulls
    assert Pool(4).pull(ports, pulls) == expected
""",
    "of the twin of a kernel": """
from pkg import mapping_kernel

def reference(positions, block, world, rank, stride):
    virtual = block * world
    inner = positions % virtual
    is_local = inner // stride % world == rank
    local = inner // (world * stride) * stride + inner % stride
    return positions // virtual * block + local // block * stride + local % block, is_local

def test_it(positions, out):
    mapping_kernel[(4,)](out, positions)
    assert out == reference(positions, 16, 4, 1, 8)
""",
    "of constants that production computes": """
def test_it(n):
    assert is_over(n, 5) == (n > LIMIT_BASE + LIMIT_PER_ITEM * 5)
""",
    "of a text": """
def test_it(variant, target):
    assert uri(variant, target) == f"decode_module_{variant}_{target}"
""",
    "of two operations that are all of a value": """
def test_it(runner):
    assert Pool(runner).slots == runner.max_tokens + 15 * runner.max_rows
""",
    "of all elements of what production made": """
def test_it(runner):
    pool = Pool(runner)
    assert all(row.size == runner.max_tokens + 15 * runner.max_rows for row in pool.slots)
""",
    "of what a method left in a field": """
def test_it(weights):
    optimizer = momentum(weights, 0.9)
    optimizer.step()

    def expected(slope):
        average = slope / weights.norm()
        return average * (1 - optimizer.rate) + optimizer.rate ** 2 * weights.mean()

    assert torch.allclose(optimizer.state["average"], expected(weights.grad))
""",
    "of a value in two pieces": """
def test_it(values):
    centred = values - values.mean()
    counts = np.bincount(centred)
    assert np.allclose(spread(values), (counts - counts.mean()) ** 2 / (counts.sum() - 1))
""",
}
NOTES = {
    "of operations that stand apart": """
def test_it(rows, columns, step):
    found = grid(rows, columns, step)
    assert (found.rows, found.columns) == (rows // step, columns % step)
""",
}
ORACLES = {
    "another library has a function of that name": """
def test_it(values):
    expected = special.logistic(values) + values.tanh() // 3 + 1 / (1 + (-values).exp())
    assert logistic(values, 1) == expected
""",
    "the routine of another library": """
def test_it(values):
    counts = special.histogram(values - values.mean())
    assert np.allclose(spread(values), (counts - counts.mean()) ** 2 / (counts.sum() - 1))
""",
    "the wording of an error": """
def test_it():
    rows, limit = 12, 10
    with pytest.raises(ValueError, match=f"there are {rows} rows, more than the limit of {limit}"):
        checked(rows, limit)
""",
    "the same is done to both sides": """
def test_it(values):
    first, second = logistic(values, 2), logistic(values.clone(), 2)
    assert (1 + (-first).exp()).tanh() // 3 == (1 + (-second).exp()).tanh() // 3
""",
    "one operation": """
def test_it(size):
    assert aligned(size, 1) == size % 7
""",
    "the shape": """
def test_it(values):
    assert logistic(values, 2).shape == (values.rows // 3, values.columns // 3)
""",
    "arithmetic of numbers": """
def test_it():
    assert aligned(1000, 512) == (1000 + 511) // 512 * 512 + 6
""",
}


@pytest.mark.parametrize("test", WARNINGS.values(), ids=WARNINGS.keys())
def test_warned_of(test: str) -> None:
    (found,) = copies(test)
    assert not found.is_slight
    assert found.production.path in ("pkg/ops.py", "lib/fallback.py")


@pytest.mark.parametrize("test", NOTES.values(), ids=NOTES.keys())
def test_noted(test: str) -> None:
    (found,) = copies(test)
    assert found.is_slight


@pytest.mark.parametrize("test", ORACLES.values(), ids=ORACLES.keys())
def test_quiet(test: str) -> None:
    assert copies(test) == ()


def test_a_value_computed_for_a_message_is_a_copy() -> None:
    (found,) = copies("""
def test_it(rows, limit):
    left = round(rows / limit * 100) % 7
    with pytest.raises(ValueError, match=f"of these rows {left} cannot be taken together"):
        checked(rows, limit)
""")
    assert (found.production.qualname, is_note(found)) == ("checked", False)


def test_a_routine_that_production_is_given_the_result_of_is_no_other_way() -> None:
    (found,) = copies("""
def test_it(values):
    values = special.erf(values)
    centred = values - values.mean()
    counts = np.bincount(centred)
    assert np.allclose(spread(values), (counts - counts.mean()) ** 2 / (counts.sum() - 1))
""")
    assert found.production.qualname == "spread"


def test_the_twin_of_a_kernel_needs_the_kernel() -> None:
    test = WARNINGS["of the twin of a kernel"]
    (found,) = copies(test)
    assert (found.is_twin, found.production.qualname) == (True, "mapping")
    other = test.replace("mapping_kernel", "other_kernel")
    assert (
        copies(other.replace("from pkg import other_kernel", "from lib import other_kernel")) == ()
    )


SHADOW = """
def budget(tokens, block, width):
    rounded = (tokens + block - 1) // block * block
    return rounded * 1.25 + tokens % {number} + width // 640 * 12 {more}

def test_it(tokens):
    assert budget(tokens, 4, 1280) >= tokens
"""


@pytest.mark.parametrize(
    ("number", "more", "parts"), [(96, "", False), (128, "", True), (96, "+ width", True)]
)
def test_where_copies_part(number: int, more: str, parts: bool) -> None:
    (found,) = copies(SHADOW.format(number=number, more=more))
    assert found.is_shadow
    lines = FALLBACK.splitlines()
    expected = lines.index("    return rounded * 1.25 + tokens % 96 + width // 640 * 12") + 1
    assert found.match.parting == ((8, expected) if parts else None)
