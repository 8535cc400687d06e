"""Which files of a directory belong to the project: one walk, no file opened but git's lists.

What counts: every `.py` and `.pyi` below the root, tests, tools and scripts alike, except
- directories that never hold the project's own sources (`SKIPPED_DIRECTORIES`), virtual and
  conda environments, and other git repositories (submodules) inside this one;
- what `exclude` of the configuration names, tracked or not;
- what git ignores. As in git, an ignore rule says nothing about a *tracked* file. Which files
  are tracked is read from git's index, without running git; where there is no index (an
  unpacked archive, where files were shipped although an ignore rule covers them) the ignore
  files are not applied at all. A machine's global ignore file is not read: the answer has to be
  the same everywhere.

Symbolic links are followed inside the root only, a linked directory once and not from within
another linked one, so that loops end. Whatever cannot be listed or read becomes a `Unlisted`
value, never an exception.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from contract_guard.project.ignore import exclude_spec, read_ignore_rules

SKIPPED_DIRECTORIES = frozenset(
    {
        ".git", ".hg", ".svn", ".bzr", ".jj",
        "__pycache__", "__pypackages__", "node_modules",
        ".venv", ".tox", ".nox", ".eggs",
        ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".ipynb_checkpoints",
    }
)  # fmt: skip
# A directory below the root that holds one of these is an environment or another repository.
FOREIGN_MARKS = frozenset({"pyvenv.cfg", "conda-meta", ".git"})

PYTHON_SUFFIXES = (".py", ".pyi")
COMPILED_SUFFIXES = (".so", ".pyd", ".pyx")
BUILD_SUFFIXES = (
    ".cmake", ".c", ".cc", ".cpp", ".cxx", ".cu", ".hip", ".rs", ".sh", ".proto",
)  # fmt: skip
BUILD_NAMES = frozenset(
    {
        "setup.cfg", "pyproject.toml", "CMakeLists.txt", "Cargo.toml", "meson.build",
        "Makefile", "makefile", "GNUmakefile", "BUILD", "BUILD.bazel",
        ".gitignore", ".gitmodules",
        "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "tox.ini",
    }
)  # fmt: skip


class FoundFile(NamedTuple):
    """A file and what tells its present content from another without reading it."""

    path: str  # relative to the root, `/` between parts
    mtime_ns: int
    ctime_ns: int
    inode: int
    size: int


def stamped(path: str, stat: os.stat_result) -> FoundFile:
    # Inode numbers may have 64 bits without a sign, more than SQLite keeps.
    inode = stat.st_ino & 0x7FFF_FFFF_FFFF_FFFF
    return FoundFile(path, stat.st_mtime_ns, stat.st_ctime_ns, inode, stat.st_size)


class Unlisted(NamedTuple):
    """A place that should have been looked at and could not be."""

    path: str
    reason: str


NOT_UTF8 = "its name is not UTF-8"


class Found(NamedTuple):
    """All lists are sorted by path. `build` are files that may name generated modules, or
    say what a test is."""

    python: list[FoundFile]
    compiled: list[FoundFile]
    build: list[FoundFile]
    unlisted: list[Unlisted]


def discover(root: Path, *, exclude: Sequence[str] = ()) -> Found:
    """Walk the directory `root`. `exclude` are gitignore patterns relative to it.

    Raises UserError for a pattern that is none.
    """
    walk = _Walk(root.absolute(), exclude)
    while walk.pending:
        walk.list_next()
    found = walk.found
    for entries in found:
        entries.sort()
    return found


class _Directory(NamedTuple):
    path: str  # "" for the root, else with a trailing slash
    linked: bool = False  # reached through a link


class _Walk:
    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self.root = os.fspath(root)
        self.real_root = os.path.realpath(root)
        self.exclude = exclude_spec(exclude)
        self.ignore = read_ignore_rules(root)
        self.found = Found([], [], [], [])
        self.linked: set[str] = set()  # real paths of directories entered through a link
        self.pending = [_Directory("")]

    def list_next(self) -> None:
        directory = self.pending.pop()
        try:
            with os.scandir(f"{self.root}/{directory.path}") as listing:
                entries = list(listing)
        except OSError as error:
            self._fail(directory.path.rstrip("/") or ".", error)
            return
        if directory.path and any(entry.name in FOREIGN_MARKS for entry in entries):
            return
        for entry in entries:
            try:
                self._take(entry, directory)
            except OSError as error:
                self._fail(directory.path + entry.name, error)

    def _take(self, entry: os.DirEntry[str], directory: _Directory) -> None:
        name = entry.name
        if entry.is_dir(follow_symlinks=False):
            if name not in SKIPPED_DIRECTORIES:
                self._descend(directory.path + name + "/", linked=directory.linked)
            return
        linked = entry.is_symlink()
        list_ = list_for(self.found, name)
        if list_ is None and not linked:
            return
        path = directory.path + name
        if linked:
            target = os.path.realpath(f"{self.root}/{path}")
            if not (target + "/").startswith(self.real_root + "/"):
                self._take_foreign(entry, path)
                return
            if entry.is_dir():
                if name not in SKIPPED_DIRECTORIES and not directory.linked:
                    self._follow(path, target, directory)
                return
        if list_ is None or not entry.is_file() or not self._counts(path):
            return
        if not is_text(path):
            self._fail(path, NOT_UTF8)
            return
        stat = entry.stat()
        list_.append(FoundFile(path, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size))

    def _take_foreign(self, entry: os.DirEntry[str], path: str) -> None:
        """A link that leads out of the root is not read, but a module may well be there."""
        if is_text(path) and self._counts(path) and (entry.is_dir() or path.endswith(".py")):
            stat = entry.stat(follow_symlinks=False)
            stamp = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size)
            self.found.compiled.append(FoundFile(path, *stamp))

    def _follow(self, path: str, target: str, directory: _Directory) -> None:
        """Enter a linked directory, unless it was entered before or holds the link itself."""
        above = os.path.realpath(f"{self.root}/{directory.path}")
        if target in self.linked or (above + "/").startswith(target + "/"):
            return
        self.linked.add(target)
        self._descend(path + "/", linked=True)

    def _descend(self, path: str, *, linked: bool) -> None:
        if self.exclude is not None and self.exclude.check_file(path).include:
            return
        # Nothing tracked is lost by leaving out an ignored directory that holds none.
        if (
            self.ignore is not None
            and not self.ignore.holds_tracked(path)
            and self.ignore.ignores(path)
        ):
            return
        if not is_text(path):
            self._fail(path.rstrip("/"), NOT_UTF8)
            return
        self.pending.append(_Directory(path, linked))

    def _counts(self, path: str) -> bool:
        if self.exclude is not None and self.exclude.check_file(path).include:
            return False
        return self.ignore is None or self.ignore.is_tracked(path) or not self.ignore.ignores(path)

    def _fail(self, path: str, error: OSError | str) -> None:
        reason = error if isinstance(error, str) else error.strerror or type(error).__name__
        self.found.unlisted.append(Unlisted(printable(path), reason))


def list_for(found: Found, name: str) -> list[FoundFile] | None:
    """The list that a file of this name belongs into, None for a file that does not count."""
    if name.endswith(PYTHON_SUFFIXES):
        return found.python
    if name.endswith(COMPILED_SUFFIXES):
        return found.compiled
    if name.endswith(BUILD_SUFFIXES) or name in BUILD_NAMES:
        return found.build
    return None


def printable(path: str) -> str:
    """What a path that may not be UTF-8 is called."""
    return path.encode("utf-8", "backslashreplace").decode()


def is_text(path: str) -> bool:
    """A name that is not UTF-8 comes from the system with lone surrogates in it."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
