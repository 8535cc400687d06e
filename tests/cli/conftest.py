"""Runs the command in this process, as the console script does, and a repository to run it in."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from contract_guard.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


Run = Callable[..., Done]
Git = Callable[..., str]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str) -> Done:
        capfd.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main(list(arguments))
        code = stopped.value.code
        assert isinstance(code, int)
        return Done(code, *capfd.readouterr())

    return run


_TEST = """\
from gate.constants import NAME


def test_it():
    assert NAME
"""


def commands(root: Path) -> Git:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    person = {
        f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments: str, check: bool = True) -> str:
        return subprocess.run(
            ["git", *arguments],
            cwd=root,
            env=kept | person | settings,
            check=check,
            capture_output=True,
            text=True,
        ).stdout

    return git


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a finding that everybody knows: tests/test_old.py imports a name that is
    gone."""
    root = tmp_path / "project"
    for path, text in {
        "pyproject.toml": "[tool.contract_guard]\n",
        "gate/__init__.py": "",
        "gate/constants.py": "BASE = 7\nPAD = 8\n",
        "tests/test_old.py": _TEST.replace("NAME", "OLD"),
        "tests/test_pad.py": _TEST.replace("NAME", "PAD"),
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("GIT_INDEX_FILE", "PRE_COMMIT_FROM_REF"):
        monkeypatch.delenv(name, raising=False)
    git = commands(root)
    git("init", "-q", "-b", "main")
    git("add", "-A")
    git("commit", "-qm", "one")
    return root


@pytest.fixture
def git(project: Path) -> Git:
    return commands(project)
