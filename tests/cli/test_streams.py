"""What cannot be read or written is one line and exit 2, whatever it is."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-m", "contract_guard"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg/__init__.py").write_text("")
    (root / "pkg/m.py").write_text("A = 1\n")
    (root / "test_m.py").write_text("from pkg.m import B\n\n\ndef test_b():\n    assert B == 1\n")
    return root


def check(tree: Path, *arguments: str, redirect: str = "") -> "subprocess.CompletedProcess[str]":
    command = [*COMMAND, "check", "--root", str(tree), "--no-cache", *arguments]
    if redirect:
        command = ["sh", "-c", f'exec "$@" {redirect}', "sh", *command]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("arguments", [["check", "--no-cache"], ["rules"], ["--help"]])
def test_a_full_disk_behind_standard_output(tree: Path, arguments: list[str]) -> None:
    command = ["sh", "-c", 'exec "$@" >/dev/full', "sh", *COMMAND, *arguments]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    said = "contract-guard: standard output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_standard_output_is_closed(tree: Path) -> None:
    done = check(tree, redirect=">&-")
    assert (done.returncode, done.stderr) == (2, "contract-guard: standard output is closed\n")


def test_standard_error_is_closed(tree: Path) -> None:
    done = check(tree, redirect="2>&-")
    assert done.returncode == 1
    assert done.stdout.startswith("test_m.py:1:19: CG101 error: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.contract_guard]\nx = " + "9" * 5000, "pyproject.toml: not valid TOML: "),
        ("[tool.contract_guard]\nselect = " + "[" * 5000 + "]" * 5000, "nested too deep"),
        ('[tool.contract_guard]\nexclude = ["!"]', "exclude: '!' is not a gitignore pattern"),
        (
            '[tool.contract_guard]\nexclude = ["a/[]"]',
            "exclude: 'a/[]' is not a gitignore pattern: a [ without a ]",
        ),
        (
            '[tool.contract_guard]\nper-file-ignores = { "!" = ["CG2"] }',
            "per-file-ignores: '!' is not a gitignore pattern",
        ),
    ],
)
def test_a_configuration_that_cannot_be_read(tree: Path, text: str, said: str) -> None:
    (tree / "pyproject.toml").write_text(text + "\n")
    done = check(tree)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_paths_that_are_not_looked_at_are_not_clean(tree: Path) -> None:
    os.mkfifo(tree / "pipe.py")
    (tree / "out.py").symlink_to("/etc/hostname")
    done = check(tree, str(tree / "pipe.py"))
    assert (done.returncode, "not a regular file" in done.stderr) == (2, True)
    done = check(tree, str(tree / "out.py"))
    assert (done.returncode, "leads out of the project" in done.stderr) == (2, True)


def test_a_module_behind_a_link_out_of_the_root_is_not_missing(tree: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "z.py").write_text("Z = 1\n")
    (tree / "pkg/one.py").symlink_to(outside / "z.py")
    (tree / "pkg/all").symlink_to(outside)
    (tree / "test_m.py").write_text("from pkg.one import Z\nfrom pkg.all.z import Z as Y\n")
    done = check(tree)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_damaged_result_is_made_again(tree: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    command = [*COMMAND, "check", "--root", str(tree), "--cache-dir", str(cache)]
    first = subprocess.run(command, capture_output=True, text=True, check=False)
    (database,) = cache.glob("facts-*.sqlite3")
    data = bytearray(database.read_bytes())
    for place in range(4096, len(data), 7):
        data[place] ^= 0x80
    database.write_bytes(data)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (again.returncode, again.stdout) == (first.returncode, first.stdout)
    assert "internal fault" not in again.stderr


def test_a_cache_that_cannot_be_kept_is_told_once(tree: Path) -> None:
    """With tests and production code, so that mirrors are sought as well."""
    (tree / "no").write_text("")
    command = [*COMMAND, "check", "--root", str(tree), "--cache-dir", str(tree / "no/cache")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        f"contract-guard: warning: cache {tree}/no/cache: Not a directory; running without it"
    ]
