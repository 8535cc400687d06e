"""`--fix`, `--diff`, `--unsafe-fixes` and `--extract` of `check` and `diff`."""

import importlib.util
import json
import subprocess
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "pad_free"
MOVED = {
    "gate/constants.py": "BASE = 7\n",
    "gate/ids.py": "PAD_ID = 8\n",
    "tests/test_pad.py": "from gate.constants import PAD_ID\n\n\n"
    "def test_it():\n    assert PAD_ID\n",
}


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    root = tmp_path / "moved"
    files = {"pyproject.toml": "[tool.contract_guard]\n", "gate/__init__.py": "", **MOVED}
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def test_fix_writes_and_reports_what_is_left(run, moved: Path) -> None:
    done = run("check", str(moved), "--fix", "--no-cache")
    assert done.code == 0
    assert "contract-guard: 1 finding mended in 1 file\n" in done.err
    assert (moved / "tests/test_pad.py").read_text().startswith("from gate.ids import PAD_ID\n")
    again = run("check", str(moved), "--fix", "--no-cache")
    assert (again.code, again.err) == (0, "")


def test_diff_shows_and_writes_nothing(run, moved: Path, tmp_path: Path) -> None:
    done = run("check", str(moved), "--diff", "--no-cache")
    assert done.code == 1
    assert done.out == (
        "--- a/tests/test_pad.py\n"
        "+++ b/tests/test_pad.py\n"
        "@@ -1,4 +1,4 @@\n"
        "-from gate.constants import PAD_ID\n"
        "+from gate.ids import PAD_ID\n"
        " \n"
        " \n"
        " def test_it():\n"
    )
    assert (moved / "tests/test_pad.py").read_text() == MOVED["tests/test_pad.py"]
    out = tmp_path / "fix.patch"
    assert run("check", str(moved), "--diff", "--no-cache", "--output-file", str(out)).code == 1
    assert out.read_text() == done.out


def test_exit_code_is_that_of_what_is_left(run, moved: Path) -> None:
    (moved / "tests/test_other.py").write_text("from gate.constants import GONE\n")
    done = run("check", str(moved), "--fix", "--no-cache")
    assert done.code == 1
    assert "GONE" in done.out
    assert "PAD_ID" not in done.out


def test_a_read_only_file_stays_and_is_said_to(run, moved: Path) -> None:
    (moved / "tests/test_pad.py").chmod(0o444)
    done = run("check", str(moved), "--fix", "--no-cache")
    assert done.code == 1
    assert "tests/test_pad.py: left as it is: it is read-only" in done.err
    assert "mended in 0 files" in done.err


def test_unsafe_fixes_are_told_of(run, moved: Path) -> None:
    test = moved / "tests/test_close.py"
    test.write_text("import torch\n\n\ndef test_it(a, b):\n    torch.allclose(a, b)\n")
    done = run("check", str(moved), "--fix", "--no-cache", "--select", "CG306")
    assert "contract-guard: 1 more finding can be mended with --unsafe-fixes" in done.err
    assert done.code == 1
    done = run("check", str(moved), "--fix", "--unsafe-fixes", "--no-cache", "--select", "CG306")
    assert done.code == 0
    assert test.read_text().endswith("    assert torch.allclose(a, b)\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--fix", "--diff"), "--fix writes and --diff only shows: give one of them"),
        (("--unsafe-fixes",), "--unsafe-fixes goes with --fix or --diff"),
        (("--name", "x"), "--name goes with --extract"),
        (("--extract", "a.py:1", "--fix"), "--extract writes by itself: leave out --fix"),
        (("--extract", "tests"), "'tests' is no place: write PATH:LINE"),
    ],
)
def test_options_that_do_not_go_together(run, moved: Path, arguments, message: str) -> None:
    done = run("check", str(moved), "--no-cache", *arguments)
    assert done.code == 2
    assert done.err == f"contract-guard: {message}\n"


def test_diff_mends_the_working_tree_alone(run, moved: Path) -> None:
    done = run("diff", "HEAD~1", "HEAD", "--fix", "--root", str(moved))
    assert done.code == 2
    assert (
        done.err == "contract-guard: --fix and --diff mend the working tree: they take BASE alone\n"
    )


@pytest.fixture
def history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    spec = importlib.util.spec_from_file_location("replay", EXAMPLE / "replay.py")
    assert spec is not None
    assert spec.loader is not None
    replay = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(replay)
    replay.replay(tmp_path / "pad_free")
    monkeypatch.chdir(tmp_path / "pad_free")
    return tmp_path / "pad_free"


def checkout(history: Path, tag: str) -> None:
    subprocess.run(["git", "checkout", "--quiet", tag], cwd=history, check=True)


def test_the_repair_of_the_example_is_the_recorded_one(run, history: Path) -> None:
    checkout(history, "repair")
    wanted = (history / "tests/test_gate.py").read_bytes()
    checkout(history, "removal")
    broken = (history / "tests/test_gate.py").read_bytes()
    safe = run("diff", "HEAD~1", "--fix", "--no-cache")
    assert safe.code == 1
    assert (history / "tests/test_gate.py").read_bytes() == broken
    done = run("diff", "HEAD~1", "--fix", "--unsafe-fixes", "--no-cache")
    assert done.code == 0
    assert (history / "tests/test_gate.py").read_bytes() == wanted
    assert "CG307" in done.out


