"""The facts of files: from the cache where their bytes are known, from `extract` otherwise."""

import gc
import hashlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.facts.reader import MAX_BYTES
from contract_guard.project import encoding, pool
from contract_guard.project.cache import Cache, Entry, git_oid, is_settled
from contract_guard.project.discovery import FoundFile, stamped

if TYPE_CHECKING:
    from contract_guard.project.git_objects import Blob

# Larger files are not opened: they are data, and a worker could not hold their facts.
LARGEST_FILE = MAX_BYTES
# How much is read before the cache is asked for it, and how much is kept in one transaction.
_READ_FILES = 500
_KEEP_FILES = 500
# From so many files on, memory is worth the time that sharing takes.
_MANY_FILES = 2_000


@dataclass(slots=True)
class Gathered:
    """`stamps` are those of the bytes that the facts were taken from; they may be newer than the
    ones that were found. A file for which another run may give something else has none. `digests`
    are the SHA-256 of these bytes, where there is a cache. `hits` came from it."""

    files: dict[str, ModuleFacts | Unreadable] = field(
        default_factory=dict[str, ModuleFacts | Unreadable]
    )
    stamps: dict[str, FoundFile] = field(default_factory=dict[str, FoundFile])
    digests: dict[str, bytes] = field(default_factory=dict[str, bytes])
    hits: int = 0
    misses: int = 0


def gather(
    root: Path,
    files: Sequence[FoundFile],
    cache: Cache,
    jobs: int,
    decode: encoding.Decode | None = None,
    *,
    fragments: bool = False,
) -> Gathered:
    """The facts of `files`, and what is new of them into the cache. Paths come out sorted.

    They are without fragments unless those are asked for; `decode`, if given, does as is asked.
    """
    if decode is None:
        decode = encoding.decode if fragments else encoding.decode_plain
        if len(files) > _MANY_FILES:
            decode = _Sharing(decode)
    gatherer = _Gatherer(root, cache, decode)
    with pool.paused_gc():
        missed = gatherer.take_unchanged(files)
        unknown = gatherer.unknown(missed)
        with closing(pool.extract_all(unknown, jobs=jobs, fragments=fragments)) as extracted:
            for source, data in extracted:
                gatherer.take_new(source, data)
        # The facts stay as long as the tree does; later collections need not look through them.
        gc.freeze()
    gatherer.flush()
    gathered = gatherer.gathered
    gathered.files = dict(sorted(gathered.files.items()))
    cache.tidy(root, gathered.files)
    return gathered


def gather_blobs(
    blobs: Sequence["Blob"],
    read: Callable[[Sequence[str]], Iterator[tuple[str, bytes]]],
    cache: Cache,
    jobs: int,
    decode: encoding.Decode = encoding.decode,
    *,
    fragments: bool = True,
) -> dict[str, ModuleFacts | Unreadable]:
    """The facts of files of a git revision, by path; what is new of them into the cache.

    `read` gives the bytes of blobs by their names (`Repository.read`), and is asked only for
    those whose names the cache does not know. `decode` does as is asked with `fragments`.
    """
    wanted = sorted({blob.oid for blob in blobs})
    facts: dict[str, ModuleFacts | Unreadable] = {}
    entries: list[Entry] = []

    def unknown() -> Iterator[tuple[tuple[str, bytes], bytes]]:
        for oid, text in read([oid for oid in wanted if oid not in facts]):
            yield (oid, hashlib.sha256(text).digest()), text

    with pool.paused_gc():
        for name, data in cache.by_oid([bytes.fromhex(oid) for oid in wanted]).items():
            with suppress(msgspec.DecodeError):  # damaged: made again
                facts[name.hex()] = decode(data)
        with closing(pool.extract_all(unknown(), jobs=jobs, fragments=fragments)) as extracted:
            for (oid, digest), data in extracted:
                facts[oid] = decode(data)
                if encoding.may_be_kept(data):
                    entries.append(Entry(digest, bytes.fromhex(oid), data, None))
                if len(entries) >= _KEEP_FILES:
                    cache.keep(None, entries)
                    entries.clear()
        gc.freeze()
    cache.keep(None, entries)
    return {blob.path: facts[blob.oid] for blob in blobs}


