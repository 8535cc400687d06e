"""What a commit hook has to look at: what will be in the commit, against what it sets out from."""

import re
from pathlib import Path

import msgspec

from contract_guard.errors import UserError
from contract_guard.project.config import Config
from contract_guard.project.discovery import discover
from contract_guard.project.git_index import find_git_directory, tracked_paths
from contract_guard.project.git_objects import Repository

_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


def hook_base(root: Path, index: Path | None) -> str | None:
    """HEAD, or None where nothing is staged and no commit is being made: then all of the project
    is asked for, as by `pre-commit run --all-files`. `index` is the one that git names to the hooks
    of a commit, if this is one.

    Raises UserError for a place that is no repository.
    """
    with Repository(root) as repository:
        if index is not None and index.absolute().resolve().is_relative_to(repository.own):
            return "HEAD"
        return "HEAD" if repository.has_staged() else None


def has_commit(root: Path) -> bool:
    """Whether there is a commit to compare with. Raises UserError for a place that is no
    repository."""
    with Repository(root) as repository:
        return not repository.is_unborn


def only_tracked(root: Path, config: Config) -> Config | None:
    """The configuration with the files that git does not track among what it excludes: they are no
    part of a commit. None where git's index does not list every file (a split or a sparse one)."""
    root = root.resolve()
    found = find_git_directory(root)
    if found is None:
        raise UserError(f"{root}: not in a git repository")
    is_new = not (found[1] / "index").exists()  # nothing was ever added
    tracked = [] if is_new else tracked_paths(found[1])
    if tracked is None:
        return None
    prefix = root.relative_to(found[0]).as_posix()
    top = "" if prefix == "." else f"{prefix}/"
    there = {path[len(top) :] for path in tracked if path.startswith(top)}
    files = discover(root, exclude=config.exclude).python
    others = [file.path for file in files if file.path not in there]
    patterns = tuple("/" + _SPECIAL.sub(r"\\\1", path) for path in others)
    return msgspec.structs.replace(config, exclude=(*config.exclude, *patterns))
