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
