"""A small project in a git repository, on which pytest runs with the plugin."""

import importlib
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Commit = Callable[[str], None]

# Imported here, so that the runs below, which forget what they imported, need not do it again.
PARTS = [
    importlib.import_module(f"contract_guard.plugin.{name}")
    for name in ("doctor", "findings", "lazy", "unverified", "symbols")
]
ARGUMENTS = ("-p", "no:cacheprovider")


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    pytester.makepyfile(
        **{
            "shop/__init__": "",
            "shop/rates": "VAT = 19\nDUTY = 7\n",
            "shop/bill": "from shop.rates import DUTY\n\ndef total(x):\n    return x + DUTY\n",
        }
    )
    return pytester.path


@pytest.fixture
def commit(project: Path) -> Commit:
    """Commits all files with a message."""

    def run(message: str) -> None:
        for command in (("add", "-A"), ("commit", "-qm", message)):
            subprocess.run(
                ["git", "-c", "user.name=A", "-c", "user.email=a@b.invalid", *command],
                cwd=project,
                check=True,
            )

    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    return run


@pytest.fixture
def run(pytester: pytest.Pytester, project: Path) -> Callable[..., pytest.RunResult]:
    return lambda *arguments: pytester.runpytest_inprocess(*ARGUMENTS, *arguments)
