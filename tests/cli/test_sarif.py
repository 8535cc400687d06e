"""SARIF as code scanning takes it: the schema, and where a change's findings are shown."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.project.anchors import Anchors
from contract_guard.report import Anchor


def results(text: str) -> list[dict[str, Any]]:
    (run,) = json.loads(text)["runs"]
    return run["results"]


def place(result: dict[str, Any]) -> tuple[str, int]:
    location = result["locations"][0]["physicalLocation"]
    return location["artifactLocation"]["uri"], location["region"]["startLine"]


def check_schema(text: str) -> None:
    model = pytest.importorskip("pydantic_sarif.model", reason="unverified: no schema here")
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(text)


COMMANDS = [
    ("check", "--base", "HEAD", "--format", "sarif", "--select", "CG1"),
    ("diff", "HEAD", "--format", "sarif"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "diff"])
def test_a_break_is_shown_where_the_change_made_it(
    run, project: Path, command: tuple[str, ...]
) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\nPAD_ID = 8  # é\n")
    done = run(*command)
    check_schema(done.out)
    (result,) = results(done.out)
    assert place(result) == ("gate/constants.py", 2)
    region = result["locations"][0]["physicalLocation"]["region"]
    assert region == {"startLine": 2, "startColumn": 1, "endLine": 2, "endColumn": 16}
    assert result["message"]["text"].startswith("tests/test_pad.py:1: ")
    consumer = result["relatedLocations"][0]["physicalLocation"]
    assert consumer["artifactLocation"]["uri"] == "tests/test_pad.py"
    assert done.code == 1


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "diff"])
def test_a_break_that_no_added_line_explains_stays_at_the_consumer(
    run, project: Path, command: tuple[str, ...]
) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\n")
    assert [place(r) for r in results(run(*command).out)] == [("tests/test_pad.py", 1)]


@pytest.mark.parametrize("command", COMMANDS, ids=["check", "diff"])
def test_a_finding_on_a_line_of_the_change_stays_there(
    run, project: Path, command: tuple[str, ...]
) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\nPAD_ID = 8\n")
    path = project / "tests" / "test_pad.py"
    path.write_text("import os\n" + path.read_text().replace("PAD\n", "PAD, BASE\n", 1))
    assert [place(r) for r in results(run(*command).out)] == [("tests/test_pad.py", 2)]


def test_committed_changes(run, project: Path, git) -> None:
    (project / "gate" / "constants.py").write_text("BASE = 7\nPAD_ID = 8\n")
    git("commit", "-qam", "two")
    (project / "gate" / "constants.py").write_text("# later\n" * 9 + "BASE = 7\nPAD_ID = 8\n")
    done = run("diff", "HEAD~1", "HEAD", "--format", "sarif")
    assert [place(r) for r in results(done.out)] == [("gate/constants.py", 2)]


def test_the_whole_report_fits_the_schema(run, project: Path) -> None:
    check_schema(run("check", "--format", "sarif", "--fail-on", "note").out)


class Text:
    """What `Anchors` asks of revisions, over one file of each side."""

    is_working_tree = False
    ancestor, head = "old", "new"

    def __init__(self, repository: Any, old: str, new: str) -> None:
        self._repository, self._sides = repository, {"old": old.encode(), "new": new.encode()}
        self.repository = self

    def blob(self, commit: str, path: str) -> str:
        return commit

    def read(self, oids: list[str]) -> list[tuple[str, bytes]]:
        return [(oid, self._sides[oid]) for oid in oids]

    def hunks(self, old: bytes, new: bytes) -> Any:
        return self._repository.hunks(old, new)


lines = st.lists(st.sampled_from("abc"), max_size=8)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory):
    import subprocess

    from contract_guard.project.git_objects import Repository

    root = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    with Repository(root) as repository:
        yield repository


@given(old=lines, new=lines)
def test_anchors_are_added_lines(repository, old: list[str], new: list[str]) -> None:
    """Lines of `new` that are not taken over from `old`, and no other, can be anchors."""
    revisions: Any = Text(repository, "\n".join([*old, ""]), "\n".join([*new, ""]))
    file = Anchors(revisions)._file("f")
    added = {n for n in range(1, len(new) + 1) if file.is_added(n, n)}
    assert len(new) - len(added) <= len(old)
    for line in range(1, len(old) + 1):
        anchor = file.nearest(line)
        assert anchor is None or anchor == Anchor("f", anchor.line, 2)
        assert anchor is None or anchor.line in added


@pytest.mark.parametrize("command", [("check",), ("diff", "HEAD")], ids=["check", "diff"])
def test_paths_are_told_from_the_top_of_the_repository(
    run, project: Path, git, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    """Of a project below it, as code hosts ask."""
    for name in ("pyproject.toml", "gate", "tests"):
        (project / "sub").mkdir(exist_ok=True)
        git("mv", name, f"sub/{name}")
    git("commit", "-qm", "two")
    monkeypatch.chdir(project / "sub")
    (project / "sub" / "gate" / "constants.py").write_text("BASE = 7\nPAD_ID = 8\n")
    path = "sub/tests/test_pad.py"
    found = {place(r) for r in results(run(*command, "--format", "sarif").out)}
    assert {uri.partition("/")[0] for uri, _ in found} == {"sub"}
    assert f"file={path}," in run(*command, "--format", "github").out
    entries = json.loads(run(*command, "--format", "gitlab").out)
    assert path in {entry["location"]["path"] for entry in entries}
    assert "\ntests/test_pad.py:1" in "\n" + run("check", "--format", "concise").out
