"""Ignore rules: git's, for files that git does not track, and the configuration's `exclude`."""

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contract_guard.errors import UserError
from contract_guard.project.git_index import find_git_directory, tracked_paths

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

# Bounds on what a hostile repository may ask for. The time to match a pattern's regular
# expression grows with the power of the number of its wildcards.
_MOST_BYTES = 1 << 18
_MOST_PATTERNS = 3_000
_MOST_WILDCARDS = 3
# An escaped character, or a set of them, in which a leading ] means itself.
_CLOSED = re.compile(r"\\.|\[[!^]?+\]?+(?:\\.|[^\]\\])*\]", re.DOTALL)


def exclude_spec(patterns: Sequence[str], key: str = "exclude") -> "GitIgnoreSpec | None":
    """The configuration's patterns under `key`. Raises UserError for one that is no gitignore
    pattern."""
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError as error:
            raise UserError(f"{key}: {pattern!r} is not a gitignore pattern: {error}") from None
        if _is_left_open(pattern):
            raise UserError(f"{key}: {pattern!r} is not a gitignore pattern: a [ without a ]")
    return GitIgnoreSpec.from_lines(patterns)


def _is_left_open(pattern: str) -> bool:
    """Whether a set of characters does not end: git lets such a pattern fit nothing."""
    if pattern.startswith("#"):
        return False
    return "[" in _CLOSED.sub("", pattern)


class IgnoreRules:
    """Git's ignore rules of one working tree, as they fall on the directory `root` in it.

    Ignore files are read when the first untracked path asks for them: most runs see none.
    """

    def __init__(self, root: str, top: str, common: str, tracked: list[str] | None) -> None:
        self._root = root
        self._top = top
        self._common = common
        # `root` as seen from the top of the working tree, "" or with a trailing slash
        self._prefix = "" if root == top else os.path.relpath(root, top).replace(os.sep, "/") + "/"
        self._tracked = frozenset(tracked or ())
        self._tracked_directories = _parents(self._tracked)
        self._specs: dict[str, GitIgnoreSpec | None] = {}
        self._ignored: dict[str, bool] = {}

    def is_tracked(self, path: str) -> bool:
        return self._prefix + path in self._tracked

    def holds_tracked(self, directory: str) -> bool:
        """`directory` ends with a slash. A submodule is tracked itself."""
        full = self._prefix + directory
        return full in self._tracked_directories or full[:-1] in self._tracked

    def ignores(self, path: str) -> bool:
        """Whether a rule covers the untracked `path`, or a directory above it.

        A directory ends with a slash.
        """
        above = path.rstrip("/").rfind("/") + 1
        if above:
            directory = path[:above]
            if directory not in self._ignored:
                self._ignored[directory] = self.ignores(directory)
            if self._ignored[directory]:
                return True
        return self._matches(self._prefix + path)

    def _matches(self, full: str) -> bool:
        at = full.rstrip("/").rfind("/") + 1
        while True:  # the nearest ignore file that says anything decides
            spec = self._spec(full[:at])
            if spec is not None and (verdict := spec.check_file(full[at:]).include) is not None:
                return verdict
            if at == 0:
                break
            at = full.rfind("/", 0, at - 1) + 1
        spec = self._spec(None)
        return spec is not None and bool(spec.check_file(full).include)

    def _spec(self, directory: str | None) -> "GitIgnoreSpec | None":
        """Of `.gitignore` in a directory under the top, or of `info/exclude` for None."""
        key = "\0" if directory is None else directory
        if key not in self._specs:
            path = (
                f"{self._common}/info/exclude"
                if directory is None
                else f"{self._top}/{directory}.gitignore"
            )
            self._specs[key] = _read_spec(path)
        return self._specs[key]


def read_ignore_rules(root: Path) -> IgnoreRules | None:
    """The rules that fall on `root`; None where no git repository says what is tracked."""
    found = find_git_directory(root)
    if found is None:
        return None
    top, git_directory = found
    if not (git_directory / "HEAD").is_file():
        return None
    common = git_directory
    if (git_directory / "commondir").is_file():
        common = git_directory / (git_directory / "commondir").read_text("utf-8").strip()
    tracked = tracked_paths(git_directory)
    return IgnoreRules(os.fspath(root), os.fspath(top), os.fspath(common), tracked)


def _parents(paths: Iterable[str]) -> frozenset[str]:
    directories: set[str] = set()
    for path in paths:
        at = path.rfind("/") + 1
        while at and (directory := path[:at]) not in directories:
            directories.add(directory)
            at = path.rfind("/", 0, at - 1) + 1
    return frozenset(directories)


def _read_spec(path: str) -> "GitIgnoreSpec | None":
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - thousands of directories are asked
            text = file.read(_MOST_BYTES)
    except OSError:
        return None
    from pathspec import GitIgnoreSpec

    lines = [
        line
        for line in text.decode("utf-8", "surrogateescape").splitlines()
        if line.strip()
        and not line.startswith("#")
        and len(re.findall(r"\*+", line)) <= _MOST_WILDCARDS
    ][:_MOST_PATTERNS]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))


def _is_pattern(line: str) -> bool:
    """Git passes over a line that it cannot read; so do we."""
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
