"""`check --base` and `check --hook`: what a change brings, without a file that says so."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., str]

TEST_MODULE = """\
from gate.constants import OLD


def test_it():
    assert OLD
"""


def remove_pad(project: Path) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\n")


def found(text: str) -> list[tuple[str, str, int]]:
    document = json.loads(text)
    return [(f["rule"], f["path"], f["line"]) for f in document["findings"] if f["rule"] < "CG2"]


def test_what_the_revision_has_too_is_left_out(run, project: Path) -> None:
    assert run("check").code == 1
    done = run("check", "--base", "HEAD")
    assert done.code == 0
    assert "No new findings." in done.out
    assert "2 known findings left out." in done.out


def test_what_a_change_breaks_elsewhere_is_new(run, project: Path, git: Git) -> None:
    remove_pad(project)
    for _ in range(2):
        done = run("check", "--base", "HEAD", "--format", "json")
        assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_pad.py", 1)])
    git("commit", "-qam", "two")
    assert run("check", "--base", "HEAD").code == 0
    assert run("check", "--base", "HEAD~1").code == 1


def test_a_copy_of_a_known_finding_is_new(run, project: Path) -> None:
    path = project / "tests" / "test_old.py"
    path.write_text(TEST_MODULE + "\n\nfrom gate.constants import OLD\n")
    done = run("check", "--base", "HEAD", "--format", "json")
    assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_old.py", 8)])


def test_a_moved_file_brings_nothing_new(run, project: Path, git: Git) -> None:
    git("mv", "tests/test_old.py", "tests/test_older.py")
    assert run("check", "--base", "HEAD").code == 0
    (project / "tests" / "test_more.py").write_text(TEST_MODULE)
    done = run("check", "--base", "HEAD", "--format", "json")
    assert len(found(done.out)) == 1


def test_since_the_common_ancestor(run, project: Path, git: Git) -> None:
    """The finding that main has mended in the meantime is not this branch's."""
    git("switch", "-qc", "topic")
    (project / "gate" / "more.py").write_text("X = 1\n")
    git("add", "-A")
    git("commit", "-qm", "two")
    git("switch", "-q", "main")
    (project / "gate" / "constants.py").write_text("BASE = 7\nPAD = 8\nOLD = 9\n")
    git("commit", "-qam", "three")
    git("switch", "-q", "topic")
    assert run("check", "--base", "main").code == 0


@pytest.mark.parametrize(
    ("revision", "message"),
    [("nowhere", "unknown revision 'nowhere'"), ("--output=x", "unknown revision '--output=x'")],
)
def test_unknown_revisions(run, project: Path, revision: str, message: str) -> None:
    done = run("check", f"--base={revision}")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"contract-guard: {message}")
    assert not (project / "x").exists()


