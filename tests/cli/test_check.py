"""`contract-guard check` as its users run it."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from contract_guard.project import gather, run_cache, snapshot

TEST_MODULE = """\
import pytest

from gate.constants import BASE, PAD


@pytest.mark.parametrize("size", [1, 2, 3])
def test_sizes(size):
    assert size + BASE


def test_pad():
    assert PAD
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package and a test module that imports one name that is gone, and one that is not."""
    root = tmp_path / "project"
    (root / "gate").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "pyproject.toml").write_text("[tool.contract_guard]\n")
    (root / "gate" / "__init__.py").write_text("")
    (root / "gate" / "constants.py").write_text("BASE = 7\n")
    (root / "tests" / "test_gate.py").write_text(TEST_MODULE)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def mend(project: Path) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\nPAD = 8\n")


def findings(text: str) -> list[tuple[str, str, int, int]]:
    return [(f["rule"], f["path"], f["line"], f["column"]) for f in json.loads(text)["findings"]]


def test_a_missing_name_costs_its_tests(run, project: Path) -> None:
    done = run("check", "--format", "json", "--select", "CG1")
    assert (done.code, done.err) == (1, "")
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["rule"], finding["severity"]) == ("CG101", "error")
    assert finding["impact"] == "collection-error"
    assert (finding["path"], finding["line"]) == ("tests/test_gate.py", 3)
    assert (finding["column"], finding["end_column"]) == (34, 37)
    assert finding["symbol"] == "gate.constants:PAD"
    assert finding["tests_lost"] == {
        "count": 4,
        "exact": True,
        "ids": [
            "tests/test_gate.py::test_sizes[1]",
            "tests/test_gate.py::test_sizes[2]",
            "tests/test_gate.py::test_sizes[3]",
            "tests/test_gate.py::test_pad",
        ],
    }


def test_clean(run, project: Path) -> None:
    mend(project)
    done = run("check")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == (
        "1 test module imports 2 production constants at module level; "
        "4 tests would vanish without them."
    )


def test_summary_counts(run, project: Path) -> None:
    summary = json.loads(run("check", "--format", "json").out)["summary"]
    assert (summary["files"], summary["lines"], summary["tests"]) == (3, 13, 4)
    assert summary["findings"]["CG101"] == 1
    assert summary["tests_at_risk"] == 4


def test_concise_where_there_is_no_terminal(run, project: Path) -> None:
    line = run("check").out.splitlines()[0]
    assert line.startswith("tests/test_gate.py:3:34: CG101 error: ")
    assert "4 tests" in line


def test_rich_and_coloured_on_a_terminal(project: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-c", "from contract_guard.cli.main import main; main(['check'])"],
        stdout=theirs,
        stderr=subprocess.PIPE,
        cwd=project,
        env=environment | {"TERM": "xterm", "COLUMNS": "80"},
    )
    os.close(theirs)
    text = b""
    # At the end of the other side Linux gives an error, other systems an empty read.
    while chunk := _read(ours):
        text += chunk
    os.close(ours)
    assert process.wait() == 1
    assert b"\x1b[1;31mcollection error, 4 tests lost" in text
    assert b"^^^" in text


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_without_a_terminal(
    run, project: Path, monkeypatch: pytest.MonkeyPatch, environment, is_coloured: bool
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert ("\x1b[" in run("check", "--format", "rich").out) == is_coloured


def test_paths_narrow_what_is_reported(run, project: Path) -> None:
    assert run("check", "gate").code == 0
    assert run("check", "gate", "tests/test_gate.py").code == 1


def test_a_path_says_which_project(run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.parent)
    done = run("check", str(project / "tests"), "--format", "json", "--select", "CG1")
    assert findings(done.out) == [("CG101", "tests/test_gate.py", 3, 34)]
    assert run("check", "--root", str(project)).code == 1


@pytest.mark.parametrize("arguments", [["--select", "CG102,CG104"], ["--ignore", "CG1"]])
def test_rules_not_asked_for_do_not_fail(run, project: Path, arguments: list[str]) -> None:
    assert run("check", *arguments).code == 0


def test_the_configuration_selects_and_the_command_line_has_the_last_word(
    run, project: Path
) -> None:
    (project / "pyproject.toml").write_text('[tool.contract_guard]\nselect = ["CG102"]\n')
    assert run("check").code == 0
    assert run("check", "--select", "CG101").code == 1


def test_fail_on(run, project: Path) -> None:
    mend(project)
    assert run("check", "--select", "CG201").code == 0
    assert run("check", "--select", "CG201", "--fail-on", "note").code == 1


def test_fail_on_error_lets_warnings_pass(run, project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.contract_guard]\nseverity = { CG101 = "warning" }\n'
    )
    assert run("check").code == 1
    assert run("check", "--fail-on", "error").code == 0


def test_exit_zero(run, project: Path) -> None:
    assert run("check", "--exit-zero").code == 0


def test_notes_are_listed_where_asked_for(run, project: Path) -> None:
    mend(project)
    assert "CG201 note" not in run("check").out
    assert "CG201 note" in run("check", "--select", "CG2").out
    assert "CG201 note" in run("check", "--fail-on", "note").out


def test_output_file_keeps_the_exit_code(run, project: Path) -> None:
    done = run("check", "--format", "json", "--output-file", "report.json")
    assert (done.code, done.out) == (1, "")
    assert ("CG101", "tests/test_gate.py", 3, 34) in findings((project / "report.json").read_text())
    assert "1 error" in done.err
    assert sorted(path.name for path in project.iterdir()) == [
        "gate", "pyproject.toml", "report.json", "tests",
    ]  # fmt: skip


def test_output_file_is_replaced_and_a_link_is_not_followed(run, project: Path) -> None:
    elsewhere = project.parent / "elsewhere"
    elsewhere.write_text("mine")
    (project / "report.txt").symlink_to(elsewhere)
    assert run("check", "--output-file", "report.txt").code == 1
    assert elsewhere.read_text() == "mine"
    assert "CG101" in (project / "report.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: no such file or directory"),
        (["--root", "nowhere"], "nowhere: no such directory"),
        (["--root", "gate/constants.py"], "gate/constants.py: not a directory"),
        (["--output-file", "no/where"], "no/where: there is no directory no"),
        (["--output-file", "gate"], "gate: is a directory; --output-file takes the name of a file"),
        (["--no-cache", "--cache-dir", "x"], "--cache-dir and --no-cache exclude each other"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_two(
    run, project: Path, arguments: list[str], message: str
) -> None:
    assert run("check", *arguments) == (2, "", f"contract-guard: {message}\n")


def test_a_path_outside_the_project(run, project: Path) -> None:
    (project.parent / "other.py").write_text("")
    done = run("check", "gate", "../other.py")
    assert (done.code, done.out) == (2, "")
    assert done.err == f"contract-guard: ../other.py: outside the project {project}\n"


def test_unreadable_files_are_told_where_their_rule_was_not_picked(run, project: Path) -> None:
    (project / "gate" / "old.py").write_text("print 'two'\n")
    said = "contract-guard: warning: 1 file could not be read and may hold anything: see CG903\n"
    assert run("check", "--select", "CG201").err == said
    assert run("check", "--select", "CG201").err == said  # of the kept result too
    assert run("check", "--select", "CG201,CG903").err == ""
    assert run("check", "--ignore", "CG903").err == ""
    (project / "pyproject.toml").write_text("[tool.contract_guard.severity]\nCG903 = 'off'\n")
    assert run("check", "--select", "CG201").err == ""


def test_unknown_rule(run, project: Path) -> None:
    for word, close in (
        ("CG999", "there are CG901, CG902, CG903 (see"),
        ("mising-name", "did you mean missing-name? (see"),
    ):
        done = run("check", "--select", word)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(
            f"contract-guard: Invalid value for '--select': no rule fits {word!r}; {close}"
        )


def test_rules_by_name(run, project: Path) -> None:
    by_name = run("check", "--select", "missing-name,CG2", "--format", "json")
    by_id = run("check", "--select", "CG101,CG2", "--format", "json")
    assert findings(by_name.out) == findings(by_id.out) != []
    for words in ("Missing-Name,cg2", "cg101,cg2"):
        in_other_case = run("check", "--select", words, "--format", "json")
        assert json.loads(in_other_case.out)["findings"] == json.loads(by_name.out)["findings"]
    assert run("check", "--ignore", "missing-name").code == 0


def test_a_narrowed_check_says_what_it_counts(run, project: Path) -> None:
    done = run("check", "gate")
    assert done.out.splitlines()[0] == (
        "Findings in gate only; all else is of the whole project: 1 test module imports "
        "1 production constant at module level; 4 tests would vanish without it."
    )
    assert "Findings in" not in run("check").out


def test_broken_configuration(run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.contract_guard]\nselct = []\n")
    assert run("check") == (
        2,
        "",
        "contract-guard: pyproject.toml: [tool.contract_guard]: unknown key 'selct'; "
        "did you mean 'select'?\n",
    )


def test_nothing_to_look_at_is_said(run, tmp_path: Path) -> None:
    done = run("check", "--root", str(tmp_path), "--no-cache")
    assert done.code == 0
    assert done.err == f"contract-guard: warning: {tmp_path}: no Python files\n"


def test_an_empty_root_is_not_the_working_directory(run, project: Path) -> None:
    done = run("check", "--root", "")
    assert (done.code, done.out) == (2, "")
    assert "'--root': an empty path" in done.err


def test_quiet_is_findings_alone(run, project: Path) -> None:
    assert len(run("check", "--quiet").out.splitlines()) == 1
    mend(project)
    assert run("check", "--quiet") == (0, "", "")


def test_nodeids(run, project: Path) -> None:
    assert run("check", "--format", "nodeids").out.splitlines() == [
        "tests/test_gate.py::test_pad",
        "tests/test_gate.py::test_sizes[1]",
        "tests/test_gate.py::test_sizes[2]",
        "tests/test_gate.py::test_sizes[3]",
    ]


def test_statistics_say_what_is_unknown(run, project: Path) -> None:
    done = run("check", "--statistics")
    assert "files 3, lines 13, tests 4\n" in done.out
    aside = run("check", "--statistics", "--format", "json")
    assert "files 3" in aside.err
    json.loads(aside.out)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files written a moment ago count as unchanged, as they do a moment later."""
    for module in (gather, run_cache, snapshot):
        monkeypatch.setattr(module, "is_settled", lambda file, read_at_ns: True)


