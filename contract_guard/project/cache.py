"""Facts kept between runs, in the user's cache directory: SQLite, typed bytes, nothing that runs.

What is kept belongs to the bytes of a source (SHA-256), never to its place. Beside it stand, per
project, the stamps under which a path last had those bytes, and git's name for them, so that an
unchanged file is not opened and `diff` finds what `check` has read.

Facts of another schema, Python or version of this program are in another file, so that two
versions side by side do not fight. A cache that cannot be used (no room, no right to write,
damaged, locked for long) is left aside for the rest of the run; `Cache.warning` then says so.
"""

import hashlib
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from contract_guard import __version__
from contract_guard.facts.model import SCHEMA
from contract_guard.project.discovery import FoundFile

MOST_BYTES = 1 << 30
MOST_RESULTS = 32
OTHER_VERSIONS_DAYS = 14
_FORMAT = 3
_BUSY_SECONDS = 5.0
# SQLite takes at most 32,766 values in one statement.
_MOST_VALUES = 10_000

_TABLES = """
CREATE TABLE IF NOT EXISTS sources (
  id INTEGER PRIMARY KEY, digest BLOB NOT NULL UNIQUE, facts BLOB NOT NULL, used INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS roots (
  id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, used INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS places (
  root INTEGER NOT NULL, path TEXT NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL, size INTEGER NOT NULL, source INTEGER NOT NULL, PRIMARY KEY (root, path)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS objects (
  oid BLOB PRIMARY KEY, source INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS results (
  key BLOB PRIMARY KEY, result BLOB NOT NULL, used INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS copies (
  root INTEGER NOT NULL, path TEXT NOT NULL, key BLOB NOT NULL, result BLOB NOT NULL,
  PRIMARY KEY (root, path)) WITHOUT ROWID;
"""


class Entry(NamedTuple):
    """A source that was read: SHA-256 and git's name of its bytes, and what to keep of it.

    `facts` is None where they are kept already; `file` is its stamp, None where it is no file,
    or one whose stamp is not settled.
    """

    digest: bytes
    oid: bytes
    facts: bytes | None
    file: FoundFile | None


def default_directory() -> Path | None:
    """The platform's place for caches of this user, None where the user has no home directory."""
    if sys.platform == "win32" and (local := os.environ.get("LOCALAPPDATA")):
        return Path(local, "contract-guard", "Cache")
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if sys.platform != "darwin" and configured.is_absolute():
        return configured / "contract-guard"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    caches = home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"
    return caches / "contract-guard"


def git_oid(source: bytes) -> bytes:
    """The name of these bytes as a blob in a SHA-1 repository of git."""
    header = b"blob %d\0" % len(source)
    return hashlib.sha1(header + source, usedforsecurity=False).digest()


def code_stamp(directory: Path) -> bytes:
    """Tells one state of this program's own files from another, for those who work on it."""
    stamp = hashlib.sha256()
    for place, names, files in os.walk(directory):
        names[:] = sorted(name for name in names if name != "__pycache__")
        for name in sorted(files):
            with suppress(FileNotFoundError):  # an editor's file, gone since it was listed
                stat = os.stat(f"{place}/{name}")  # noqa: PTH116 - on the path of every run
                stamp.update(f"{name}\0{stat.st_size}\0{stat.st_mtime_ns}\0".encode())
    return stamp.digest()


def is_settled(file: FoundFile, read_at_ns: int) -> bool:
    """Whether the stamp can be trusted to change with the next change of the bytes.

    Git's rule for racy stamps: a file that was written in the same tick of the clock in which
    it was read may be written once more without a trace. A tick is 10 ms at most on Linux, up
    to 2 s on file systems that keep whole seconds.
    """
    tick = 20_000_000 if file.mtime_ns % 1_000_000_000 else 2_000_000_000
    return max(file.mtime_ns, file.ctime_ns) + tick < read_at_ns


