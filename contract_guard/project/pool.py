"""One piece of work over many files, in this process or in several.

What a file costs is one file: a worker that dies (a crash of the interpreter, the kernel's
out-of-memory killer) or hangs leaves an `Unreadable` for the file it was at, and the rest of its
share goes to a new worker. The results do not depend on the number of workers.

What is given and what comes back are bytes, so that the parent can store results as they come.
"""

import gc
import itertools
import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from typing import Generic, NamedTuple, TypeVar

import msgspec

from contract_guard.facts.extract import extract as extract_facts
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project.encoding import encode
from contract_guard.project.extraction import extract as extract_source

# Below this, starting and ending the workers costs more than they save.
WORTH_WORKERS = 256_000
# The share that a worker is given at a time: large enough that waiting for the next one does
# not show, small enough that the last worker does not run on alone.
SHARE_BYTES = 128_000
# What a file of up to 1 MB may take, larger ones in proportion: 100 times what it does take.
FILE_SECONDS = 60.0
_MB = 1_000_000

MOST_DEFAULT_JOBS = 16

Key = TypeVar("Key")
Work = Callable[[bytes], bytes]
Extract = Callable[[bytes], ModuleFacts | Unreadable]

_FAULT = b"!"  # begins a message that is a traceback; results never do
_encode_share = msgspec.msgpack.Encoder().encode
_decode_share = msgspec.msgpack.Decoder(list[bytes]).decode


def default_jobs() -> int:
    """The cores that this process may run on, within what their memory together should be."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST_DEFAULT_JOBS)
    return min(os.cpu_count() or 1, MOST_DEFAULT_JOBS)


def extract_all(
    sources: Iterable[tuple[Key, bytes]],
    *,
    jobs: int,
    seconds: float = FILE_SECONDS,
    fragments: bool = True,
    extract: Extract | None = None,
) -> Generator[tuple[Key, bytes]]:
    """The encoded facts of each source: `run_all` with an extractor, which is sent to workers by
    its name; by default `extraction.extract`, or `facts.extract.extract` without `fragments`."""
    if extract is None:
        extract = extract_source if fragments else extract_facts
    work = _Extracting(extract, fragments)
    return run_all(sources, work, jobs=jobs, seconds=seconds, lost=encode)


class _Extracting(NamedTuple):
    extract: Extract
    fragments: bool

    def __call__(self, source: bytes) -> bytes:
        return encode(self.extract(source), fragments=self.fragments)


def run_all(
    items: Iterable[tuple[Key, bytes]],
    work: Work,
    *,
    jobs: int,
    seconds: float,
    lost: Callable[[Unreadable], bytes],
    size: Callable[[bytes], int] = len,
) -> Generator[tuple[Key, bytes]]:
    """What `work` makes of each item, in no certain order.

    `items` is drawn from as workers become free, so that they need not all be in memory. `jobs`
    is the most workers to use; a few items are done in this process. `seconds` is the time that
    one item may take in a worker; `lost` gives the result for an item that its worker did not
    survive. `work` is pickled where processes do not fork. `size` tells how much source there is
    to an item, in bytes.

    Close the iterator to end the workers early: whatever ends it, an error or an interrupt in
    the middle too, kills and reaps them.
    """
    items = iter(items)
    first: list[tuple[Key, bytes]] = []
    total = 0
    while jobs > 1 and total < WORTH_WORKERS and (item := next(items, None)) is not None:
        first.append(item)
        total += size(item[1])
    items = itertools.chain(first, items)
    if total < WORTH_WORKERS:
        yield from _work_here(work, items, size)
        return
    pool = _Pool(items, jobs, seconds, work, lost, size)
    try:
        yield from pool.results()
    finally:
        pool.end()


@contextmanager
def paused_gc() -> Generator[None]:
    """No garbage collection meanwhile: trees of nodes hold no cycles, and are millions."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _work_here(
    work: Work, items: Iterator[tuple[Key, bytes]], size: Callable[[bytes], int]
) -> Iterator[tuple[Key, bytes]]:
    done = 0
    with paused_gc():
        for key, item in items:
            yield key, work(item)
            done += size(item)
            if done > SHARE_BYTES:
                gc.collect(0)  # what is left of the last few files, not all facts so far
                done = 0


def _received(message: bytes) -> bytes:
    if message[:1] == _FAULT:
        raise RuntimeError(f"in a worker: {message[1:].decode('utf-8', 'replace')}")
    return message


