"""An analysed repository that means harm: its names and texts stay text, nothing of it is run, and
nothing is written beside the cache."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from contract_guard.report import FORMATS

NAMES = [
    "test_line\nbreak.py",
    "test_\x1b[31mansi.py",
    "test_[red]markup[/].py",
    "test_<script>alert(1)<script>.py",
    "test_日本語.py",
    "test_a::b.py",
]
# No Python module can have it, so that it is said to be unreadable.
NOT_UTF8 = os.fsdecode(b"test_\xff.py")
FOLDERS = ["::error file=x", "##[error]", "a%0A::error", "-rf"]


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that appears if anything of the project is run."""
    return tmp_path / "was-run"


@pytest.fixture
def project(tmp_path: Path, marker: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    touch = f"open({str(marker)!r}, 'w').close()\n"
    (root / "gate").mkdir()
    (root / "gate" / "__init__.py").write_text(touch)
    (root / "setup.py").write_text(touch)
    (root / "conftest.py").write_text(touch)
    (root / "sitecustomize.py").write_text(touch)
    (root / "pyproject.toml").write_text(
        "[build-system]\nbuild-backend = 'setup'\nbackend-path = ['.']\nrequires = []\n"
        "[tool.pytest.ini_options]\naddopts = '-p setup'\n"
    )
    for folder in FOLDERS:
        for name in (*NAMES, NOT_UTF8):
            place = root / "tests" / folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(
                "from gate import GONE  # \x1b[31m ::error::x \u202e\n\n\ndef test_a(): ...\n"
            )
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    for key in ("core.fsmonitor", "core.sshCommand", "diff.external", "core.pager"):
        subprocess.run(["git", "config", key, f"touch {marker}"], cwd=root, check=True)
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    hook.chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def state(root: Path) -> dict[str, int]:
    return {os.fsdecode(path): path.stat().st_mtime_ns for path in root.rglob("*")}


@pytest.mark.parametrize("format", FORMATS)
def test_no_format_lets_it_out(run, project: Path, marker: Path, format: str) -> None:
    before = state(project)
    done = run("check", "--format", format, "--select", "CG101")
    assert done.code == 1
    assert all(character.isprintable() for character in done.out.replace("\n", ""))
    unread = f"{len(FOLDERS)} files could not be read and may hold anything: see CG903"
    assert done.err == f"contract-guard: warning: {unread}\n"
    commands = [line for line in done.out.splitlines() if line.lstrip().startswith("::")]
    assert all(line.startswith("::error file=tests/") for line in commands)
    assert not marker.exists()
    assert state(project) == before


def test_every_file_has_its_finding(run, project: Path) -> None:
    document = json.loads(run("check", "--format", "json", "--select", "CG101,CG903").out)
    found = {finding["path"]: finding["rule"] for finding in document["findings"]}
    missing = {f"tests/{folder}/{name}": "CG101" for folder in FOLDERS for name in NAMES}
    unreadable = {f"tests/{folder}/test_\\udcff.py": "CG903" for folder in FOLDERS}
    assert found == missing | unreadable


def test_machine_formats_are_still_what_they_are(run, project: Path) -> None:
    (sarif,) = json.loads(run("check", "--format", "sarif", "--select", "CG101").out)["runs"]
    uris = {
        result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for result in sarif["results"]
    }
    assert "tests/a%250A%3A%3Aerror/test_%E6%97%A5%E6%9C%AC%E8%AA%9E.py" in uris
    assert len(uris) == len(FOLDERS) * len(NAMES)
    junit = ElementTree.fromstring(run("check", "--format", "junit", "--select", "CG101").out)
    assert len(junit[0]) == len(FOLDERS) * len(NAMES)


def test_configuration_cannot_name_places_outside(run, project: Path) -> None:
    (project / "contract_guard.toml").write_text('roots = ["../elsewhere"]\n')
    assert run("check") == (
        2,
        "",
        "contract-guard: contract_guard.toml: roots: '../elsewhere' leads out of the project\n",
    )


def test_links_out_of_the_project_are_not_followed(run, project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "elsewhere"
    secret.mkdir()
    (secret / "test_secret.py").write_text("from gate import SECRET\n\n\ndef test_a(): ...\n")
    (project / "linked").symlink_to(secret, target_is_directory=True)
    (project / "test_linked.py").symlink_to(secret / "test_secret.py")
    assert "SECRET" not in run("check", "--format", "json").out


@pytest.mark.parametrize("command", ["registry", "baseline"])
def test_a_planted_lock_or_baseline_is_no_way_out(
    run, project: Path, tmp_path: Path, command: str
) -> None:
    """A link that leads out of the project: what it leads to is neither shown nor written."""
    secret = tmp_path / "secret"
    secret.write_text("password = 1\n")
    name = {"registry": "contracts.lock", "baseline": "contracts.baseline"}[command]
    (project / name).symlink_to(secret)
    for arguments in (("registry", "verify"), ("baseline", "check")):
        if arguments[0] == command:
            done = run(*arguments)
            assert done.code == 2
            assert "password" not in done.out + done.err
    assert run(command, "update").code == 0
    assert secret.read_text() == "password = 1\n"
    assert not (project / name).is_symlink()


def test_a_baseline_of_hostile_names(run, project: Path) -> None:
    name = "contracts.baseline"
    assert run("baseline", "create", "--baseline", name).code == 0
    text = (project / name).read_text("utf-8")
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert run("check", "--baseline", name).code == 0
    for path in (project / "tests").rglob("test_*.py"):
        path.unlink()
    done = run("check", "--baseline", name)
    assert done.code == 1
    assert all(character.isprintable() for character in done.out.replace("\n", ""))
    assert not any(line.lstrip().startswith("::") for line in done.out.splitlines())


@pytest.mark.parametrize(
    "command", [("check", "--base", "HEAD"), ("check", "--hook"), ("diff", "HEAD")]
)
def test_git_runs_nothing_of_the_repository(
    run, project: Path, marker: Path, command: tuple[str, ...]
) -> None:
    git = ["git", "-c", "core.fsmonitor=", "-c", "user.name=a", "-c", "user.email=a@b"]
    for arguments in (["add", "gate"], ["commit", "-qm", "x", "--no-verify"]):
        subprocess.run([*git, *arguments], cwd=project, check=True)
    marker.unlink(missing_ok=True)
    for key in ("filter.x.clean", "filter.x.smudge", "diff.x.textconv", "merge.x.driver"):
        subprocess.run(["git", "config", key, f"touch {marker}"], cwd=project, check=True)
    (project / ".gitattributes").write_text("* filter=x diff=x merge=x\n")
    before = state(project)
    assert run(*command, "--format", "sarif").code in (0, 1)
    assert not marker.exists()
    assert state(project) == before


def test_the_page_of_a_step_lets_nothing_out(
    run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(page))
    assert run("check", "--format", "github", "--select", "CG101").code == 1
    text = page.read_text("utf-8")
    assert all(character.isprintable() for character in text.replace("\n", ""))
    assert not re.search(r"(?<!\\)[<>]", text)
    # A line begins a table, the heading, or a paragraph: with a letter, or with something escaped.
    begins = re.compile(r"\||## |\w|\\[^\w\s]")
    assert all(not line or begins.match(line) for line in text.split("\n"))


def test_a_planted_cache_is_not_used(run, project: Path) -> None:
    (project / ".cache" / "contract-guard").mkdir(parents=True)
    before = state(project)
    assert run("check", "--select", "CG101").code == 1
    assert state(project) == before


@pytest.mark.parametrize("way", ["script", "module"])
def test_modules_in_the_working_directory_are_not_imported(
    project: Path, marker: Path, way: str
) -> None:
    """`python -m` puts the working directory on the path, where a project can hold any module."""
    for name in ("json", "tomllib", "click", "msgspec", "rich"):
        (project / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    script = [str(Path(sys.executable).parent / "contract-guard")]
    command = script if way == "script" else [sys.executable, "-m", "contract_guard"]
    done = subprocess.run([*command, "check"], cwd=project, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert not marker.exists()
