"""What counts together as evidence of one copy, and which test is told of it."""

import ast
import textwrap

from contract_guard.mirrors.copies import Copy, copies_in
from contract_guard.mirrors.evidence import Compared, together
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.search import Search

REGION = """
import torch

class Normal:
    def region(self, mean, stddev):
        lower = mean - 2 * stddev.sqrt()
        upper = mean + 2 * stddev.sqrt()
        return lower, upper
"""


def copies(test: str, production: str = REGION) -> tuple[Copy, ...]:
    sources = {
        "pkg/__init__.py": "",
        "pkg/ops.py": production,
        "tests/test_ops.py": textwrap.dedent(test),
    }
    files = {path: file_fragments(ast.parse(source)) for path, source in sources.items()}
    search = Search(files, frozenset({"tests/test_ops.py"}), sources.__getitem__)
    return copies_in(search, "tests/test_ops.py").copies


def test_what_stands_together_and_what_shares_steps() -> None:
    values = [
        Compared(frozenset({1, 2}), 10),
        Compared(frozenset({3}), 12),
        Compared(frozenset({1, 9}), 40),
        Compared(frozenset({2, 7}), 60),
    ]
    assert together(values, {2}) == [frozenset({1, 9}), frozenset({1, 2, 3, 7})]
    assert together(values, set()) == [
        frozenset({1, 2, 3}),
        frozenset({1, 9}),
        frozenset({2, 7}),
    ]


def test_an_assertion_far_above_is_no_part_of_a_copy() -> None:
    (copy,) = copies(
        """
        import torch
        from pkg.ops import Normal

        def test_region():
            mean, stddev = torch.rand(3), torch.rand(3)
            moved = mean + 1
            assert torch.equal(Normal().region(moved, stddev)[0], mean + 1)
            assert mean.ndim
            print(mean)
            print(mean)
            print(mean)
            print(mean)
            lower, upper = Normal().region(mean, stddev)
            assert torch.equal(lower, mean - 2 * stddev.sqrt())
            assert torch.equal(upper, mean + 2 * stddev.sqrt())
        """
    )
    assert {line for line, _ in copy.match.aligned} == {15, 16}


def test_a_test_that_another_test_runs_is_no_helper() -> None:
    found = copies(
        """
        import torch
        from pkg.ops import Normal

        class TestNormal:
            def test_region(self, device="cpu"):
                mean, stddev = torch.rand(3, device=device), torch.rand(3, device=device)
                lower, upper = Normal().region(mean, stddev)
                assert torch.equal(lower, mean - 2 * stddev.sqrt())
                assert torch.equal(upper, mean + 2 * stddev.sqrt())

            def test_region_cuda(self):
                self.test_region(device="cuda")
        """
    )
    assert [(copy.test.qualname, copy.helper) for copy in found] == [
        ("TestNormal.test_region", None)
    ]


SIBLINGS = """
import torch

class Plain:
    def __init__(self, start):
        self.start = start

    def forward(self, x):
        squared = torch.linalg.norm(x - self.start, dim=-1) ** 2
        return squared.max(dim=-1).values.clamp(min=0.5).sqrt().log1p()

class Bent:
    def __init__(self, start):
        self.start = start

    def forward(self, x):
        squared = torch.linalg.norm(x - self.start, ord=2, dim=-1) ** 2
        return squared.max(dim=-1).values.clamp(min=0.5).sqrt().log1p()
"""


def test_what_the_test_calls_is_named_before_a_sibling_with_a_little_more_of_it() -> None:
    (copy,) = copies(
        """
        import torch
        from pkg.ops import Plain

        def test_plain():
            start, x = torch.ones(3), torch.rand(4, 3)
            module = Plain(start)
            squared = torch.linalg.norm(x - start, ord=2, dim=-1) ** 2
            want = squared.max(dim=-1).values.clamp(min=0.5).sqrt().log1p()
            assert torch.equal(module(x), want)
        """,
        SIBLINGS,
    )
    assert copy.production.qualname == "Plain.forward"