def test_the_rule_of_the_example_moved_out(run, history: Path) -> None:
    checkout(history, "five-ids")
    shown = run("check", "--extract", "tests/test_gate.py:33", "--diff", "--no-cache")
    assert shown.code == 1
    assert "+def is_image_position(ids):" in shown.out
    past = run("check", "--extract", "tests/test_gate.py:3300", "--no-cache")
    lines = len((history / "tests/test_gate.py").read_text().splitlines())
    assert past.err.endswith(f"tests/test_gate.py:3300: the file has {lines} lines\n")
    with_column = run("check", "--extract", "tests/test_gate.py:33:5", "--diff", "--no-cache")
    assert with_column.out == shown.out
    done = run("check", "--extract", "tests/test_gate.py:33", "--name", "is_image", "--no-cache")
    assert done.code == 2
    assert "give --name" in done.err
    place = ("--extract", "tests/test_gate.py:33", "--name", "is_image_id")
    done = run("check", *place, "--no-cache", "--select", "CG1,CG303")
    assert done.code == 0
    assert "mask = is_image_id(ids)" in (history / "tests/test_gate.py").read_text()
    assert "is_image = is_image_id(ids)" in (history / "gate/router.py").read_text()


@pytest.fixture
def renamed(tmp_path: Path) -> Path:
    """A repository whose working tree renames a constant and takes another away."""
    root = tmp_path / "renamed"
    files = {
        "pyproject.toml": "[tool.contract_guard]\n",
        "gate/__init__.py": "",
        "gate/ids.py": "PAD_ID = 8\nBASE_ID = 7\n",
        "tests/test_pad.py": "from gate.ids import PAD_ID\n\n\ndef test_it():\n    assert PAD_ID\n",
        "tests/test_base.py": "from gate.ids import BASE_ID\n\n\ndef test_it():\n    f(BASE_ID)\n",
    }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "first")
    (root / "gate/ids.py").write_text("PAD_TOKEN = 8\n")
    return root


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *who, *arguments], cwd=root, check=True)


def test_diff_says_what_it_would_mend(run, renamed: Path) -> None:
    place = ("--root", str(renamed), "--no-cache")
    found = json.loads(run("diff", "HEAD", *place, "--format", "json").out)["findings"]
    assert {f["symbol"]: f["fixable"] for f in found} == {
        "gate.ids:PAD_ID": "safe",
        "gate.ids:BASE_ID": "no",
    }
    for format in ("concise", "rich", "github"):
        done = run("diff", "HEAD", *place, "--format", format)
        assert "\n1 finding can be mended with --fix.\n" in done.out
    left = run("diff", "HEAD", *place, "--fix")
    assert "contract-guard: 1 finding mended in 1 file\n" in left.err
    assert "PAD_TOKEN" in (renamed / "tests/test_pad.py").read_text()
    assert "can be mended" not in left.out


def test_between_commits_nothing_is_said_of_mending(run, renamed: Path) -> None:
    git(renamed, "commit", "--quiet", "--all", "--message", "second")
    done = run("diff", "HEAD~1", "HEAD", "--root", str(renamed), "--no-cache")
    assert done.code == 1
    assert "can be mended" not in done.out


def test_check_says_what_it_would_mend(run, moved: Path) -> None:
    test = moved / "tests/test_close.py"
    test.write_text("import torch\n\n\ndef test_it(a, b):\n    torch.allclose(a, b)\n")
    line = "1 finding can be mended with --fix, 1 more perhaps with --unsafe-fixes.\n"
    assert line in run("check", str(moved), "--no-cache").out
    only = run("check", str(moved), "--no-cache", "--select", "CG306").out
    assert "1 finding can perhaps be mended with --fix --unsafe-fixes.\n" in only
    assert "can be mended" not in run("check", str(moved), "--no-cache", "--quiet").out


def test_the_hook_before_the_first_commit(run, renamed: Path) -> None:
    git(renamed, "update-ref", "-d", "HEAD")
    done = run("diff", "HEAD", "--fix", "--hook", "--root", str(renamed), "--no-cache")
    assert done == (0, "", "")
    assert run("diff", "HEAD", "--fix", "--root", str(renamed), "--no-cache").code == 2


def test_the_hook_leaves_untracked_files_alone(run, renamed: Path) -> None:
    test = (renamed / "tests/test_pad.py").read_text()
    git(renamed, "add", "--all")
    (renamed / "tests/test_new.py").write_text(test)
    command = ("diff", "HEAD", "--root", str(renamed), "--no-cache")
    assert "tests/test_new.py" in run(*command).out
    done = run(*command, "--fix", "--hook")
    assert "contract-guard: 1 finding mended in 1 file\n" in done.err
    assert "tests/test_new.py" not in done.out
    assert (renamed / "tests/test_new.py").read_text() == test
    assert "PAD_TOKEN" in (renamed / "tests/test_pad.py").read_text()


def test_the_hook_takes_no_second_revision(run, renamed: Path) -> None:
    done = run("diff", "HEAD", "HEAD", "--hook", "--root", str(renamed))
    message = "--hook looks at what is about to be committed: it takes BASE alone"
    assert done == (2, "", f"contract-guard: {message}\n")


def test_diff_does_not_mend_other_projects(run, moved: Path) -> None:
    options = ("--consumers", str(moved), "--root", str(moved))
    done = run("diff", "HEAD~1", "--fix", *options)
    assert done.code == 2
    assert (
        done.err
        == "contract-guard: --fix and --diff mend this project alone: leave out --consumers\n"
    )


def test_diff_counts_lines_as_python_does(run, moved: Path) -> None:
    """A form feed, or a separator inside of a text, ends no line."""
    test = moved / "tests/test_pad.py"
    test.write_text("X = 'a\x0cb\u2028c'\n" + test.read_text("utf-8"), "utf-8")
    done = run("check", str(moved), "--no-cache", "--diff")
    assert " X = 'a\\x0cb\\u2028c'\n" in done.out