def _serve(connection: Connection, work: Work) -> None:
    """A worker: takes shares of items, sends a message for each item, until told no more."""
    # An interrupt from the keyboard reaches the whole process group; the parent ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    gc.freeze()  # what the parent had is not looked through again
    with suppress(EOFError, OSError):  # the parent is done, or dead
        while True:
            for item in _decode_share(connection.recv_bytes()):
                try:
                    message = work(item)
                except Exception:  # noqa: BLE001 - raised again in the parent
                    message = _FAULT + traceback.format_exc().encode("utf-8", "replace")
                connection.send_bytes(message)
            gc.collect(0)


class _Worker(Generic[Key]):
    """A process, and what it was given and has not answered yet."""

    def __init__(self, context: ForkContext | SpawnContext, work: Work) -> None:
        self.connection, theirs = context.Pipe()
        self.share: list[tuple[Key, bytes]] = []
        self.deadline = 0.0
        self.process = context.Process(target=_serve, args=(theirs, work), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the worker is the end of the stream

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


class _Pool(Generic[Key]):
    def __init__(
        self,
        items: Iterator[tuple[Key, bytes]],
        jobs: int,
        seconds: float,
        work: Work,
        lost: Callable[[Unreadable], bytes],
        size: Callable[[bytes], int],
    ) -> None:
        self._items = items
        self._jobs = jobs
        self._seconds = seconds
        self._work = work
        self._lost = lost
        self._size = size
        self._context = _context()
        self._workers: list[_Worker[Key]] = []
        self._share = self._cut()  # the next one to give away

    def results(self) -> Iterator[tuple[Key, bytes]]:
        self._feed()
        while busy := [worker for worker in self._workers if worker.share]:
            patience = min(worker.deadline for worker in busy) - time.monotonic()
            ready = wait([worker.connection for worker in busy], max(0.0, patience))
            for worker in busy:
                if worker.connection in ready:
                    yield from self._receive(worker)
                elif time.monotonic() > worker.deadline:
                    detail = f"no result after {self._allowed(worker):.0f} s"
                    yield self._lose(worker, Unreadable("timeout", detail))
            self._feed()

    def end(self) -> None:
        for worker in self._workers:
            worker.end()
        self._workers.clear()

    def _receive(self, worker: _Worker[Key]) -> Iterator[tuple[Key, bytes]]:
        try:
            message = worker.connection.recv_bytes()
        except (EOFError, OSError):
            detail = "the process that read it died; it may need more memory than there is"
            yield self._lose(worker, Unreadable("worker-died", detail))
            return
        key, _ = worker.share.pop()
        self._set_deadline(worker)
        yield key, _received(message)

    def _lose(self, worker: _Worker[Key], why: Unreadable) -> tuple[Key, bytes]:
        """End a worker; the file that it was at pays, the rest of its share is done by another."""
        self._workers.remove(worker)
        worker.end()
        key, _ = worker.share.pop()
        if worker.share:
            self._items = itertools.chain(reversed(worker.share), self._items)
            self._share = self._share or self._cut()
        return key, self._lost(why)

    def _feed(self) -> None:
        """Give every idle worker a share, and start workers while there are shares for them."""
        idle = [worker for worker in self._workers if not worker.share]
        while self._share:
            if idle:
                worker = idle.pop()
            elif len(self._workers) < self._jobs:
                worker = _Worker[Key](self._context, self._work)
                self._workers.append(worker)
            else:
                return
            self._give(worker)

    def _give(self, worker: _Worker[Key]) -> None:
        worker.share = self._share[::-1]  # answered from its end
        self._set_deadline(worker)
        with suppress(OSError):  # it is dead: the next reading from it says so
            worker.connection.send_bytes(_encode_share([item for _, item in self._share]))
        self._share = self._cut()

    def _set_deadline(self, worker: _Worker[Key]) -> None:
        if worker.share:
            worker.deadline = time.monotonic() + self._allowed(worker)

    def _allowed(self, worker: _Worker[Key]) -> float:
        """Seconds for the item that the worker is at."""
        return self._seconds * max(1.0, self._size(worker.share[-1][1]) / _MB)

    def _cut(self) -> list[tuple[Key, bytes]]:
        share: list[tuple[Key, bytes]] = []
        size = 0
        while size < SHARE_BYTES and (item := next(self._items, None)) is not None:
            share.append(item)
            size += self._size(item[1])
        return share


def _context() -> ForkContext | SpawnContext:
    """How processes start.

    `fork` takes a few milliseconds and shares what is loaded, but copies locks that another
    thread may hold, and system libraries of macOS do not survive it. So it is used where it is
    safe, on Linux with one thread; `spawn`, a new interpreter, elsewhere. Threads instead of
    processes would take turns at the interpreter lock.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        return multiprocessing.get_context("fork")
    return multiprocessing.get_context("spawn")
