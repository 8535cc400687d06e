"""Files of a project that a fix changes: replaced whole, never another one."""

import os
import stat
from pathlib import Path

from contract_guard.project.whole_file import replace_whole


class Refused(Exception):
    """A file that is left as it is; the text says why, in a few words."""


def replace_file(root: Path, path: str, before: bytes, after: bytes) -> None:
    """`path`, relative to `root`, holds `after` in place of `before`, with the same mode.

    Raises Refused for what lies outside of the root or is a link, may not be written, or no longer
    holds `before`.
    """
    target, status = _replaceable(root, path)
    try:
        # As late as can be: whoever writes between this and the rename is overwritten.
        replace_whole(target, after, like=status, check=lambda: _must_hold(target, before))
    except OSError as error:
        raise Refused(f"it cannot be written ({error.strerror})") from None


def must_be_replaceable(root: Path, path: str, before: bytes) -> None:
    """Raises Refused where `replace_file` would."""
    target, _ = _replaceable(root, path)
    try:
        _must_hold(target, before)
    except OSError as error:
        raise Refused(f"it cannot be read ({error.strerror})") from None
    if not os.access(target.parent, os.W_OK):
        raise Refused("its folder is read-only")


def _replaceable(root: Path, path: str) -> tuple[Path, os.stat_result]:
    target = root / path
    real_root = root.resolve()
    if not target.parent.resolve().is_relative_to(real_root):
        raise Refused("it lies outside of the project")
    try:
        status = target.lstat()
    except OSError as error:
        raise Refused(f"it is gone ({error.strerror})") from None
    if not stat.S_ISREG(status.st_mode):
        raise Refused("it is a link" if stat.S_ISLNK(status.st_mode) else "it is no plain file")
    if not status.st_mode & stat.S_IWUSR or not os.access(target, os.W_OK):
        raise Refused("it is read-only")
    return target, status


def _must_hold(target: Path, before: bytes) -> None:
    if target.read_bytes() != before:
        raise Refused("it changed since it was read; run again")
