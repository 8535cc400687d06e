import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.project import gather, run_cache
from contract_guard.project.config import Config
from contract_guard.project.run_cache import Lookup, keep, look_up
from contract_guard.project.snapshot import load

Write = Callable[[Mapping[str, str | bytes]], Path]

TREE = {"a.py": "x = 1\n", "test_a.py": "import a\n", "setup.py": ""}
OPTIONS = {"select": ["CG1"], "paths": [""]}


@pytest.fixture(autouse=True)
def _old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """ctime cannot be set: a file of this test counts as settled as soon as it is written."""
    for module in (gather, run_cache):
        monkeypatch.setattr(module, "is_settled", lambda file, read_at_ns: True)


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def run(root: Path, cache_dir: Path | None, config: Config | None = None) -> Lookup:
    """A run as a command does it; its result is always the same bytes."""
    config = config or Config()
    lookup = look_up(root, config, OPTIONS, cache_dir=cache_dir)
    if lookup.result is None:
        snapshot = load(root, config, cache_dir=cache_dir, found=lookup.found)
        keep(lookup, snapshot.stamps, b"findings")
    return lookup


def test_the_second_run_reads_nothing(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(TREE)
    assert run(root, cache_dir).result is None
    monkeypatch.setattr(gather, "read_file", None)  # would fail if it were called
    assert run(root, cache_dir).result == b"findings"


def test_nothing_is_kept_without_a_directory(write: Write) -> None:
    root = write(TREE)
    assert run(root, None).result is None
    assert run(root, None).result is None


@pytest.mark.parametrize(
    "change",
    [
        {"a.py": "x = 2\n"},
        {"b.py": ""},
        {"setup.py": "Extension('_C', [])"},
        {"_C.so": b""},
        {"pytest.ini": "[pytest]\npython_files = check_*.py\n"},
    ],
)
def test_what_the_result_depends_on(
    change: dict[str, str | bytes], write: Write, cache_dir: Path
) -> None:
    run(write(TREE), cache_dir)
    assert run(write(change), cache_dir).result is None


def test_a_file_that_is_gone(write: Write, cache_dir: Path) -> None:
    root = write(TREE)
    run(root, cache_dir)
    (root / "a.py").unlink()
    assert run(root, cache_dir).result is None


def test_configuration_options_and_root(write: Write, cache_dir: Path) -> None:
    root = write(TREE)
    run(root, cache_dir)
    assert look_up(root, Config(ignore=("CG1",)), OPTIONS, cache_dir=cache_dir).result is None
    assert look_up(root, Config(), {**OPTIONS, "x": 1}, cache_dir=cache_dir).result is None
    assert look_up(root.parent, Config(), OPTIONS, cache_dir=cache_dir).result is None
    reordered = dict(reversed(OPTIONS.items()))
    assert look_up(root, Config(), reordered, cache_dir=cache_dir).result == b"findings"


def test_another_state_of_this_program(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(TREE)
    run(root, cache_dir)
    monkeypatch.setattr(run_cache, "code_stamp", lambda directory: b"other")
    assert run(root, cache_dir).result is None


def test_not_kept_where_a_file_changed_during_the_run(write: Write, cache_dir: Path) -> None:
    root = write(TREE)
    lookup = look_up(root, Config(), OPTIONS, cache_dir=cache_dir)
    write({"a.py": "x = 22\n"})
    snapshot = load(root, Config(), found=lookup.found)
    write({"a.py": TREE["a.py"]})
    os.utime(root / "a.py", ns=(lookup.found.python[0].mtime_ns,) * 2)
    keep(lookup, snapshot.stamps, b"findings of other bytes")
    assert look_up(root, Config(), OPTIONS, cache_dir=cache_dir).result is None


def test_not_kept_where_a_file_could_not_be_read(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(TREE)

    def busy(root: Path, path: str) -> object:
        raise OSError(26, "Text file busy", path)

    with monkeypatch.context() as patch:
        patch.setattr(gather, "read_file", busy)
        run(root, cache_dir)
    assert run(root, cache_dir).result is None
    assert run(root, cache_dir).result == b"findings"


def test_not_kept_where_a_stamp_may_not_show_the_next_change(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(TREE)
    monkeypatch.setattr(run_cache, "is_settled", lambda file, read_at_ns: False)
    run(root, cache_dir)
    assert run(root, cache_dir).result is None
