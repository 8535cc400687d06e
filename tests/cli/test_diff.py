"""`contract-guard diff` as its users run it."""

import json
import runpy
import subprocess
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "pad_free"


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pad_free") / "project"
    runpy.run_path(str(EXAMPLE / "replay.py"))["replay"](target)
    return target


@pytest.fixture
def project(history: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(history)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return history


@pytest.mark.usefixtures("project")
def test_the_removing_change(run) -> None:
    done = run("diff", "before", "removal")
    assert done.code == 1
    assert done.out.splitlines() == [
        "removed gate.constants:IMAGE_PAD_ID = 129279 (gate/constants.py:9)",
        "  24af1db6e9 2026-03-02 Remove IMAGE_PAD_ID",
        "  tests/test_gate.py:6: import: collection error, 28 tests lost",
        "    help: use what took the place of `IMAGE_PAD_ID`, or remove what depends on it",
        "  1 consumer updated in this change",
        "",
        "rule-changed gate.constants:IMAGE_SENTINEL_BASE_ID: accepts {129252},"
        " was {129252, 129279} (gate/preprocess.py:10)",
        "  tests/test_gate.py:6: import: silent",
        "  tests/test_preprocess.py:4: import: silent",
        "  1 consumer updated in this change",
        "",
        "rule-changed gate.preprocess:image_mask (gate/preprocess.py:8)",
        "  tests/test_gate.py:33: mirror: silent",
        "    `gate.preprocess:image_mask` changed, and its copy here did not: the two no longer"
        " agree",
        "",
        "28 tests lost at collection:",
        "  tests/test_gate.py",
        "3 contracts changed (1 removed, 2 rule-changed): 1 consumer broken, 3 silent."
        " 6 files, 32 tests looked at.",
    ]


@pytest.mark.usefixtures("project")
def test_the_repair(run) -> None:
    done = run("diff", "removal", "repair")
    assert (done.code, done.err) == (0, "")
    narrowed, help_, *rest = done.out.splitlines()
    assert narrowed.startswith("tests/test_gate.py:27: CG307 ")
    assert help_.startswith("    help: ")
    assert rest == ["", "No contract changed. 6 files, 32 tests looked at."]


@pytest.mark.usefixtures("project")
def test_what_stays_behind_is_silent(run) -> None:
    done = run("diff", "repair", "five-ids")
    assert done.code == 0
    assert "  tests/test_gate.py:33: mirror: silent" in done.out.splitlines()
    assert run("diff", "repair", "five-ids", "--fail-on", "silent").code == 1


@pytest.mark.usefixtures("project")
def test_json(run) -> None:
    done = run("diff", "before", "removal", "--format", "json", "--exit-zero")
    assert done.code == 0
    document = json.loads(done.out)
    assert list(document) == ["version", "tool", "changes", "findings", "commits", "summary"]
    change = document["changes"][0]
    assert change["old"] == {"path": "gate/constants.py", "line": 9, "value": "129279"}
    assert (change["kind"], change["new"]) == ("removed", None)
    consumer = change["consumers"][0]
    lost = consumer.pop("tests_lost")
    assert consumer == {
        "path": "tests/test_gate.py",
        "line": 6,
        "form": "import",
        "test": None,
        "impact": "collection-error",
        "updated": False,
        "origin": "change",
    }
    assert lost["count"] == document["summary"]["tests_lost"]["count"] == 28
    assert [finding["rule"] for finding in document["findings"]] == ["CG101", "CG310"]
    assert document["commits"][0]["oid"] == change["commit"]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("format", ["sarif", "github", "gitlab", "junit", "html", "nodeids"])
def test_every_other_format_has_the_broken_consumer(run, format: str) -> None:
    done = run("diff", "before", "removal", "--format", format)
    assert done.code == 1
    assert "tests/test_gate.py" in done.out


@pytest.mark.usefixtures("project")
def test_to_a_file(run, tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run("diff", "before", "removal", "--format", "json", "--output-file", str(report))
    assert (done.code, done.out) == (1, "")
    assert json.loads(report.read_text())["changes"]
    assert "1 consumer broken" in done.err


@pytest.mark.usefixtures("project")
def test_rules_can_be_left_out(run) -> None:
    assert run("diff", "before", "removal", "--ignore", "CG101").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nope"], "unknown revision 'nope'; `git rev-parse nope` must name a commit"),
        (["--", "--output=x"], "unknown revision '--output=x'"),
        (["before", "nope"], "unknown revision 'nope'"),
    ],
)
@pytest.mark.usefixtures("project")
def test_mistakes(run, arguments: list[str], message: str) -> None:
    done = run("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"contract-guard: {message}")
    assert done.err.count("\n") == 1


def test_no_repository(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("diff", "HEAD")
    assert done.code == 2
    assert "not in a git repository" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("project")
def test_explain(run, tmp_path: Path) -> None:
    text = (
        "ImportError: cannot import name 'IMAGE_PAD_ID' from 'gate.constants' (gate/constants.py)"
    )
    done = run("diff", "--explain", text)
    assert done.code == 0
    assert done.out.splitlines() == [
        "gate.constants:IMAGE_PAD_ID is not there",
        "  removed by 24af1db6e9 2026-03-02 Remove IMAGE_PAD_ID",
        "  it stood at gate/constants.py:9, was 129279",
        "  repair: remove what depends on `IMAGE_PAD_ID`",
    ]
    log = tmp_path / "pytest.log"
    log.write_text(f"E   {text}\n")
    assert run("diff", "--explain", str(log)).out == done.out
    document = json.loads(run("diff", "--explain", text, "--format", "json").out)
    assert document["failures"][0]["commit"]["subject"] == "Remove IMAGE_PAD_ID"


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--explain", "nothing"], "no ImportError"),
        (["before", "removal", "--explain", "x"], "--explain looks at the working tree"),
        (["--explain", "x", "--format", "sarif"], "--explain has no format 'sarif'"),
        ([], "Missing argument 'BASE'"),
    ],
)
def test_mistakes_with_explain(run, arguments: list[str], message: str) -> None:
    done = run("diff", *arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"contract-guard: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("project")
def test_silent_changes_are_not_called_no_findings(run) -> None:
    for format in ("github", "junit", "html"):
        done = run("diff", "repair", "five-ids", "--ignore", "CG310", "--format", format)
        assert done.code == 0
        assert "no findings" not in done.out.lower()
        assert "1 contract changed (1 rule-changed): 0 consumers broken, 4 silent." in done.out


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name, value in (("NAME", "a"), ("EMAIL", "a@b.c")):
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    return tmp_path


def commit(place: Path, files: dict[str, str]) -> None:
    if not (place / ".git").exists():
        subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    for path, text in files.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(text)
    subprocess.run(["git", "add", *files], cwd=place, check=True)
    subprocess.run(["git", "commit", "-qm", "x"], cwd=place, check=True)


def test_changes_that_all_consumers_followed_are_named(run, repository: Path) -> None:
    old = [f"pkg/m{n}.py" for n in range(7)]
    files = {path: f"LIMIT = {n}\n" for n, path in enumerate(old)}
    test = "".join(f"from pkg.m{n} import LIMIT as L{n}\n" for n in range(7))
    commit(repository, files | {"pkg/__init__.py": "", "tests/test_a.py": test})
    new = {path: f"LIMITS = {n}\n" for n, path in enumerate(old)}
    commit(repository, new | {"tests/test_a.py": test.replace("LIMIT", "LIMITS")})
    done = run("diff", "HEAD~1", "HEAD")
    assert done.code == 0
    named = ", ".join(f"pkg.m{n}:LIMIT -> LIMITS" for n in range(5))
    assert done.out.splitlines()[0] == (
        f"renamed, with all consumers: {named} and 2 more (--format json)"
    )


@pytest.mark.usefixtures("project")
def test_the_page_shows_the_lines_of_the_newer_side(run) -> None:
    done = run("diff", "before", "removal", "--format", "html", "--exit-zero")
    assert done.code == 0
    assert (
        'from gate.constants import <mark class="error">IMAGE_PAD_ID</mark>, IMAGE_SENTINEL_BASE_ID'
    ) in done.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["HEAD~1..HEAD"], "'HEAD~1..HEAD' is a range: write `diff HEAD~1 HEAD`"),
        (["one==1.0"], "one==1.0: a release is compared with another one: one==1.0 one==VERSION"),
        (["one==1.0", "two==1.0"], "one==1.0 and two==1.0 are releases of two projects"),
        (["--explain", "nosuch.log"], "nosuch.log: no such file"),
    ],
)
def test_what_cannot_be_compared(run, repository: Path, arguments: list[str], said: str) -> None:
    commit(repository, {"a.py": ""})
    commit(repository, {"a.py": "X = 1\n"})
    done = run("diff", *arguments)
    assert (done.code, done.err.strip()) == (2, f"contract-guard: {said}")


def test_an_ancestor_as_head_is_told(run, repository: Path) -> None:
    commit(repository, {"a.py": ""})
    commit(repository, {"a.py": "X = 1\n"})
    assert "HEAD~1 is an ancestor of HEAD: it changed nothing" in run("diff", "HEAD", "HEAD~1").err
    assert run("diff", "HEAD~1", "HEAD").err == ""


def test_what_the_working_tree_took_away_is_explained(run, repository: Path) -> None:
    test = "from pkg.a import PAD\n"
    commit(repository, {"pkg/__init__.py": "", "pkg/a.py": "PAD = 1\n", "tests/test_a.py": test})
    (repository / "pkg/a.py").write_text("")
    done = run("diff", "--explain", "ImportError: cannot import name 'PAD' from 'pkg.a'")
    assert "removed in the working tree, and not committed yet" in done.out
    assert "repair: `contract-guard diff HEAD` says what took its place" in done.out
