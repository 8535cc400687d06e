import os
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project import ignore
from contract_guard.project.discovery import Unlisted, discover

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]


def paths(root: Path, *exclude: str) -> list[str]:
    return [file.path for file in discover(root, exclude=exclude).python]


def test_kinds(write: Write) -> None:
    root = write(
        {
            "b.py": "",
            "a/c.pyi": "",
            "a/_C.cpython-311-x86_64-linux-gnu.so": b"",
            "a/fast.pyx": "",
            "CMakeLists.txt": "",
            "a/x.cpp": "",
            "readme.md": "",
            ".github/tool.py": "",
        }
    )
    found = discover(root)
    assert [file.path for file in found.python] == [".github/tool.py", "a/c.pyi", "b.py"]
    assert [file.path for file in found.compiled] == [
        "a/_C.cpython-311-x86_64-linux-gnu.so",
        "a/fast.pyx",
    ]
    assert [file.path for file in found.build] == ["CMakeLists.txt", "a/x.cpp"]
    assert found.unlisted == []


def test_stamps(write: Write) -> None:
    root = write({"a.py": "x = 1\n"})
    stat = (root / "a.py").stat()
    (file,) = discover(root).python
    assert file == ("a.py", stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, 6)


def test_directories_that_hold_no_sources(write: Write) -> None:
    root = write(
        {
            "a.py": "",
            "__pycache__/x.py": "",
            "node_modules/x.py": "",
            ".tox/x.py": "",
            "env/pyvenv.cfg": "",
            "env/lib/x.py": "",
            "conda/conda-meta/history": "",
            "conda/x.py": "",
            "sub/.git": "gitdir: ../.git/modules/sub",
            "sub/x.py": "",
            "build/lib/x.py": "",
        }
    )
    assert paths(root) == ["a.py", "build/lib/x.py"]


def test_exclude(write: Write) -> None:
    root = write({"a.py": "", "old/b.py": "", "new/old/c.py": "", "new/d_gen.py": "", "e.py": ""})
    assert paths(root, "/old/", "*_gen.py") == ["a.py", "e.py", "new/old/c.py"]
    assert paths(root, "old/", "*.py", "!e.py") == ["e.py"]


def test_exclude_takes_tracked_files_too(write: Write, git: Git) -> None:
    root = write({"a.py": "", "b.py": ""})
    git("add", ".")
    assert paths(root, "a.py") == ["b.py"]


def test_exclude_that_is_no_pattern(root: Path) -> None:
    with pytest.raises(UserError, match=r"^exclude: '!' is not a gitignore pattern"):
        discover(root, exclude=["!"])


