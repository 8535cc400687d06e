"""The example's history is what its README says it is."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "pad_free"


def git(repository: Path, *arguments: str) -> str:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return subprocess.run(
        ["git", *arguments], cwd=repository, env=clean, check=True, capture_output=True, text=True
    ).stdout


def replay(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLE / "replay.py"), *arguments], capture_output=True, text=True
    )


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("history") / "pad_free"
    done = replay(str(target))
    assert done.returncode == 0, done.stderr
    return target


def run_tests(history: Path, tag: str, target: Path) -> tuple[int, str]:
    git(history, "worktree", "add", "--quiet", "--detach", str(target), tag)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
        cwd=target,
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout


def test_four_tagged_commits_in_order(history: Path) -> None:
    log = git(history, "log", "--reverse", "--format=%D").splitlines()
    assert [line.split("tag: ")[1] for line in log] == ["before", "removal", "repair", "five-ids"]
    assert git(history, "status", "--short") == ""


def test_replayed_twice_the_commits_are_the_same(history: Path, tmp_path: Path) -> None:
    assert replay(str(tmp_path / "again")).returncode == 0
    ids = [git(place, "rev-parse", "main") for place in (history, tmp_path / "again")]
    assert ids[0] == ids[1]


def test_the_repair_is_three_lines(history: Path) -> None:
    numbers = git(history, "diff", "--numstat", "removal", "repair").split()
    assert numbers == ["3", "3", "tests/test_gate.py"]


def test_the_removal_leaves_the_tests_alone(history: Path) -> None:
    changed = git(history, "diff", "--name-only", "before", "removal").split()
    assert changed == ["gate/constants.py", "gate/preprocess.py"]


def test_last_commit_parts_gate_and_helper(history: Path) -> None:
    namespace: dict[str, object] = {}
    exec(git(history, "show", "five-ids:gate/constants.py"), namespace)
    first, count = namespace["IMAGE_SENTINEL_BASE_ID"], namespace["IMAGE_SENTINEL_COUNT"]
    assert (first, count) == (129252, 5)
    unchanged = git(history, "diff", "--name-only", "repair", "five-ids").split()
    assert unchanged == ["gate/constants.py", "gate/router.py"]
    mask = ast.parse(git(history, "show", "five-ids:gate/preprocess.py")).body[3]
    assert isinstance(mask, ast.FunctionDef)
    assert ast.unparse(mask.body[1]) == "return ids == IMAGE_SENTINEL_BASE_ID"


def test_a_directory_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = replay(str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == f"replay.py: {tmp_path} is not an empty directory: name a new one\n"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_removal_loses_28_tests_at_collection(history: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code, output = run_tests(history, "removal", tmp_path / "removal")
    assert code == 2
    assert "cannot import name 'IMAGE_PAD_ID' from 'gate.constants'" in output
    assert "1 error" in output


def test_stale_mask_stays_green(history: Path, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    code, output = run_tests(history, "five-ids", tmp_path / "five")
    assert (code, "32 passed" in output) == (0, True)
