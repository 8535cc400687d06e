"""`contract-guard registry update`, `verify` and `export`."""

import json
import shutil
from pathlib import Path

import pytest

from contract_guard.project.rules import rules_directory

RULES = ("CG501", "CG502", "CG503", "CG504")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    shutil.copytree(rules_directory() / "CG501" / "bad", root)
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_its_own(run, rule: str) -> None:
    bad, good = rules_directory() / rule / "bad", rules_directory() / rule / "good"
    done = run("registry", "verify", "--root", str(bad), "--no-cache", "--format", "json")
    assert done.code == 1
    assert [finding["rule"] for finding in json.loads(done.out)["findings"]] == [rule]
    assert run("registry", "verify", "--root", str(good), "--no-cache").code == 0


def test_update_repairs_what_verify_finds(run, project: Path) -> None:
    assert run("registry", "verify").code == 1
    assert run("registry", "verify", "--exit-zero").code == 0
    assert run("registry", "update").out == "contracts.lock: 1 contract.\n"
    assert run("registry", "update").out == "contracts.lock: 1 contract, as before.\n"
    assert run("registry", "verify").code == 0
    assert "import tests/test_other.py" in (project / "contracts.lock").read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "there is none here; `contract-guard registry update` writes it"),
        ("<<<<<<< ours\n", "it has conflict markers"),
        ("# contracts.lock 9: x\n", "it has version 9"),
        ("nothing\n", "its first line is not"),
        (b"\xff\xfe", "cannot be read"),
        ("# contracts.lock 1: x\n\na:B\n  =  3\n", "line 4: it was edited by hand (layout)"),
    ],
)
def test_a_lock_that_cannot_be_read(run, project: Path, text: str | bytes | None, message) -> None:
    lock = project / "contracts.lock"
    if text is None:
        lock.unlink()
    else:
        lock.write_bytes(text.encode() if isinstance(text, str) else text)
    done = run("registry", "verify")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"contract-guard: contracts.lock: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("project")
def test_export(run) -> None:
    (symbol,) = json.loads(run("registry", "export").out)["symbols"]
    assert (symbol["symbol"], symbol["value"]) == ("pkg.constants:LIMIT", "5")
    assert [c["path"] for c in symbol["consumers"]] == [
        "tests/test_limit.py",
        "tests/test_other.py",
    ]


def test_the_configuration_chooses(run, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.contract_guard]\nlock = ['none:*']\n")
    assert run("registry", "update").out == "contracts.lock: 0 contracts.\n"
