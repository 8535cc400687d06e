"""`make demo` tells the story of the example's history."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

DEMO = Path(__file__).parents[2] / "examples" / "pad_free" / "demo.py"


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the demo prints at each commit."""
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        capture_output=True,
        text=True,
        cwd=tmp_path_factory.mktemp("elsewhere"),
    )
    assert (done.returncode, done.stderr) == (0, "")
    parts = re.split(r"^=== Commit \d, ([\w-]+)\.", done.stdout, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def exit_codes(text: str) -> list[int]:
    return [int(code) for code in re.findall(r"^\(exit (\d)\)$", text, flags=re.M)]


def test_all_four_commits(stops: dict[str, str]) -> None:
    assert list(stops) == ["before", "removal", "repair", "five-ids"]


def test_before_the_test_copies_the_gate_and_its_mask(stops: dict[str, str]) -> None:
    assert "CG301 mirrored-logic" in stops["before"]
    assert "CG303 mirrored-predicate" in stops["before"]
    assert exit_codes(stops["before"]) == [1]


def test_the_removal_costs_28_tests(stops: dict[str, str]) -> None:
    assert "collection error, 28 tests lost  CG101 missing-name" in stops["removal"]
    assert "removed gate.constants:IMAGE_PAD_ID = 129279" in stops["removal"]
    assert exit_codes(stops["removal"]) == [1, 1]


def test_the_repair_breaks_nothing(stops: dict[str, str]) -> None:
    assert "No contract changed." in stops["repair"]
    assert exit_codes(stops["repair"]) == [0]


def test_the_stale_mask_is_named(stops: dict[str, str]) -> None:
    assert "tests/test_gate.py:33: mirror: silent" in stops["five-ids"]
    assert "CG402 divergent-rule" in stops["five-ids"]
    assert exit_codes(stops["five-ids"]) == [0, 1]