def test_no_repository(run, tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("import a.b\n")
    for option in (("--base", "HEAD"), ("--hook",)):
        done = run("check", "--root", str(tmp_path), "--no-cache", *option)
        assert (done.code, done.out) == (2, "")
        assert done.err.count("\n") == 1


def test_base_and_baseline_together(run, project: Path) -> None:
    """One stands in the baseline, one at the revision: the same one, and a copy is new."""
    run("baseline", "create", "--baseline", "known")
    arguments = ("check", "--base", "HEAD", "--baseline", "known")
    assert run(*arguments).code == 0
    path = project / "tests" / "test_old.py"
    path.write_text(TEST_MODULE + "\n\nfrom gate.constants import OLD\n")
    assert len(found(run(*arguments, "--format", "json").out)) == 1


def test_hook_looks_at_all_where_nothing_is_staged(run, project: Path) -> None:
    assert run("check", "--hook").code == 1


def test_hook_reports_what_the_commit_brings(run, project: Path, git: Git) -> None:
    remove_pad(project)
    git("add", "-A")
    done = run("check", "--hook", "--format", "json")
    assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_pad.py", 1)])


def test_hook_of_a_commit_of_a_message_alone(
    run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", ".git/index")
    assert run("check", "--hook").code == 0
    monkeypatch.setenv("GIT_INDEX_FILE", str(project.parent / "elsewhere"))
    assert run("check", "--hook").code == 1


def test_hook_takes_the_revision_of_pre_commit(
    run, project: Path, git: Git, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove_pad(project)
    git("commit", "-qam", "two")
    monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
    done = run("check", "--hook", "--format", "json")
    assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_pad.py", 1)])


ODD = ["test_new.py", "test_[a].py", "test_!#.py", "#test_b.py", "test_a b .py", "test_\\.py"]


@pytest.mark.parametrize("name", ODD)
def test_hook_leaves_untracked_files_out(run, project: Path, git: Git, name: str) -> None:
    (project / "gate" / "more.py").write_text("X = 1\n")
    git("add", "-A")
    (project / "tests" / name).write_text("from gate.constants import NEVER\n")
    assert run("check", "--base", "HEAD").code == 1
    assert run("check", "--hook").code == 0
    git("add", "-A")
    assert run("check", "--hook").code == 1


def test_hook_before_the_first_commit(run, project: Path, git: Git) -> None:
    git("update-ref", "-d", "HEAD")
    done = run("check", "--hook", "--format", "json")
    assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_old.py", 1)])


def test_hook_before_anything_is_added(run, project: Path, git: Git) -> None:
    git("update-ref", "-d", "HEAD")
    (project / ".git/index").unlink()
    done = run("check", "--hook")
    assert (done.code, done.out) == (0, "No findings. 0 files, 0 tests looked at.\n")
    assert done.err == f"contract-guard: warning: {project.resolve()}: no Python files\n"


def test_hook_in_a_merge_leaves_out_what_either_side_has(run, project: Path, git: Git) -> None:
    git("switch", "-qc", "topic")
    (project / "tests" / "test_theirs.py").write_text("from gate.constants import THEIRS\n")
    git("add", "-A")
    git("commit", "-qm", "two")
    git("switch", "-q", "main")
    remove_pad(project)
    git("commit", "-qam", "three")
    git("merge", "--no-commit", "topic")
    assert run("check", "--hook").code == 0
    path = project / "tests" / "test_more.py"
    path.write_text("from gate.constants import NEVER\n")
    git("add", "-A")
    done = run("check", "--hook", "--format", "json")
    assert (done.code, found(done.out)) == (1, [("CG101", "tests/test_more.py", 1)])


def test_hook_and_base_exclude_each_other(run, project: Path) -> None:
    done = run("check", "--hook", "--base", "HEAD")
    assert (done.code, done.out, done.err) == (
        2,
        "",
        "contract-guard: --base and --hook exclude each other\n",
    )


def test_the_repository_is_not_written_to(run, project: Path, git: Git) -> None:
    remove_pad(project)
    git("add", "-A")
    git("config", "core.fsmonitor", f"touch {project.parent / 'ran'}")
    git("config", "diff.external", f"touch {project.parent / 'ran'}")
    git("config", "filter.x.clean", f"touch {project.parent / 'ran'}")
    (project / ".git" / "info" / "attributes").write_text("* filter=x\n")
    before = {path: path.stat().st_mtime_ns for path in project.rglob("*")}
    assert run("check", "--hook").code == 1
    assert {path: path.stat().st_mtime_ns for path in project.rglob("*")} == before
    assert not (project.parent / "ran").exists()


def test_a_file_whose_name_is_not_utf_8_is_known_too(run, project: Path, git: Git) -> None:
    name = os.fsdecode(b"test_\xff.py")
    try:
        (project / "tests" / name).write_text("x = 1\n")
    except OSError:
        pytest.skip("the file system takes only UTF-8 names")
    folder = project / os.fsdecode(b"dir_\xff")
    folder.mkdir()
    (folder / "a.py").write_text("")
    first = json.loads(run("check", "--base", "HEAD", "--format", "json").out)
    assert [f["path"] for f in first["findings"]] == ["dir_\\udcff", "tests/test_\\udcff.py"]
    git("add", "-A")
    git("commit", "-qm", "names")
    assert json.loads(run("check", "--base", "HEAD", "--format", "json").out)["findings"] == []