class TestGitIgnore:
    def test_every_level_and_the_repository_s_own(self, write: Write, git: Git) -> None:
        root = write(
            {
                ".gitignore": "gen_*.py\n/dist/\nlogs/\n",
                "a/.gitignore": "!gen_kept.py\nlocal.py\n",
                "a/gen_kept.py": "",
                "a/gen_x.py": "",
                "a/local.py": "",
                "a/b/local.py": "",
                "b/local.py": "",
                "dist/x.py": "",
                "b/dist/x.py": "",
                "b/logs/deep/x.py": "",
                "secret.py": "",
            }
        )
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "exclude").write_text("secret.py\n")
        expected = ["a/gen_kept.py", "b/dist/x.py", "b/local.py"]
        assert paths(root) == expected
        said = git("ls-files", "--others", "--exclude-standard", "*.py").split()
        assert said == expected

    def test_tracked_files_count_although_a_rule_covers_them(self, write: Write, git: Git) -> None:
        root = write(
            {
                ".gitignore": "*_hip*\nvendored/\n",
                "a_hip.py": "",
                "b_hip.py": "",
                "vendored/x/kept.py": "",
                "vendored/x/lost.py": "",
                "vendored/y/lost.py": "",
            }
        )
        git("add", "-f", "a_hip.py", "vendored/x/kept.py")
        assert paths(root) == ["a_hip.py", "vendored/x/kept.py"]

    def test_not_read_for_a_submodule_that_is_not_there(
        self, write: Write, git: Git, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write({".gitignore": "b.py\n", "a.py": ""})
        (root / "sub").mkdir()
        git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
        git("add", "a.py", ".gitignore")
        monkeypatch.setattr(ignore, "_read_spec", None)  # would fail if it were called
        assert paths(root) == ["a.py"]

    def test_not_applied_where_nothing_says_what_is_tracked(self, write: Write) -> None:
        assert paths(write({".gitignore": "a.py\n", "a.py": ""})) == ["a.py"]

    def test_project_below_the_top(self, write: Write, git: Git) -> None:
        root = write(
            {
                ".gitignore": "/sub/gen.py\nlocal.py\n",
                "sub/gen.py": "",
                "sub/a.py": "",
                "sub/tracked/local.py": "",
                "sub/other/local.py": "",
            }
        )
        git("add", "-f", "sub/tracked/local.py")
        assert paths(root / "sub") == ["a.py", "tracked/local.py"]

    def test_lines_that_git_cannot_read_and_lines_that_never_end(
        self, write: Write, git: Git
    ) -> None:
        hostile = "a*a*a*a*a*a*a*a*a*a*a*b.py"
        long = "a" * 200 + ".py"
        rules = f"!\n{hostile}\ngen.py\n**/made/**/*.py\n"
        root = write({".gitignore": rules, "gen.py": "", long: "", "a/made/b/c.py": ""})
        assert paths(root) == [long]

    def test_linked_worktree(self, write: Write, git: Git, tmp_path: Path) -> None:
        write({".gitignore": "gen*.py\n", "a.py": "", "gen_kept.py": ""})
        git("add", "-f", ".")
        git("commit", "-qm", "x")
        git("worktree", "add", "-q", str(tmp_path / "tree"))
        (tmp_path / "tree" / "gen_lost.py").write_text("")
        assert paths(tmp_path / "tree") == ["a.py", "gen_kept.py"]


class TestLinks:
    def test_out_of_the_root(self, write: Write, tmp_path: Path) -> None:
        root = write({"a.py": ""})
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside" / "x.py").write_text("")
        (root / "dir").symlink_to(tmp_path / "outside")
        (root / "file.py").symlink_to(tmp_path / "outside" / "x.py")
        assert paths(root) == ["a.py"]

    def test_inside_the_root(self, write: Write) -> None:
        root = write({"a/x.py": ""})
        (root / "b").symlink_to("a")
        (root / "y.py").symlink_to("a/x.py")
        assert paths(root) == ["a/x.py", "b/x.py", "y.py"]

    def test_loops_and_broken_links_end(self, write: Write) -> None:
        root = write({"a/x.py": "", "b/y.py": ""})
        (root / "a" / "up").symlink_to("..")
        (root / "a" / "self").symlink_to(".")
        (root / "a" / "b").symlink_to("../b")
        (root / "b" / "a").symlink_to("../a")
        (root / "gone.py").symlink_to("nowhere.py")
        (root / "ring.py").symlink_to("ring.py")
        assert paths(root) == ["a/b/y.py", "a/x.py", "b/a/x.py", "b/y.py"]

    def test_many_links_to_one_another_stay_few(self, write: Write) -> None:
        names = [f"d{number}" for number in range(12)]
        root = write({f"{name}/x.py": "" for name in names})
        for name in names:
            for other in names:
                if other != name:
                    (root / name / other).symlink_to(f"../{other}")
        # Each of the 12 directories itself, and once more through a link.
        assert len(paths(root)) == 24


def test_what_is_no_regular_file(root: Path) -> None:
    (root / "dir.py").mkdir()
    (root / "dir.py" / "a.py").write_text("")
    os.mkfifo(root / "pipe.py")
    here = Path.cwd()
    os.chdir(root)  # the name of a socket has few characters
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("socket.py")
            assert paths(root) == ["dir.py/a.py"]
    finally:
        os.chdir(here)


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system refuses such names")
def test_names_that_are_not_utf8(root: Path) -> None:
    (root / "a.py").write_text("")
    Path(os.fsdecode(bytes(root) + b"/b\xff.py")).write_text("")
    Path(os.fsdecode(bytes(root) + b"/c\xff")).mkdir()
    found = discover(root)
    assert [file.path for file in found.python] == ["a.py"]
    assert found.unlisted == [
        Unlisted("b\\udcff.py", "its name is not UTF-8"),
        Unlisted("c\\udcff", "its name is not UTF-8"),
    ]


def test_a_directory_that_cannot_be_listed(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({"a.py": "", "closed/b.py": ""})
    scandir = os.scandir

    def refuse(path: str) -> object:  # permissions do not stop root, who may run the tests
        if path.endswith("closed/"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    found = discover(root)
    assert [file.path for file in found.python] == ["a.py"]
    assert found.unlisted == [Unlisted("closed", "Permission denied")]


def test_empty(root: Path) -> None:
    assert discover(root) == ([], [], [], [])
