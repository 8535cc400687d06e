"""What GitHub Actions makes of `--format github`: annotations, and the page of the step."""

import re
from pathlib import Path

import pytest

_COMMAND = re.compile(r"::(?P<kind>error|warning|notice) (?P<properties>[^:]*)::(?P<message>.*)")


def annotation(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the runner reads it."""
    match = _COMMAND.fullmatch(line)
    assert match is not None, line
    pairs = (part.split("=", 1) for part in match["properties"].split(","))
    properties = {key: unescaped(value) for key, value in pairs}
    return match["kind"], properties, unescaped(match["message"])


def unescaped(text: str) -> str:
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_annotations_parse(run, project: Path) -> None:
    odd = project / "tests" / "test_a,b:c%25.py"
    odd.write_text("from gate.constants import NEVER\n\n\ndef test_it(): ...\n")
    done = run("check", "--format", "github", "--select", "CG1")
    commands = [annotation(line) for line in done.out.splitlines() if line.startswith("::")]
    assert [(kind, properties["file"]) for kind, properties, _ in commands] == [
        ("error", "tests/test_a,b:c%25.py"),
        ("error", "tests/test_old.py"),
    ]
    _, properties, message = commands[1]
    assert properties == {
        "file": "tests/test_old.py",
        "line": "1",
        "endLine": "1",
        "col": "28",
        "endColumn": "31",
        "title": "CG101 missing-name: collection error, 1 test lost",
    }
    assert message.startswith("`gate.constants` has no name `OLD`")


@pytest.mark.parametrize("command", [("check",), ("diff", "HEAD")], ids=["check", "diff"])
def test_the_page_of_the_step(
    run, project: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    page = project.parent / "summary.md"
    page.write_text("# other\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    (project / "gate" / "constants.py").write_text("BASE = 7\n")
    assert run(*command, "--format", "concise").code == 1
    assert page.read_text() == "# other\n"
    assert run(*command, "--format", "github").code == 1
    text = page.read_text()
    assert text.startswith("# other\n## contract-guard\n\n| severity |")
    assert r"| error | tests\/test\_pad\.py\:1 | CG101 missing\-name |" in text


def test_a_page_that_cannot_be_written(run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project))
    done = run("check", "--format", "github")
    assert done.code == 2
    assert done.err == "contract-guard: GITHUB_STEP_SUMMARY: cannot be written: Is a directory\n"
