"""Wrong bytes in a cache that is a sound database: what was kept is made again, without a word."""

import sqlite3
import subprocess
from pathlib import Path

import pytest

FILES = {
    "pyproject.toml": "[project]\nname = 'gate'\n",
    "gate/__init__.py": "",
    "gate/ids.py": "PAD = 1\n",
    "tests/test_gate.py": "from gate.ids import PAD, GONE\ndef test_pad():\n    assert PAD == 1\n",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a commit -q -m a"):
        subprocess.run(["git", *command.split()], check=True)
    return root


def damage(tmp_path: Path, table: str, column: str) -> int:
    """Fill a column with other bytes; how many rows it has."""
    (path,) = (tmp_path / "cache/contract-guard").glob("*.sqlite3")
    with sqlite3.connect(path) as connection:
        changed = connection.execute(f"UPDATE {table} SET {column} = x'01020304'").rowcount
        if table == "sources":
            connection.execute("DELETE FROM results")  # so that facts are asked for
    connection.close()
    return changed


@pytest.mark.parametrize(
    ("command", "table", "column"),
    [
        (("check",), "sources", "facts"),
        (("check",), "results", "result"),
        (("check",), "copies", "result"),
        (("check", "--base", "HEAD"), "sources", "facts"),
        (("check", "--base", "HEAD"), "results", "result"),
        (("diff", "HEAD"), "sources", "facts"),
        (("diff", "HEAD"), "results", "result"),
    ],
)
def test_what_was_kept_is_made_again(
    run, project: Path, tmp_path: Path, command: tuple[str, ...], table: str, column: str
) -> None:
    (project / "gate/ids.py").write_text("PADDING = 1\n")
    first = run(*command)
    assert first.code == 1
    assert damage(tmp_path, table, column) > 0
    again = run(*command)
    assert (again.code, again.err) == (1, first.err)
    assert findings(again.out) == findings(first.out)


def findings(text: str) -> list[str]:
    return [line for line in text.splitlines() if "CG" in line]