@pytest.mark.usefixtures("settled")
def test_the_same_again_from_the_cache(run, project: Path) -> None:
    cache = ("--cache-dir", str(project.parent / "kept"))
    runs = [json.loads(run("check", "--format", "json", *cache).out) for _ in range(3)]
    assert runs[0]["findings"] == runs[1]["findings"] == runs[2]["findings"]
    assert runs[0]["summary"]["cache"] == {"hits": 0, "misses": 3}
    assert runs[2]["summary"]["cache"] == {"hits": 3, "misses": 0}
    mend(project)
    assert run("check", *cache).code == 0


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_any_number_of_jobs(run, project: Path, jobs: str) -> None:
    done = run("check", "--jobs", jobs, "--no-cache", "--format", "json", "--select", "CG1")
    assert findings(done.out) == [("CG101", "tests/test_gate.py", 3, 34)]


@pytest.mark.usefixtures("settled")
def test_nothing_heavy_is_imported_for_what_is_known(run, project: Path) -> None:
    mend(project)
    cache = ("--cache-dir", str(project.parent / "kept"))
    run("check", *cache)
    program = (
        "import sys; from contract_guard.cli.main import main\n"
        f"try: main(['check', *{cache!r}])\n"
        "except SystemExit: pass\n"
        "print(sorted({'libcst', 'rich', 'torch', 'multiprocessing'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_what_only_a_comparison_may_mend(run, project: Path) -> None:
    said = "`contract-guard diff HEAD --fix` (or an older revision than HEAD) may mend 1 finding.\n"
    assert said not in run("check").out
    subprocess.run(["git", "init", "-q"], check=True)
    assert said in run("check").out
    assert said in run("check", "--diff").out
    mend(project)
    assert said not in run("check").out


def test_who_reports_the_rules_on_locks(run, project: Path) -> None:
    said = "CG5 rules are about the lock: `contract-guard registry verify` reports them"
    assert run("check", "--select", "CG503").err == f"contract-guard: {said}\n"
    assert run("check", "--select", "CG1").err == ""


def test_paths_without_a_python_file(run, project: Path) -> None:
    (project / "README.md").write_text("")
    done = run("check", "README.md")
    said = "contract-guard: warning: no Python file of the project in README.md\n"
    assert (done.code, done.err) == (0, said)
    assert run("check", "gate").err == ""
