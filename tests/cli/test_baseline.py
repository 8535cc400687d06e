"""`contract-guard baseline`, and `check` beside one."""

import json
import os
import shutil
from pathlib import Path

import pytest

from contract_guard.project.rules import rules_directory

NAME = "contracts.baseline"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A test module that imports a name that is gone; no baseline yet."""
    root = tmp_path / "project"
    shutil.copytree(rules_directory() / "CG902" / "good", root)
    (root / NAME).unlink()
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def rules(text: str) -> list[tuple[str, str]]:
    return [(f["rule"], f["path"]) for f in json.loads(text)["findings"] if f["severity"] != "note"]


def test_accepted_findings_are_left_out(run, project: Path) -> None:
    assert run("check").code == 2
    assert run("baseline", "create") == (0, f"{NAME}: 1 finding accepted.\n", "")
    done = run("check", "--format", "json")
    assert (done.code, rules(done.out)) == (0, [])
    assert json.loads(done.out)["summary"]["known"] == 1
    assert run("check").out.endswith(
        "1 known finding left out. Notes are counted only; --select CG201 lists them.\n"
    )


def test_quiet(run, project: Path) -> None:
    assert run("baseline", "create", "-q") == (0, "", "")
    assert run("baseline", "update", "--quiet") == (0, "", "")
    assert run("baseline", "check", "-q") == (0, "", "")
    (project / "tests/test_pad.py").write_text("")
    done = run("baseline", "check", "-q")
    assert (done.code, done.err) == (1, "")
    assert [line.split()[1:3] for line in done.out.splitlines()] == [["CG902", "warning:"]]


def test_the_example_of_the_rule(run, project: Path) -> None:
    for name, expected in (("good", []), ("bad", [("CG902", NAME)])):
        root = rules_directory() / "CG902" / name
        done = run("check", "--root", str(root), "--no-cache", "--format", "json")
        assert rules(done.out) == expected
        assert done.code == len(expected)


def test_a_copy_of_a_known_finding_is_new(run, project: Path) -> None:
    run("baseline", "create")
    path = project / "tests" / "test_pad.py"
    path.write_text(path.read_text() + "\n\nfrom pkg.constants import GONE\n")
    done = run("check", "--format", "json")
    assert (done.code, rules(done.out)) == (1, [("CG101", "tests/test_pad.py")])
    added = f"{NAME}: 2 findings accepted: 1 added, 0 removed.\n"
    assert run("baseline", "update").out == added
    assert run("baseline", "update").out == f"{NAME}: 2 findings accepted: as before.\n"
    assert run("check").code == 0


def test_an_edit_elsewhere_does_not_make_it_new(run, project: Path) -> None:
    run("baseline", "create")
    path = project / "tests" / "test_pad.py"
    path.write_text(f"import os\n\n\n{path.read_text()}")
    assert run("check").code == 0


def test_stale_entries_fail_until_they_are_taken_out(run, project: Path) -> None:
    run("baseline", "create")
    (project / "pkg" / "constants.py").write_text("PAD = GONE = 1\n")
    (project / "tests" / "test_more.py").write_text("from pkg.constants import NEW\n")
    done = run("baseline", "check")
    assert done.code == 1
    assert done.out.startswith(f"{NAME}:4:1: CG902 warning: the baseline holds CG101 on")
    assert rules(run("check", "--format", "json").out) == [
        ("CG902", NAME),
        ("CG101", "tests/test_more.py"),
    ]
    removed = f"{NAME}: 0 findings accepted: 0 added, 1 removed.\n"
    assert run("baseline", "update", "--prune").out == removed
    assert rules(run("check", "--format", "json").out) == [("CG101", "tests/test_more.py")]
    assert run("baseline", "check").code == 0


def test_entries_that_were_not_looked_for_are_not_stale(run, project: Path) -> None:
    run("baseline", "create")
    (project / "pkg" / "constants.py").write_text("PAD = GONE = 1\n")
    for arguments in (("--select", "CG102,CG9"), ("pkg",), ("--ignore", "CG902")):
        assert run("check", *arguments).code == 0, arguments
    assert run("check", "--select", "CG101,CG9").code == 1


def test_a_file_that_cannot_be_read_makes_nothing_stale(run, project: Path) -> None:
    run("baseline", "create")
    (project / "tests" / "test_pad.py").write_text("def (:\n")
    assert rules(run("check", "--format", "json").out) == [("CG903", "tests/test_pad.py")]


def test_severity_of_a_stale_entry(run, project: Path) -> None:
    run("baseline", "create")
    (project / "pkg" / "constants.py").write_text("PAD = GONE = 1\n")
    settings = project / "pyproject.toml"
    settings.write_text(settings.read_text() + 'severity = { CG902 = "off" }\n')
    assert run("check").code == 0
    settings.write_text(settings.read_text().replace("off", "error"))
    assert run("check", "--fail-on", "error").code == 1


def test_another_file_on_the_command_line(run, project: Path) -> None:
    assert run("baseline", "create", "--baseline", "mine.txt").code == 0
    assert run("check", "--baseline", "mine.txt").code == 0
    assert not (project / NAME).exists()


def test_the_configuration_is_asked_for_where_it_says_nothing(run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.contract_guard]\n")
    done = run("baseline", "create")
    assert done.out.endswith(f'with: baseline = "{NAME}" in the configuration.\n')
    assert run("check").code == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check",), "there is no baseline; `contract-guard baseline create` writes one"),
        (
            ("baseline", "check"),
            "there is no baseline; `contract-guard baseline create` writes one",
        ),
        (
            ("baseline", "update"),
            "there is no baseline; `contract-guard baseline create` writes one",
        ),
    ],
)
def test_no_baseline(run, project: Path, arguments: tuple[str, ...], message: str) -> None:
    assert run(*arguments) == (2, "", f"contract-guard: {NAME}: {message}\n")


def test_create_does_not_overwrite(run, project: Path) -> None:
    run("baseline", "create")
    done = run("baseline", "create")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"contract-guard: {NAME}: there is one already")


def test_conflict_markers_and_newer_versions_are_one_line(run, project: Path) -> None:
    run("baseline", "create")
    text = (project / NAME).read_text()
    for broken, message in (
        (text + "<<<<<<< HEAD\n", "it has conflict markers: settle the code, then"),
        (text.replace("baseline 1", "baseline 7"), "it has version 7, and this program knows 1"),
    ):
        (project / NAME).write_text(broken)
        done = run("check")
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(f"contract-guard: {NAME}: {message}")
        assert done.err.count("\n") == 1


def test_a_baseline_outside_of_the_project_is_not_read(run, project: Path) -> None:
    outside = project.parent / "outside"
    outside.write_text("")
    settings = project / "pyproject.toml"
    settings.write_text('[tool.contract_guard]\nbaseline = "../outside"\n')
    assert "baseline: '../outside' leads out of the project" in run("check").err
    settings.write_text(f'[tool.contract_guard]\nbaseline = "{outside}"\n')
    assert run("check").err == f"contract-guard: baseline: '{outside}' leads out of the project\n"
    settings.write_text(f'[tool.contract_guard]\nbaseline = "{NAME}"\n')
    (project / NAME).symlink_to(outside)
    assert run("check").err == f"contract-guard: baseline: '{NAME}' leads out of the project\n"
    assert run("baseline", "update").code == 2
    assert outside.read_text() == ""


def test_another_file_is_not_overwritten(run, project: Path) -> None:
    settings = project / "pyproject.toml"
    source = project / "pkg" / "constants.py"
    before = source.read_text()
    settings.write_text('[tool.contract_guard]\nbaseline = "pkg/constants.py"\n')
    for arguments in (("baseline", "update"), ("baseline", "update", "--prune"), ("check",)):
        message = "pkg/constants.py: it is no baseline: name another file, or take it away"
        assert run(*arguments) == (2, "", f"contract-guard: {message}\n")
    assert source.read_text() == before


def test_a_damaged_baseline_is_written_anew(run, project: Path) -> None:
    run("baseline", "create")
    good = (project / NAME).read_text()
    for text in ("", "<<<<<<< HEAD\n" + good, "\ufeff" + good, good.replace("\n", "\r\n")):
        (project / NAME).write_text(text)
        assert run("baseline", "update").code == 0
        assert (project / NAME).read_text() == good


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(run, project: Path) -> None:
    os.mkfifo(project / NAME)
    for arguments in (("check",), ("baseline", "update")):
        done = run(*arguments)
        assert (done.code, done.out) == (2, "")
        assert done.err.endswith(": it is no regular file\n")
