"""The search for mirrors in all test files: from the cache where nothing that a file's result
depends on has changed, in several processes otherwise.

A result is kept with what the search asked of production (`mirrors.asked`), and a digest of the
answers. Where production has changed, the same is asked again, which takes no source: where the
answers are the same, so is the result. So what is found never depends on earlier runs.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

import msgspec

from contract_guard.facts.model import FileFragments, Unreadable
from contract_guard.facts.reader import decode
from contract_guard.mirrors.answers import answers
from contract_guard.mirrors.asked import Asked
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


class _Kept(msgspec.Struct, array_like=True):
    """The result for one file. `sources` is a digest of that file and of those of production that
    were opened."""

    sources: bytes
    asked: Asked
    answers: bytes
    copies: FileCopies


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
        with Cache(self._cache_dir) as cache:
            digests: Mapping[str, bytes] = snapshot.digests if cache.is_open else {}
            worker = _Worker(snapshot.root, snapshot.stamps, files, tests, digests)
            keys = _keys(worker.search, digests, paths)
            found: dict[str, FileCopies] = {}
            doubtful: dict[str, bytes] = {}
            for path, key, data in cache.copies(snapshot.root):
                if keys.get(path) != key:
                    doubtful[path] = data
                elif (kept := decode_result(data, _Kept)) is not None:
                    found[path] = kept.copies
            missing = [(path, doubtful.get(path, b"")) for path in paths if path not in found]
            new: dict[str, bytes] = {}
            for path, message in self._search(worker, missing):
                kind, body = message[:1], message[1:]
                if kind == _CHANGED:
                    raise SourceChanged(body.decode())
                if kind == _LOST:
                    self.warnings.append(f"{path}: not searched for mirrors: {body.decode()}")
                else:
                    new[path] = body
                    found[path] = msgspec.msgpack.decode(body, type=_Kept).copies
            cache.keep_copies(
                snapshot.root, [(path, keys[path], new[path]) for path in new if path in keys]
            )
            if cache.warning is not None:
                self.warnings.append(cache.warning)
        self.notices += _cut(paths, found)
        return ((path, found[path]) for path in paths if path in found)

    def _search(
        self, worker: "_Worker", doubtful: Sequence[tuple[str, bytes]]
    ) -> Iterator[tuple[str, bytes]]:
        """The results for these files, of which some have one that may hold still."""
        stamps = self._snapshot.stamps
        if len(doubtful) > 1:
            worker.search.prepare()  # once, for all processes that come of this one
        with closing(
            pool.run_all(
                ((path, path.encode() + b"\0" + data) for path, data in doubtful),
                worker,
                jobs=self._jobs,
                seconds=FILE_SECONDS,
                lost=_lost,
                size=lambda item: stamps[_split(item)[0]].size,
            )
        ) as results:
            yield from results


class _Worker:
    """Searches one test file after the other, unless the result that it had holds still. Forked
    processes share what it holds; where they cannot, each gets the fragments once and makes the
    index again. `digests` are empty where nothing is kept."""

    def __init__(
        self,
        root: Path,
        stamps: Mapping[str, FoundFile],
        files: Mapping[str, FileFragments],
        tests: frozenset[str],
        digests: Mapping[str, bytes],
    ) -> None:
        self._made_of = (root, stamps, files, tests, digests)
        self.search = Search(files, tests, self._text)

    def __reduce__(self) -> tuple[type["_Worker"], tuple[object, ...]]:
        return _Worker, self._made_of

    def __call__(self, item: bytes) -> bytes:
        path, data = _split(item)
        try:
            if data and self._holds(path, data):
                return _FOUND + data
            return _FOUND + _encode(self._searched(path))
        except SourceChanged as error:
            return _CHANGED + str(error).encode()

    def _searched(self, path: str) -> _Kept:
        asked = self.search.note_anew()
        copies = copies_in(self.search, path)
        if not self._made_of[-1]:
            return _Kept(b"", asked, b"", copies)
        return _Kept(self._sources(path, asked), asked, answers(self.search, path, asked), copies)

    def _holds(self, path: str, data: bytes) -> bool:
        """Whether all that was asked for an earlier result has the same answers."""
        kept = decode_result(data, _Kept)
        return (
            kept is not None
            and kept.sources == self._sources(path, kept.asked)
            and kept.answers == answers(self.search, path, kept.asked)
        )

    def _sources(self, path: str, asked: Asked) -> bytes:
        digests = self._made_of[-1]
        opened = [digests.get(each, b"") for each in (path, *sorted(asked.opened))]
        return hashlib.sha256(b"".join(opened)).digest()

    def _text(self, path: str) -> str:
        root, stamps, *_ = self._made_of
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


def _split(item: bytes) -> tuple[str, bytes]:
    """A path, and the result for it that was kept, empty where there is none."""
    path, _, data = item.partition(b"\0")
    return path.decode(), data
