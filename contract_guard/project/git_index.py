"""Which files git tracks, from the index file's own bytes: no git process, nothing run.

Format: gitformat-index(5), versions 2 to 4, SHA-1 and SHA-256 repositories.
"""

import os
from pathlib import Path

_HEADER = 12
_STAT_FIELDS = 40
_EXTENDED = 0x4000
_NAME_LENGTH = 0x0FFF
_DIRECTORY_MODE = 0o040000  # a folded directory of a sparse index


def find_git_directory(place: Path) -> tuple[Path, Path] | None:
    """(top of the working tree, git directory) of the repository that `place` is in."""
    for top in (place, *place.parents):
        dot_git = top / ".git"
        if dot_git.is_dir():
            return top, dot_git
        if dot_git.is_file():  # a linked worktree or a submodule
            text = dot_git.read_bytes()[:4096]
            if text.startswith(b"gitdir:"):
                return top, top / os.fsdecode(text.removeprefix(b"gitdir:").strip())
            return None
    return None


def tracked_paths(git_directory: Path) -> list[str] | None:
    """Paths of the index relative to the top of the working tree, as `os.fsdecode` gives them.

    None where there is no index, or one that does not list every file by itself: a split or a
    sparse index, an unknown version, a damaged file.
    """
    data = _content(git_directory / "index")
    if data is None:
        return None
    oid_size = 32 if _uses_sha256(git_directory) else 20
    try:
        return _parse(data, oid_size)
    except (IndexError, ValueError):
        return None


def _uses_sha256(git_directory: Path) -> bool:
    config = (_content(git_directory / "config") or b"").lower()
    return b"objectformat" in config and b"sha256" in config


def _content(path: Path) -> bytes | None:
    """None for what is no file, a pipe above all, and for one that cannot be read."""
    try:
        return path.read_bytes() if path.is_file() else None
    except OSError:
        return None


def _parse(data: bytes, oid_size: int) -> list[str] | None:
    """Raises IndexError or ValueError where the data ends early."""
    version = int.from_bytes(data[4:8], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        return None
    paths: list[str] = []
    name = b""
    at = _HEADER
    for _ in range(int.from_bytes(data[8:12], "big")):
        start = at
        if int.from_bytes(data[at + 24 : at + 28], "big") == _DIRECTORY_MODE:
            return None
        at += _STAT_FIELDS + oid_size
        flags = data[at] << 8 | data[at + 1]
        at += 4 if flags & _EXTENDED else 2
        if version == 4:
            strip, at = _offset_varint(data, at)
            end = data.index(b"\0", at)
            name = name[: len(name) - strip] + data[at:end]
            at = end + 1
        else:
            length = flags & _NAME_LENGTH
            end = data.index(b"\0", at) if length == _NAME_LENGTH else at + length
            name = data[at:end]
            at = start + ((end - start + 8) & ~7)  # NUL padded to a multiple of eight
        paths.append(os.fsdecode(name))
    if at > len(data) - oid_size or _is_split(data, at, oid_size):
        return None
    return paths


def _offset_varint(data: bytes, at: int) -> tuple[int, int]:
    byte = data[at]
    value = byte & 0x7F
    while byte & 0x80:
        at += 1
        byte = data[at]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, at + 1


def _is_split(data: bytes, at: int, oid_size: int) -> bool:
    """Whether the extension `link` is there: the rest of the entries are in a shared index."""
    while at + 8 <= len(data) - oid_size:
        if data[at : at + 4] == b"link":
            return True
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "big")
    return False