def read_file(root: Path, path: str) -> tuple[bytes, FoundFile]:
    """The bytes of a file and their stamp. Raises OSError."""
    with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123 - thousands of files
        source = file.read(LARGEST_FILE + 1)
        return source, stamped(path, os.fstat(file.fileno()))


class _Sharing(NamedTuple):
    decode: encoding.Decode

    def __call__(self, data: bytes) -> ModuleFacts | Unreadable:
        return encoding.sharing(self.decode(data))


class _Source(NamedTuple):
    file: FoundFile
    settled: bool
    digest: bytes
    oid: bytes


class _Gatherer:
    def __init__(self, root: Path, cache: Cache, decode: encoding.Decode) -> None:
        self.root = root
        self.decode = decode
        self.cache = cache
        self.gathered = Gathered()
        self.entries: list[Entry] = []

    def take_unchanged(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Take what the cache has by stamp; the rest of `files` comes back."""
        known = self.gathered.files
        for file, digest, data in self.cache.unchanged(self.root, files):
            if self._take(file, digest, data):
                self.gathered.hits += 1
        return [file for file in files if file.path not in known]

    def unknown(self, files: Sequence[FoundFile]) -> Iterator[tuple[_Source, bytes]]:
        """Read `files`; take those whose bytes the cache knows, and give the others."""
        for at in range(0, len(files), _READ_FILES):
            read = list(self._read(files[at : at + _READ_FILES]))
            known = self.cache.by_digest([source.digest for source, _ in read])
            for source, text in read:
                data = known.get(source.digest)
                if data is not None and self._take(source.file, source.digest, data):
                    self.gathered.hits += 1
                    self._keep(source, None)
                else:
                    yield source, text

    def take_new(self, source: _Source, data: bytes) -> None:
        self._take(source.file, source.digest, data)
        self.gathered.misses += 1
        if encoding.may_be_kept(data):
            self._keep(source, data)
        else:
            del self.gathered.stamps[source.file.path]

    def flush(self) -> None:
        self.cache.keep(self.root, self.entries)
        self.entries.clear()

    def _read(self, files: Sequence[FoundFile]) -> Iterator[tuple[_Source, bytes]]:
        for file in files:
            if file.size > LARGEST_FILE:
                detail = f"{file.size >> 20} MB, more than {LARGEST_FILE >> 20}"
                self.gathered.files[file.path] = Unreadable("too-large", detail)
                self.gathered.stamps[file.path] = file
                continue
            read_at = time.time_ns()
            try:
                text, stamp = read_file(self.root, file.path)
            except OSError as error:
                detail = error.strerror or type(error).__name__
                self.gathered.files[file.path] = Unreadable("unreadable", detail)
                continue
            if self.cache.is_open:
                digest, oid = hashlib.sha256(text).digest(), git_oid(text)
            else:
                digest = oid = b""
            yield _Source(stamp, is_settled(stamp, read_at), digest, oid), text

    def _take(self, file: FoundFile, digest: bytes, data: bytes) -> bool:
        """False where the data are damaged, or lack fragments that are asked for: they came from
        the cache, and are made again."""
        try:
            self.gathered.files[file.path] = self.decode(data)
        except msgspec.DecodeError:
            return False
        self.gathered.stamps[file.path] = file
        if digest:
            self.gathered.digests[file.path] = digest
        return True

    def _keep(self, source: _Source, data: bytes | None) -> None:
        if not self.cache.is_open:
            return
        file = source.file if source.settled else None
        self.entries.append(Entry(source.digest, source.oid, data, file))
        if len(self.entries) >= _KEEP_FILES:
            self.flush()
