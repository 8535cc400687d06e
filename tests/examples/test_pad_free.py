"""The example's history is what its README says it is."""

import ast
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from contract_guard.findings import Confirmation
from contract_guard.project.check import check
from contract_guard.project.config import Config
from contract_guard.project.confirm import confirmed
from contract_guard.project.diff import diff

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


@pytest.fixture(scope="module")
def states(history: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A work tree for each commit."""
    places = tmp_path_factory.mktemp("states")
    for tag in ("before", "removal", "repair", "five-ids"):
        git(history, "worktree", "add", "--quiet", "--detach", str(places / tag), tag)
    return {path.name: path for path in places.iterdir()}


def mirrors(root: Path) -> list[tuple[str, str, int, str]]:
    checked = check(root, Config(), select=("CG3",), cache_dir=None)
    return [(f.rule, f.path, f.line, f.symbol) for f in checked.findings]


@pytest.mark.parametrize("tag", ["before", "repair", "five-ids"])
def test_routing_and_mask_are_copies(states: dict[str, Path], tag: str) -> None:
    found = mirrors(states[tag])
    assert ("CG301", "tests/test_gate.py", 32, "gate.router:ImageAwareGate.forward") in found
    assert [entry[:3] for entry in found if entry[0] == "CG303"] == [
        ("CG303", "tests/test_gate.py", 33)
    ]


def test_the_mask_is_named_with_its_helper(states: dict[str, Path]) -> None:
    checked = check(states["repair"], Config(), select=("CG303",), cache_dir=None)
    (finding,) = checked.findings
    assert finding.symbol == "gate.constants:IMAGE_SENTINEL_BASE_ID"
    assert finding.message.endswith("`gate.preprocess:image_mask` has the same one")
    assert [(r.path, r.line, r.qualname) for r in finding.related] == [
        ("gate/preprocess.py", 10, "image_mask")
    ]


def test_inputs_reach_all_ids_until_there_are_five(states: dict[str, Path]) -> None:
    narrowed = {tag: [f for f in mirrors(root) if f[0] == "CG307"] for tag, root in states.items()}
    assert narrowed == {
        "before": [],
        "removal": [],
        "repair": [],
        "five-ids": [("CG307", "tests/test_gate.py", 27, "gate.constants:IMAGE_SENTINEL_BASE_ID")],
    }


def findings_of(history: Path, base: str, head: str) -> list[tuple[str, int, str]]:
    found = diff(history, Config(), base, head, select=("CG3",), cache_dir=None).findings
    return [(f.rule, f.line, f.symbol) for f in found]


def test_the_repair_makes_two_inputs_one(history: Path) -> None:
    assert findings_of(history, "removal", "repair") == [
        ("CG307", 27, "gate.constants:IMAGE_PAD_ID")
    ]


def test_the_copies_part_where_one_side_changes(history: Path) -> None:
    assert findings_of(history, "before", "removal") == [
        ("CG310", 33, "gate.preprocess:image_mask")
    ]
    assert findings_of(history, "repair", "five-ids") == [
        ("CG310", 32, "gate.router:ImageAwareGate.forward")
    ]


def test_run_on_drawn_ids_the_copies_part(states: dict[str, Path]) -> None:
    pytest.importorskip("torch")
    checked = check(states["five-ids"], Config(), select=("CG301",), cache_dir=None)
    (finding,) = confirmed(states["five-ids"], checked.findings)
    assert isinstance(finding.confirmed, Confirmation)
    assert finding.confirmed.status == "part"
    ids = [int(word) for word in finding.confirmed.at["ids"].strip("[]").split(",")]
    assert any(129252 < number < 129257 for number in ids)


def gate(place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("torch")
    shutil.copy(EXAMPLE / "contract_guard.toml", place / ".contract_guard.toml")
    command = [sys.executable, "-m", "contract_guard", "gate", *arguments]
    return subprocess.run(command, cwd=place, capture_output=True, text=True)


LOST = "  line 33: IMAGE_SENTINEL_BASE_ID or 129279 is taken"


def test_the_repair_loses_the_inputs_that_told_the_old_rule(states: dict[str, Path]) -> None:
    pytest.importorskip("torch")
    untold = {
        tag: gate(states[tag], "mirror", "tests/test_gate.py::test_routing", "--inputs").stdout
        for tag in ("before", "repair")
    }
    assert "of 36 changes of the rule, the test's inputs do not tell 17:" in untold["before"]
    assert LOST not in untold["before"].splitlines()
    assert "of 24 changes of the rule, the test's inputs do not tell 8:" in untold["repair"]
    assert LOST in untold["repair"].splitlines()


def test_the_gate_and_its_mirror_part_on_the_mask_alone(states: dict[str, Path]) -> None:
    options = ("--device", "cpu", "--seed", "0", "--rows", "4000", "--no-evidence")
    done = gate(states["five-ids"], "run", *options, "--format", "json")
    assert done.returncode == 1, done.stderr
    run = json.loads(done.stdout)["runs"][0]
    assert run["properties"]["gate = oracle"].startswith("agree: ")
    (bucket,) = run["buckets"]
    assert bucket["label"] == "mirror: mask rule"
    assert bucket["minimal"]["tokens"] == 1
    assert 129253 <= bucket["minimal"]["token_id"] <= 129256
    again = gate(states["five-ids"], *shlex.split(bucket["replay"])[2:])
    assert again.returncode == 1, again.stderr
    assert "mirror: mask rule: 1 of 1 rows" in again.stdout