WEIGHTED = """
class Ensemble:
    def merge(self, other, p=None):
        if p is None:
            p = 0.5
        merged = Ensemble()
        merged.trace = p * self.trace + (1 - p) * other.trace
        merged.weight = p * self.weight ** 2 + (1 - p) * other.weight ** 3
        return merged

class Times:
    def log_prob(self, x):
        count = x.shape[-1]
        scaled = -count * self.rate.log()
        return (x.abs().exp().sum(-1) - scaled) * 3
"""


def test_a_relation_of_two_results_of_one_function_is_a_property() -> None:
    assert not copies(
        """
        from pkg.ops import Ensemble, Times

        def test_merge():
            p = 0.25
            a, b = Ensemble(), Ensemble()
            merged = a.merge(b, p)
            assert merged.trace == p * a.trace + (1 - p) * b.trace

        def test_rescaled(x, rate):
            first = Times().log_prob(x)
            scaled = -x.shape[-1] * rate.log()
            assert (first - scaled) * 3 == Times(rate).log_prob(x / rate)
        """,
        WEIGHTED,
    )


LOOP = """
import torch

def score(pred, truth):
    error = (pred - truth).abs().pow(3).mean(0)
    spread = torch.sort(pred, dim=0).values.cumsum(0)
    return (error - spread.log1p() * 0.5) / 7

def _legacy_like(x, bits):
    return ((x.abs() + bits).log1p() * 3 - bits).sqrt()
"""
SCORED = """
import torch
from pkg.ops import score

def test_score():
    pred, truth = torch.rand(4), torch.rand(4)
    error = (pred - truth).abs().pow(3).mean(0)
    {comment}
    spread = (pred - pred.unsqueeze(1)).tanh().mean(0)
    assert torch.equal(score(pred, truth), (error - spread.log1p() * 0.5) / 7)
"""


def test_another_way_by_its_comment_is_a_note() -> None:
    (plain,) = copies(SCORED.format(comment="# half of the spread"), LOOP)
    (naive,) = copies(SCORED.format(comment="# the naive solution, O(n^2)"), LOOP)
    assert (plain.is_slight, naive.is_slight) == (False, True)


def test_a_size_that_a_table_is_laid_out_by_is_not_computed_for_it() -> None:
    production = """
import torch

def grid(count):
    size = count * (count - 1) // 2
    return torch.empty(size).fill_(3).reshape(2, size)
"""
    assert not copies(
        """
        import torch
        import pytest
        from pkg.ops import grid

        @pytest.mark.parametrize("count, expected", [(3, [[0, 0, 1], [1, 2, 2]])])
        def test_grid(count, expected):
            size = count * (count - 1) // 2
            assert torch.equal(grid(count), torch.tensor(expected).reshape(2, size))
        """,
        production,
    )


PATCHES = """
import torch

def patches(images, size):
    count, height, width, channels = images.shape
    rows, columns = height // size, width // size
    images = images.reshape(count, rows, size, columns, size, channels)
    images = images.transpose(2, 3)
    return images.reshape(count, rows * columns, size * size * channels)
"""


def test_the_sizes_by_which_elements_are_moved_are_what_is_copied() -> None:
    (copy,) = copies(
        """
        import torch
        from pkg.ops import patches

        def test_patches():
            images, size = torch.rand(2, 8, 8, 3), 4
            count, height, width, channels = images.shape
            rows, columns = height // size, width // size
            want = images.reshape(count, rows, size, columns, size, channels)
            want = want.transpose(2, 3)
            want = want.reshape(count, rows * columns, size * size * channels)
            assert torch.equal(patches(images, size), want)
        """,
        PATCHES,
    )
    assert (copy.production.qualname, copy.is_slight) == ("patches", False)


def test_two_operations_that_share_no_name_are_a_note() -> None:
    production = """
def squares(signals, batch):
    return signals[batch].pow(2).mean(0)

def scaled(weights, offset):
    return offset + weights.norm()
"""
    found = copies(
        """
        from pkg.ops import scaled, squares

        def test_squares(x):
            assert squares(x, 3) == x.pow(2).mean(0)

        def test_scaled(weights, offset):
            assert scaled(weights, offset) == offset + weights.norm()
        """,
        production,
    )
    assert {copy.test.qualname: copy.is_slight for copy in found} == {"test_squares": True} | {
        copy.test.qualname: False for copy in found if copy.test.qualname == "test_scaled"
    }
