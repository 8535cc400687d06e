import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_guard.project.git_index import find_git_directory, tracked_paths

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

LONG = "/".join(["directory" * 10] * 50) + "/x.py"  # more than the 4,095 bytes that flags hold
FILES = {
    "a.py": "1",
    "a/b.py": "2",
    "a/bb.py": "3",
    "a/b/c.py": "4",
    "ä/ö.py": "5",
    "with space.py": "6",
}


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_the_same_as_git_says(version: str, write: Write, git: Git) -> None:
    root = write(FILES)
    git("config", "index.version", version)
    git("add", ".")
    if version == "3":  # git writes version 3 only where an entry has a flag that needs it
        git("add", "--intent-to-add", str(write({"later.py": ""}) / "later.py"))
    said = git("ls-files", "-z").split("\0")[:-1]
    assert len(said) >= len(FILES)
    assert tracked_paths(root / ".git") == said


def test_sha256_repository(root: Path, write: Write, git: Git) -> None:
    git("init", "-q", "--object-format=sha256", "inner")
    inner = root / "inner"
    (inner / "a.py").write_text("")
    git("-C", "inner", "add", ".")
    assert tracked_paths(inner / ".git") == ["a.py"]


def test_names_longer_than_the_flags_say(root: Path, git: Git) -> None:
    object_id = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    git("update-index", "--add", "--info-only", "--cacheinfo", f"100644,{object_id},{LONG}")
    assert tracked_paths(root / ".git") == [LONG]


def test_split_index_is_not_guessed(write: Write, git: Git) -> None:
    root = write(FILES)
    git("add", ".")
    git("update-index", "--split-index")
    assert tracked_paths(root / ".git") is None


def test_none(root: Path) -> None:
    assert tracked_paths(root / ".git") is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
@pytest.mark.parametrize("name", ["index", "config"])
def test_a_pipe_is_not_waited_for(name: str, write: Write, git: Git) -> None:
    root = write(FILES)
    git("add", ".")
    (root / ".git" / name).unlink()
    os.mkfifo(root / ".git" / name)
    assert (tracked_paths(root / ".git") is None) == (name == "index")


def test_find(root: Path, write: Write, git: Git) -> None:
    write({"a/b/x.py": ""})
    assert find_git_directory(root / "a" / "b") == (root, root / ".git")


def test_find_through_a_file(root: Path, tmp_path: Path) -> None:
    (root / ".git").write_text("gitdir: ../store\n")
    assert find_git_directory(root) == (root, root / "../store")
    (root / ".git").write_text("nonsense")
    assert find_git_directory(root) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(data=st.data())
def test_damage_never_raises(data: st.DataObject, root: Path, write: Write, git: Git) -> None:
    index = root / ".git" / "index"
    if not index.exists():
        write(FILES)
        git("add", ".")
        (root / "index").write_bytes(index.read_bytes())
    whole = (root / "index").read_bytes()
    damaged = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for at in data.draw(st.lists(st.integers(0, max(len(damaged) - 1, 0)), max_size=3)):
        if damaged:
            damaged[at] = data.draw(st.integers(0, 255))
    index.write_bytes(damaged)
    result = tracked_paths(root / ".git")
    assert result is None or isinstance(result, list)
