"""Revisions without a checkout, from repositories of every make, some of them hostile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.git_objects import Repository

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        env={**os.environ, **IDENTITY},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def commit(folder: Path, files: dict[str, str], message: str = "change") -> str:
    write(folder, files)
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", message)
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, {"pkg/a.py": "A = 1\n", "tests/test_a.py": "import pkg.a\n"}, "one")
    commit(folder, {"pkg/a.py": "A = 2\n"}, "two")
    return folder


def contents(folder: Path, revision: str) -> dict[str, bytes]:
    with Repository(folder) as repository:
        files = repository.files(repository.resolve(revision))
        data = dict(repository.read([file.oid for file in files]))
        return {file.path: data[file.oid] for file in files}


def test_reads_any_revision(repository: Path) -> None:
    assert contents(repository, "HEAD")["pkg/a.py"] == b"A = 2\n"
    assert contents(repository, "HEAD~1") == {
        "pkg/a.py": b"A = 1\n",
        "tests/test_a.py": b"import pkg.a\n",
    }


def test_paths_are_relative_to_the_folder_asked_for(repository: Path) -> None:
    assert contents(repository / "pkg", "main") == {"a.py": b"A = 2\n"}


def test_log_names_the_commits_that_touched_a_path(repository: Path) -> None:
    with Repository(repository) as opened:
        assert [entry.subject for entry in opened.log("HEAD", ["pkg/a.py"])] == ["two", "one"]
        assert [entry.subject for entry in opened.log("HEAD~1..HEAD", ["pkg"])] == ["two"]


def test_merge_base(repository: Path) -> None:
    base = git(repository, "rev-parse", "HEAD")
    git(repository, "checkout", "-qb", "side")
    side = commit(repository, {"side.py": ""})
    git(repository, "checkout", "-q", "main")
    main = commit(repository, {"main.py": ""})
    git(repository, "checkout", "-q", "--orphan", "other")
    other = commit(repository, {"other.py": ""})
    with Repository(repository) as opened:
        assert opened.merge_base(side, main) == base
        assert opened.merge_base(main, other) is None


@pytest.mark.parametrize("revision", ["nowhere", "", "--all", "HEAD:pkg/a.py", "HEAD~9", "a b\nc"])
def test_unknown_revisions(repository: Path, revision: str) -> None:
    with Repository(repository) as opened, pytest.raises(UserError, match="unknown revision"):
        opened.resolve(revision)


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not in a git repository"):
        Repository(tmp_path)


def test_no_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match="git is not installed"):
        Repository(repository)


def test_bare_shallow_worktree_and_detached(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare")
    assert contents(tmp_path / "bare", "HEAD~1")["pkg/a.py"] == b"A = 1\n"

    git(tmp_path, "clone", "-q", "--depth=1", repository.as_uri(), "shallow")
    assert contents(tmp_path / "shallow", "HEAD")["pkg/a.py"] == b"A = 2\n"
    with Repository(tmp_path / "shallow") as opened, pytest.raises(UserError):
        opened.resolve("HEAD~1")

    git(repository, "worktree", "add", "-q", "--detach", str(tmp_path / "tree"), "HEAD~1")
    assert contents(tmp_path / "tree", "HEAD")["pkg/a.py"] == b"A = 1\n"


def test_sha256_repository(tmp_path: Path) -> None:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "--object-format=sha256")
    oid = commit(folder, {"a.py": "A = 1\n"})
    assert len(oid) == 64
    assert contents(folder, "HEAD") == {"a.py": b"A = 1\n"}


def test_links_and_submodules_are_left_out(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", str(repository), "inner")
    git(repository, "-c", "protocol.file.allow=always", "submodule", "add", str(tmp_path / "inner"))
    (repository / "link.py").symlink_to("/etc/hostname")
    commit(repository, {})
    assert set(contents(repository, "HEAD")) == {".gitmodules", "pkg/a.py", "tests/test_a.py"}


@pytest.mark.parametrize(
    "name", ["größe.py", "a b.py", "tab\there.py", 'quo"te.py', "new\nline.py"]
)
def test_odd_paths(repository: Path, name: str) -> None:
    commit(repository, {name: "A = 3\n"})
    assert contents(repository, "HEAD")[name] == b"A = 3\n"


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes only UTF-8 names")
def test_paths_that_are_not_utf8(repository: Path) -> None:
    Path(os.fsdecode(os.fsencode(repository) + b"/caf\xe9.py")).write_text("A = 4\n")
    commit(repository, {})
    assert contents(repository, "HEAD")[os.fsdecode(b"caf\xe9.py")] == b"A = 4\n"


@pytest.mark.parametrize("name", ["#repo", 'quo"te', "back\\slash", "sp ace"])
def test_odd_places(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    git(folder, "init", "-q")
    commit(folder, {"a.py": "A = 1\n"})
    assert contents(folder, "HEAD") == {"a.py": b"A = 1\n"}


def test_the_repository_runs_nothing_and_is_not_written_to(
    repository: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    program.chmod(0o755)
    commit(repository, {".gitattributes": "*.py filter=evil diff=evil merge=evil\n"})
    for key in (
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.gitProxy",
        "core.alternateRefsCommand",
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "merge.evil.driver",
        "gpg.program",
    ):
        git(repository, "config", key, str(program))
    git(repository, "config", "log.showSignature", "true")
    hooks = repository / ".git/hooks"
    for name in ("post-checkout", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch '{marker}'\n")
        (hooks / name).chmod(0o755)
    marker.unlink(missing_ok=True)
    before = state(repository)
    assert contents(repository, "HEAD")["pkg/a.py"] == b"A = 2\n"
    with Repository(repository) as opened:
        opened.log("HEAD", ["pkg"])
        opened.merge_base(opened.resolve("HEAD"), opened.resolve("HEAD~1"))
    assert not marker.exists()
    assert state(repository) == before


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.read_bytes())
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_a_partial_clone_fetches_nothing(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", repository.as_uri(), "partial")
    marker = tmp_path / "marker"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    program.chmod(0o755)
    git(tmp_path / "partial", "config", "remote.origin.uploadpack", str(program))
    with pytest.raises(UserError, match=r"fetch what is missing with: git -C .* fetch --refetch"):
        contents(tmp_path / "partial", "HEAD")
    with Repository(tmp_path / "partial") as opened, pytest.raises(UserError, match="unknown"):
        opened.resolve("1" * 40)
    assert not marker.exists()


def test_a_corrupt_object(repository: Path) -> None:
    oid = git(repository, "rev-parse", "HEAD:pkg/a.py")
    path = repository / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    path.write_bytes(b"not zlib")
    with pytest.raises(UserError, match=r"is missing or damaged; `git -C .* fsck` says"):
        contents(repository, "HEAD")
