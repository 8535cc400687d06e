"""The scripts in examples/ that show each way in, run as a newcomer would run them."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)


def run(tmp_path: Path, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT")}
    bin = Path(sys.executable).parent
    return subprocess.run(
        ["sh", str(EXAMPLES / script), *arguments],
        cwd=tmp_path,
        env=kept
        | {
            "PATH": f"{tmp_path / 'bin'}:{bin}:{os.environ['PATH']}",
            "XDG_CACHE_HOME": str(tmp_path / "cache"),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
        },
        capture_output=True,
        text=True,
    )


def test_the_hook_blocks_a_commit_that_breaks_a_test(tmp_path: Path) -> None:
    if importlib.util.find_spec("pre_commit") is None:
        pytest.skip("unverified: pre-commit is not installed")
    command = tmp_path / "bin" / "pre-commit"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pre_commit "$@"\n')
    command.chmod(0o755)
    done = run(tmp_path, "hook.sh")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("The commit was blocked.\n")
    assert "tests/test_gate.py:6:28: CG101 error:" in done.stderr
    assert "28 tests are lost" in done.stderr


def test_the_plugin_explains_a_collection_failure(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="unverified: torch is not installed")
    done = run(tmp_path, "plugin.sh")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("pytest ends with exit code 2.\n")
    said, _, explained = done.stdout.partition(" contract guard: why collection failed ")
    assert "cannot import name 'IMAGE_PAD_ID' from 'gate.constants'" in said
    lines = explained.splitlines()[1:6]
    assert lines[0] == "gate.constants:IMAGE_PAD_ID is not there"
    assert re.fullmatch(r"  removed by [0-9a-f]{10} 2026-03-02 Remove IMAGE_PAD_ID", lines[1])
    assert lines[2:5] == [
        "  it stood at gate/constants.py:9, was 129279",
        "  fails at 1 place:",
        "    tests/test_gate.py:6: collection error, 28 tests lost",
    ]


@pytest.fixture(scope="module")
def step(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the CI step leaves."""
    place = tmp_path_factory.mktemp("step")
    done = run(place, "ci_step.sh", "out")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("The step ends with exit code 1.\n")
    return place / "out"


def test_the_step_writes_sarif_that_validates(step: Path) -> None:
    model = pytest.importorskip("pydantic_sarif.model", reason="unverified: no schema here")
    text = (step / "contract-guard.sarif").read_text("utf-8")
    model.StaticAnalysisResultsFormatSarifVersion210JsonSchema.model_validate_json(text)
    (sarif,) = json.loads(text)["runs"]
    assert [result["ruleId"] for result in sarif["results"]] == ["CG101"]


def test_the_step_writes_annotations_that_parse(step: Path) -> None:
    lines = (step / "annotations.txt").read_text("utf-8").splitlines()
    (command,) = [line for line in lines if line.startswith("::")]
    match = re.fullmatch(r"::error ((?:\w+=[^,:]*,?)+)::([^\r\n]+)", command)
    assert match is not None
    properties = dict(pair.split("=", 1) for pair in match[1].split(","))
    assert (properties["file"], properties["line"]) == ("tests/test_gate.py", "6")
    assert properties["title"] == "CG101 missing-name%3A collection error%2C 28 tests lost"
    assert "%0A" in match[2]


def test_the_step_has_a_page_and_a_list_of_tests(step: Path) -> None:
    assert "CG101 missing\\-name" in (step / "summary.md").read_text("utf-8")
    assert "tests/test_gate.py" in (step / "affected.txt").read_text("utf-8").splitlines()


def test_the_report_opens_in_a_browser(tmp_path: Path) -> None:
    done = run(tmp_path, "report.sh", "report.html")
    assert done.returncode == 0, done.stderr
    if BROWSER is None:
        pytest.skip("unverified: no Chromium here")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    page = (tmp_path / "report.html").as_uri()
    shown = subprocess.run(
        [BROWSER, *options, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", page],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "CONSOLE" not in shown.stderr
    assert re.search(r"<output>(\d+) of \1 shown</output>", shown.stdout)


@pytest.mark.parametrize(
    ("name", "schema"),
    [
        ("github-actions.yml", "github-workflows"),
        ("gitlab-ci.yml", "gitlab-ci"),
        ("buildkite.yml", "buildkite"),
        ("buildkite-gpu.yml", "buildkite"),
    ],
)
def test_ci_files_are_what_the_services_take(name: str, schema: str) -> None:
    if importlib.util.find_spec("check_jsonschema") is None:
        pytest.skip("unverified: check-jsonschema is not installed")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    done = subprocess.run([*command, str(EXAMPLES / "ci" / name)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", sorted((EXAMPLES / "ci").iterdir()), ids=lambda path: path.name)
def test_ci_files_name_options_that_exist(path: Path) -> None:
    from contract_guard.cli import check, diff

    text = path.read_text("utf-8").replace("\\\n", " ")
    # A command goes on in the lines below it that are indented as it is, up to the next key.
    words = re.sub(r"\n\s+(?=--)", " ", text)
    for command in (check.command, diff.command):
        known = {name for parameter in command.params for name in parameter.opts}
        for line in re.findall(rf"contract-guard {command.name} (.*)", words):
            assert set(re.findall(r"(?<![\w-])--[a-z-]+", line)) <= known
