"""Unpacking of wheels and source distributions that nobody vouches for.

Only what is read later is written: Python sources, stubs and build files as they are, compiled
modules as empty files of their names. Nothing that the archive says can place a file outside the
target, make a link, or fill the disk; nothing in it is run.
"""

import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple

from contract_guard.errors import UserError

MOST_MEMBERS = 200_000
MOST_BYTES = 2 << 30
LARGEST_MEMBER = 32 << 20

_KEPT_SUFFIXES = frozenset({".py", ".pyi", ".toml", ".cfg", ".pyx", ".pxd"})
_KEPT_NAMES = frozenset({"CMakeLists.txt", "METADATA", "PKG-INFO", "top_level.txt", "meson.build"})
_COMPILED_SUFFIXES = frozenset({".so", ".pyd", ".dylib"})
_CHUNK = 1 << 20
_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


class _Member(NamedTuple):
    """`stream` is None for what is no regular file and is left out."""

    name: str
    size: int
    stream: IO[bytes] | None


def is_archive(path: Path) -> bool:
    """Whether the name is that of a wheel or of a source distribution."""
    return path.name.endswith((".whl", ".zip", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz"))


def unpack(archive: Path, target: Path) -> None:
    """Unpack `archive` as the new directory `target`: whole, or not at all.

    Raises UserError, with the reason on one line, for an archive that is broken, too large, or
    that names places outside itself.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".unpacking-", dir=target.parent) as scratch:
        place = Path(scratch) / "files"
        place.mkdir()
        try:
            found = _unpack_members(archive, place)
        except _BROKEN as error:
            raise UserError(f"{archive.name}: broken archive ({error or 'truncated'})") from None
        if not found:
            raise UserError(f"{archive.name}: no Python files in it")
        _move(place, target)


def _move(place: Path, target: Path) -> None:
    try:
        place.rename(target)
    except OSError:
        # Another process was first; an archive of the same digest gives the same files.
        if not target.is_dir():
            raise


def _unpack_members(archive: Path, place: Path) -> bool:
    """Write what is kept; whether there was any Python in it."""
    written = 0
    has_python = False
    for count, member in enumerate(_members(archive), 1):
        if count > MOST_MEMBERS:
            raise UserError(f"{archive.name}: more than {MOST_MEMBERS} files")
        path = _safe(archive, member.name)
        if path is None or member.stream is None:
            continue
        if path.suffix in _COMPILED_SUFFIXES:
            data = b""
        elif path.suffix in _KEPT_SUFFIXES or path.name in _KEPT_NAMES:
            data = _read(archive, member)
            written += len(data)
            if written > MOST_BYTES:
                raise UserError(f"{archive.name}: more than {MOST_BYTES >> 30} GB of sources")
        else:
            continue
        has_python = has_python or path.suffix in {".py", ".pyi"} or not data
        _write(archive, place / path, data)
    return has_python


def _read(archive: Path, member: _Member) -> bytes:
    """A member's bytes, counted as they come: the size that it claims may be a lie."""
    assert member.stream is not None
    chunks: list[bytes] = []
    size = 0
    while chunk := member.stream.read(_CHUNK):
        size += len(chunk)
        if size > LARGEST_MEMBER:
            raise UserError(
                f"{archive.name}: {member.name!r} is larger than {LARGEST_MEMBER >> 20} MB"
            )
        chunks.append(chunk)
    return b"".join(chunks)


def _write(archive: Path, path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise UserError(f"{archive.name}: cannot unpack {path.name!r}: {error.strerror}") from None


def _safe(archive: Path, name: str) -> PurePosixPath | None:
    """The member's place below the target, None for a directory.

    Raises UserError for a name that leads out of the archive.
    """
    path = PurePosixPath(name)
    if (
        path.is_absolute()
        or ".." in path.parts
        or "\\" in name
        or "\0" in name
        or (path.parts and ":" in path.parts[0])
    ):
        raise UserError(f"{archive.name}: refused, {name!r} leads out of the archive")
    return None if name.endswith("/") or not path.parts else path


def _members(archive: Path) -> Iterator[_Member]:
    if archive.name.endswith((".whl", ".zip")):
        yield from _zip_members(archive)
    else:
        yield from _tar_members(archive)


def _zip_members(archive: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(archive) as bundle:
        for info in bundle.infolist():
            if info.is_dir():
                yield _Member(info.filename + "/" * (not info.filename.endswith("/")), 0, None)
            elif (info.external_attr >> 16) & 0o170000 == 0o120000:
                yield _Member(info.filename, 0, None)
            else:
                with bundle.open(info) as stream:
                    yield _Member(info.filename, info.file_size, stream)


def _tar_members(archive: Path) -> Iterator[_Member]:
    with tarfile.open(archive, "r:*") as bundle:
        for info in bundle:
            if info.issym() or info.islnk():
                _check_link(archive, info)
            if info.ischr() or info.isblk() or info.isfifo():
                raise UserError(f"{archive.name}: refused, {info.name!r} is a device")
            if info.isdir():
                yield _Member(info.name + "/", 0, None)
            else:
                stream = bundle.extractfile(info) if info.isreg() else None
                yield _Member(info.name, info.size, stream)


def _check_link(archive: Path, info: tarfile.TarInfo) -> None:
    """Links are left out, but one that leads out of the archive marks the whole as hostile."""
    base = PurePosixPath() if info.islnk() else PurePosixPath(info.name).parent
    depth = 0
    for part in (base / info.linkname).parts:
        depth += -1 if part == ".." else part not in {".", ""}
        if depth < 0 or part == "/":
            raise UserError(f"{archive.name}: refused, the link {info.name!r} leads out of it")