class Cache:
    """Open it with a directory, or with None for a cache that holds nothing and keeps nothing."""

    def __init__(self, directory: Path | None) -> None:
        self.warning: str | None = None
        self._connection: sqlite3.Connection | None = None
        if directory is None:
            return
        self._path = directory / f"facts-{_variant()}.sqlite3"
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            self.warning = f"cache {directory}: {error.strerror}; running without it"
            return
        with self._guarded():
            self._connection = self._connect()

    @property
    def is_open(self) -> bool:
        """Whether anything is kept."""
        return self._connection is not None

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> "Cache":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def unchanged(
        self, root: Path, files: Sequence[FoundFile]
    ) -> Iterator[tuple[FoundFile, bytes, bytes]]:
        """Those of `files` whose stamps are the ones of the last run, with the SHA-256 of their
        bytes and their facts."""
        if self._connection is None:
            return
        stamps = {file.path: file for file in files}
        with self._guarded():
            rows = self._connection.execute(
                "SELECT path, mtime_ns, ctime_ns, inode, size, digest, facts"
                " FROM places JOIN sources ON sources.id = places.source"
                " WHERE root = (SELECT id FROM roots WHERE path = ?)",
                (os.fsencode(root),),
            )
            for path, mtime_ns, ctime_ns, inode, size, digest, facts in rows:
                file = stamps.get(path)
                if file is not None and file[1:] == (mtime_ns, ctime_ns, inode, size):
                    yield file, digest, facts

    def by_digest(self, digests: Sequence[bytes]) -> dict[bytes, bytes]:
        """Facts by the SHA-256 of the source, where there are any."""
        return self._look_up("SELECT digest, facts FROM sources WHERE digest", digests)

    def by_oid(self, oids: Sequence[bytes]) -> dict[bytes, bytes]:
        """Facts by git's name of the source (20 bytes), where there are any."""
        return self._look_up(
            "SELECT oid, facts FROM objects JOIN sources ON sources.id = objects.source WHERE oid",
            oids,
        )

    def keep(self, root: Path | None, entries: Sequence[Entry]) -> None:
        """Store what was read, in one transaction; `root` is what the files are relative to."""
        if not entries:
            return
        today = _today()

        def insert(connection: sqlite3.Connection) -> None:
            # What is there already was damaged, or has no fragments.
            connection.executemany(
                "INSERT INTO sources (digest, facts, used) VALUES (?, ?, ?) ON CONFLICT (digest)"
                " DO UPDATE SET facts = excluded.facts, used = excluded.used",
                [(entry.digest, entry.facts, today) for entry in entries if entry.facts],
            )
            connection.executemany(
                "INSERT OR REPLACE INTO objects SELECT ?, id FROM sources WHERE digest = ?",
                [(entry.oid, entry.digest) for entry in entries],
            )
            if root is None:
                return
            root_id = _root_id(connection, root)
            connection.executemany(
                "INSERT OR REPLACE INTO places"
                " SELECT ?, ?, ?, ?, ?, ?, id FROM sources WHERE digest = ?",
                [(root_id, *entry.file, entry.digest) for entry in entries if entry.file],
            )

        self._write(insert)

    def tidy(self, root: Path, paths: Collection[str]) -> None:
        """Once a run, after `keep`: forget what `root` no longer has, and what is too much.

        Writes nothing where there is nothing to forget, but for a mark of use once a day.
        """
        connection = self._connection
        if connection is None:
            return
        with self._guarded():
            row = connection.execute(
                "SELECT id, used FROM roots WHERE path = ?", (os.fsencode(root),)
            ).fetchone()
            if row is None:
                return
            root_id, used = row
            known = connection.execute("SELECT path FROM places WHERE root = ?", (root_id,))
            gone = [path for (path,) in known if path not in paths]
            if not gone and used == _today() and _bytes(connection) <= MOST_BYTES:
                return
            self._write(lambda connection: _tidy(connection, root_id, gone))
            self._remove_other_versions()

    def copies(self, root: Path) -> list[tuple[str, bytes, bytes]]:
        """The paths for which `keep_copies` stored something, with key and result."""
        if self._connection is None:
            return []
        with self._guarded():
            return self._connection.execute(
                "SELECT path, key, result FROM copies"
                " WHERE root = (SELECT id FROM roots WHERE path = ?)",
                (os.fsencode(root),),
            ).fetchall()
        return []

    def keep_copies(self, root: Path, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Store results of the mirror search by path, each with the key of what it depends on, in
        place of an older one. `tidy` forgets those of paths that are gone."""
        if not rows:
            return

        def insert(connection: sqlite3.Connection) -> None:
            root_id = _root_id(connection, root)
            connection.executemany(
                "INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?)",
                [(root_id, *row) for row in rows],
            )

        self._write(insert)

    def result(self, key: bytes) -> bytes | None:
        """What `keep_result` stored under the key."""
        found = self._look_up("SELECT key, result FROM results WHERE key", [key])
        return found.get(key)

    def keep_result(self, key: bytes, result: bytes) -> None:

        def insert(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?)", (key, result, time.time_ns())
            )
            connection.execute(
                "DELETE FROM results WHERE key NOT IN"
                " (SELECT key FROM results ORDER BY used DESC LIMIT ?)",
                (MOST_RESULTS,),
            )

        self._write(insert)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)
        connection.execute("PRAGMA journal_mode = WAL")
        # A crash of the machine may cost the last transaction, which is only work to redo.
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            connection.executescript(
                f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {_FORMAT}; COMMIT"
            )
        return connection

    @contextmanager
    def _guarded(self) -> Generator[None]:
        """A fault of the cache ends the cache, not the run."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            with suppress(sqlite3.Error):
                self.close()
            self._connection = None
            self.warning = f"cache {self._path}: {error}; running without it"
            # Every error but "not possible now" means that the file is no cache of ours.
            if isinstance(error, sqlite3.DatabaseError) and not isinstance(
                error, sqlite3.OperationalError
            ):
                self._remove(self._path)
                self.warning = f"cache {self._path}: {error}; removed it, running without it"

    def _write(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do it all or not at all."""
        connection = self._connection
        if connection is None:
            return
        with self._guarded():
            connection.execute("BEGIN IMMEDIATE")
            try:
                work(connection)
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")

    def _look_up(self, query: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        for at in range(0, len(keys), _MOST_VALUES):
            if self._connection is None:
                break
            some = keys[at : at + _MOST_VALUES]
            with self._guarded():
                marks = ",".join("?" * len(some))
                found.update(self._connection.execute(f"{query} IN ({marks})", some))
        return found

    def _remove_other_versions(self) -> None:
        oldest = time.time() - OTHER_VERSIONS_DAYS * 86_400
        for path in self._path.parent.glob("facts-*.sqlite3"):
            with suppress(OSError):
                if path != self._path and path.stat().st_mtime < oldest:
                    self._remove(path)

    @staticmethod
    def _remove(path: Path) -> None:
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(f"{path}{suffix}").unlink(missing_ok=True)


def _root_id(connection: sqlite3.Connection, root: Path) -> int:
    path = os.fsencode(root)
    connection.execute("INSERT OR IGNORE INTO roots (path, used) VALUES (?, 0)", (path,))
    return connection.execute("SELECT id FROM roots WHERE path = ?", (path,)).fetchone()[0]


def _tidy(connection: sqlite3.Connection, root_id: int, gone: Sequence[str]) -> None:
    for table in ("places", "copies"):
        connection.executemany(
            f"DELETE FROM {table} WHERE root = ? AND path = ?", [(root_id, path) for path in gone]
        )
    today = _today()
    connection.execute("UPDATE roots SET used = ? WHERE id = ?", (today, root_id))
    connection.execute(
        "UPDATE sources SET used = ? WHERE id IN (SELECT source FROM places WHERE root = ?)",
        (today, root_id),
    )
    if (surplus := _bytes(connection) - MOST_BYTES) > 0:
        _forget_oldest(connection, surplus + MOST_BYTES // 4)


def _forget_oldest(connection: sqlite3.Connection, surplus: int) -> None:
    """Sources by their day of last use, until so many bytes are free."""
    connection.execute(
        "DELETE FROM sources WHERE id IN (SELECT id FROM (SELECT id,"
        " sum(length(facts)) OVER (ORDER BY used, id) AS freed, length(facts) AS own"
        " FROM sources) WHERE freed - own < ?)",
        (surplus,),
    )
    for table in ("places", "objects"):
        connection.execute(f"DELETE FROM {table} WHERE source NOT IN (SELECT id FROM sources)")


def _bytes(connection: sqlite3.Connection) -> int:
    """In use, not what the file takes: pages that were freed are used again."""
    size, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_size", "page_count", "freelist_count")
    )
    return size * (pages - free)


def _variant() -> str:
    """What facts depend on beside the source: the schema, the parser and the extractor."""
    package = Path(__file__).parent.parent
    known = f"{_FORMAT} {SCHEMA} {sys.implementation.cache_tag} {__version__}".encode()
    code = code_stamp(package / "facts") + code_stamp(package / "mirrors")
    return hashlib.sha256(known + code).hexdigest()[:16]


def _today() -> int:
    return int(time.time()) // 86_400
