"""The root and the paths that a command was given, checked."""

from collections.abc import Sequence
from pathlib import Path

from contract_guard.errors import UserError
from contract_guard.project.git_index import find_git_directory

_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


def checked_root(root: Path) -> Path:
    """As an absolute path. Raises UserError where it is no directory."""
    if not root.is_dir():
        raise UserError(f"{root}: {'not a directory' if root.exists() else 'no such directory'}")
    return root.absolute()


MANY_FILES = 5_000
_PROJECT_MARKS = (
    *(".git", ".hg", "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini"),
    *("contract_guard.toml", ".contract_guard.toml", "tests", "test", "__init__.py"),
)


def scope_notice(root: Path, files: int) -> str:
    """What a run is about to look at, in one line, where that may be more than was meant: many
    files, or a directory that does not look like a project. "" elsewhere."""
    is_project = any((root / mark).exists() for mark in _PROJECT_MARKS)
    if files < (MANY_FILES if is_project else MANY_FILES // 10):
        return ""
    what = "" if is_project else ", which does not look like a project"
    return f"looking at all {files:,} Python files of {root}{what}"


def is_release(text: str) -> bool:
    """Whether the text names a release: `DIST==VERSION`, or an archive that is there."""
    name, equals, version = text.partition("==")
    if equals and name.strip() and version.strip():
        return True
    return text.endswith(_ARCHIVES) and Path(text).is_file()


def select_paths(root: Path, paths: Sequence[Path]) -> tuple[str, ...]:
    """The paths relative to the root, `("",)` for the root itself or for none.

    Raises UserError for one that does not exist or lies outside the root.
    """
    selected: set[str] = set()
    real_root = root.resolve()
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or directory")
        # Where the last part is a link, it is the link that was asked for, not its target.
        linked = path.is_symlink()
        place = path.parent.resolve() / path.name if linked else path.resolve()
        if not place.is_relative_to(real_root):
            raise UserError(f"{path}: outside the project {root}")
        if linked and not path.resolve().is_relative_to(real_root):
            raise UserError(f"{path}: a link that leads out of the project {root}")
        if not (path.is_file() or path.is_dir()):
            raise UserError(f"{path}: not a regular file or a directory")
        relative = place.relative_to(real_root).as_posix()
        selected.add("" if relative == "." else relative)
    return tuple(sorted(selected)) or ("",)


def repository_prefix(root: Path) -> str:
    """Where the root lies in its git repository, "sub/dir/", "" at the top and outside of one:
    code hosts take paths from the top."""
    found = find_git_directory(root.resolve())
    place = root.resolve().relative_to(found[0]).as_posix() if found is not None else "."
    return "" if place == "." else f"{place}/"


def is_below(path: str, place: str) -> bool:
    """Whether the path is `place` or lies below it, "" being the root; both relative to it."""
    return not place or path == place or path.startswith(place + "/")
