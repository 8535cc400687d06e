"""The search for mirrors in all test files: from the cache where nothing that a file's result
depends on has changed, in several processes otherwise."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from contract_guard.facts.model import FileFragments, Unreadable
from contract_guard.facts.reader import decode
from contract_guard.mirrors.copies import FileCopies, copies_in
from contract_guard.mirrors.search import Search
from contract_guard.project import pool
from contract_guard.project.cache import Cache
from contract_guard.project.discovery import FoundFile
from contract_guard.project.encoding import decode_result
from contract_guard.project.snapshot import Snapshot, SourceChanged, read_unchanged

# What the search in one file may take: it is bounded for each test, and files have many.
FILE_SECONDS = 300.0

_FOUND, _CHANGED, _LOST = b"F", b"C", b"L"
_encode = msgspec.msgpack.Encoder().encode


class MirrorSearch:
    """A `CopiesOf` over a snapshot. `warnings` and `notices` are sentences for the user, known
    afterwards; the notices say what the same run would say again."""

    def __init__(self, snapshot: Snapshot, *, jobs: int | None, cache_dir: Path | None) -> None:
        self._snapshot = snapshot
        self._jobs = jobs or pool.default_jobs()
        self._cache_dir = cache_dir
        self.warnings: list[str] = []
        self.notices: list[str] = []

    def __call__(
        self,
        files: Mapping[str, FileFragments],
        tests: frozenset[str],
        paths: Sequence[str],
    ) -> Iterator[tuple[str, FileCopies]]:
        """Raises SourceChanged where a file is no longer what its facts were taken from."""
        snapshot = self._snapshot
        worker = _Worker(snapshot.root, snapshot.stamps, files, tests)
        with Cache(self._cache_dir) as cache:
            keys = _keys(worker.search, snapshot.digests, paths) if cache.is_open else {}
            found = _kept(cache, snapshot.root, keys)
            missing = [path for path in paths if path not in found]
            new: dict[str, bytes] = {}
            for path, message in self._search(worker, missing):
                kind, body = message[:1], message[1:]
                if kind == _CHANGED:
                    raise SourceChanged(body.decode())
                if kind == _LOST:
                    self.warnings.append(f"{path}: not searched for mirrors: {body.decode()}")
                else:
                    new[path] = body
                    found[path] = msgspec.msgpack.decode(body, type=FileCopies)
            cache.keep_copies(
                snapshot.root, [(path, keys[path], new[path]) for path in new if path in keys]
            )
            if cache.warning is not None:
                self.warnings.append(cache.warning)
        self.notices += _cut(paths, found)
        return ((path, found[path]) for path in paths if path in found)

    def _search(self, worker: "_Worker", paths: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        stamps = self._snapshot.stamps
        if len(paths) > 1:
            worker.search.prepare()  # once, for all processes that come of this one
        with closing(
            pool.run_all(
                ((path, path.encode()) for path in paths),
                worker,
                jobs=self._jobs,
                seconds=FILE_SECONDS,
                lost=_lost,
                size=lambda path: stamps[path.decode()].size,
            )
        ) as results:
            yield from results


class _Worker:
    """Searches one test file after the other. Forked processes share what it holds; where they
    cannot, each gets the fragments once and makes the index again."""

    def __init__(
        self,
        root: Path,
        stamps: Mapping[str, FoundFile],
        files: Mapping[str, FileFragments],
        tests: frozenset[str],
    ) -> None:
        self._made_of = (root, stamps, files, tests)
        self.search = Search(files, tests, self._text)

    def __reduce__(self) -> tuple[type["_Worker"], tuple[object, ...]]:
        return _Worker, self._made_of

    def __call__(self, path: bytes) -> bytes:
        try:
            return _FOUND + _encode(copies_in(self.search, path.decode()))
        except SourceChanged as error:
            return _CHANGED + str(error).encode()

    def _text(self, path: str) -> str:
        root, stamps, _, _ = self._made_of
        text = decode(read_unchanged(root, stamps, path))
        assert isinstance(text, str)  # its facts were read from the same bytes
        return text


def _cut(paths: Sequence[str], found: Mapping[str, FileCopies]) -> list[str]:
    """The tests that were too large to be searched whole, in one sentence."""
    tests = [(path, each) for path in paths if path in found for each in found[path].cut]
    if not tests:
        return []
    path, qualname = tests[0]
    first = f"{path}::{qualname.replace('.', '::')}"
    if len(tests) == 1:
        return [f"mirrors: 1 test was too large to be searched whole: {first}"]
    return [f"mirrors: {len(tests)} tests were too large to be searched whole, first {first}"]


def _lost(why: Unreadable) -> bytes:
    return _LOST + why.detail.encode()


def _keys(search: Search, digests: Mapping[str, bytes], paths: Sequence[str]) -> dict[str, bytes]:
    """What the result for each file depends on: its own bytes, all of production, and where its
    imports lead, which depends on the test files that there are."""
    index = search.index
    production = sorted(path for path in index.files if path not in index.tests)
    state = hashlib.sha256(
        _encode([(path, digests.get(path, b"")) for path in production])
    ).digest()
    return {
        path: hashlib.sha256(
            _encode((state, digests[path], *map(sorted, index.leads(path))))
        ).digest()
        for path in paths
        if path in digests
    }


def _kept(cache: Cache, root: Path, keys: Mapping[str, bytes]) -> dict[str, FileCopies]:
    found: dict[str, FileCopies] = {}
    for path, key, data in cache.copies(root):
        if keys.get(path) == key and (copies := decode_result(data, FileCopies)) is not None:
            found[path] = copies
    return found
