import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from contract_guard.project import cache as cache_module
from contract_guard.project.cache import Cache, Entry, default_directory, git_oid, is_settled
from contract_guard.project.discovery import FoundFile

ROOT = Path("/project")
FILE = FoundFile("a.py", 1, 2, 3, 4)


def entry(name: str, file: FoundFile | None = None, facts: bytes | None = b"facts") -> Entry:
    digest = name.encode().ljust(32)
    return Entry(digest, name.encode().ljust(20), facts and facts + name.encode(), file)


def only_file(directory: Path) -> Path:
    (path,) = directory.glob("*.sqlite3")
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def test_what_is_kept_is_found_again(directory: Path) -> None:
    with Cache(directory) as cache:
        assert cache.is_open
        cache.keep(ROOT, [entry("a", FILE), entry("b")])
    with Cache(directory) as cache:
        assert list(cache.unchanged(ROOT, [FILE])) == [(FILE, entry("a").digest, b"factsa")]
        assert cache.by_digest([entry("b").digest, entry("c").digest]) == {
            entry("b").digest: b"factsb"
        }
        assert cache.by_oid([entry("a").oid, entry("b").oid]) == {
            entry("a").oid: b"factsa",
            entry("b").oid: b"factsb",
        }
        assert cache.warning is None


@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns", "inode", "size"])
def test_any_other_stamp_is_another_file(field: str, directory: Path) -> None:
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE)])
        assert list(cache.unchanged(ROOT, [FILE._replace(**{field: 9})])) == []
        assert list(cache.unchanged(Path("/other"), [FILE])) == []


def test_facts_that_are_there_need_not_be_given_again(directory: Path) -> None:
    moved = FILE._replace(path="b.py")
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE)])
        cache.keep(ROOT, [entry("a", moved, facts=None)])
        assert list(cache.unchanged(ROOT, [FILE, moved])) == [
            (FILE, entry("a").digest, b"factsa"),
            (moved, entry("a").digest, b"factsa"),
        ]


def test_the_newest_bytes_of_a_path_win(directory: Path) -> None:
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE)])
        newer = FILE._replace(mtime_ns=5)
        cache.keep(ROOT, [entry("b", newer)])
        assert list(cache.unchanged(ROOT, [newer])) == [(newer, entry("b").digest, b"factsb")]
        assert list(cache.unchanged(ROOT, [FILE])) == []


def test_more_keys_than_one_statement_takes(directory: Path) -> None:
    names = [str(number) for number in range(25_000)]
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry(name) for name in names])
        assert len(cache.by_digest([entry(name).digest for name in names])) == 25_000
        assert cache.warning is None


def test_tidy_forgets_paths_that_are_gone(directory: Path) -> None:
    other = FILE._replace(path="b.py")
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE), entry("b", other)])
        cache.tidy(ROOT, {"b.py"})
        assert list(cache.unchanged(ROOT, [FILE, other])) == [(other, entry("b").digest, b"factsb")]
        assert cache.by_digest([entry("a").digest]) != {}  # another branch may have it


def test_tidy_of_an_unchanged_tree_writes_nothing(directory: Path) -> None:
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE)])
        cache.tidy(ROOT, {"a.py"})
    before = only_file(directory).read_bytes()
    with Cache(directory) as cache:
        cache.tidy(ROOT, {"a.py"})
    assert only_file(directory).read_bytes() == before


def test_size_is_bounded_oldest_first(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_BYTES", 400_000)
    with Cache(directory) as cache:
        for day in range(4):
            monkeypatch.setattr(cache_module, "_today", lambda day=day: day)
            file = FILE._replace(path=f"{day}.py")
            cache.keep(Path(f"/{day}"), [entry(str(day), file, facts=b"x" * 150_000)])
            cache.tidy(Path(f"/{day}"), {file.path})
        kept = [day for day in range(4) if cache.by_digest([entry(str(day)).digest])]
        assert kept == [2, 3]
        assert cache.by_oid([entry("0").oid]) == {}


def test_results(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "MOST_RESULTS", 2)
    with Cache(directory) as cache:
        assert cache.result(b"1") is None
        for key in (b"1", b"2", b"3"):
            cache.keep_result(key, b"result " + key)
        assert [cache.result(key) for key in (b"1", b"2", b"3")] == [
            None,
            b"result 2",
            b"result 3",
        ]


def test_without_a_directory_nothing_is_kept() -> None:
    with Cache(None) as cache:
        assert not cache.is_open
        cache.keep(ROOT, [entry("a", FILE)])
        cache.tidy(ROOT, set())
        cache.keep_result(b"1", b"")
        assert list(cache.unchanged(ROOT, [FILE])) == []
        assert cache.by_digest([entry("a").digest]) == {}
        assert cache.result(b"1") is None
        assert cache.warning is None


class TestWhatGoesWrong:
    """The run goes on, and one line says why it was slow."""

    @staticmethod
    def is_useless(cache: Cache) -> bool:
        cache.keep(ROOT, [entry("a", FILE)])
        cache.tidy(ROOT, set())
        cache.keep_result(b"1", b"")
        return not (
            cache.is_open
            or list(cache.unchanged(ROOT, [FILE]))
            or cache.by_digest([entry("a").digest])
            or cache.result(b"1")
        )

    def test_the_directory_is_a_file(self, directory: Path) -> None:
        directory.write_text("")
        with Cache(directory) as cache:
            assert self.is_useless(cache)
            assert cache.warning == f"cache {directory}: File exists; running without it"

    def test_not_a_database(self, directory: Path) -> None:
        with Cache(directory):
            pass
        path = only_file(directory)
        path.write_bytes(b"nonsense" * 1000)
        with Cache(directory) as cache:
            assert self.is_useless(cache)
            assert cache.warning == (
                f"cache {path}: file is not a database; removed it, running without it"
            )
        with Cache(directory) as cache:  # the next run starts a new one
            assert cache.is_open

    def test_damaged_in_the_middle(self, directory: Path) -> None:
        with Cache(directory) as cache:
            cache.keep(ROOT, [entry(str(n), FILE._replace(path=f"{n}.py")) for n in range(2000)])
        path = only_file(directory)
        data = bytearray(path.read_bytes())
        data[4096:] = b"\xab" * (len(data) - 4096)
        path.write_bytes(data)
        with Cache(directory) as cache:
            assert list(cache.unchanged(ROOT, [FILE])) == []
            assert cache.by_digest([entry("1").digest]) == {}
            assert cache.warning is not None
            assert "\n" not in cache.warning
        with Cache(directory) as cache:
            cache.keep(ROOT, [entry("a", FILE)])
            assert list(cache.unchanged(ROOT, [FILE])) == [(FILE, entry("a").digest, b"factsa")]

    def test_tables_of_another_make(self, directory: Path) -> None:
        with Cache(directory):
            pass
        with sqlite3.connect(only_file(directory)) as connection:
            connection.execute("DROP TABLE places")
        with Cache(directory) as cache:
            assert list(cache.unchanged(ROOT, [FILE])) == []
            assert cache.warning is not None
            assert "no such table: places" in cache.warning

    def test_full_disk(self, directory: Path) -> None:
        with Cache(directory) as cache:
            # What SQLite says when a page cannot be written.
            cache._connection.execute("PRAGMA max_page_count = 12")  # type: ignore[union-attr]
            cache.keep(ROOT, [entry("a", FILE, facts=b"x" * 1_000_000)])
            assert cache.warning is not None
            assert "database or disk is full" in cache.warning
            assert self.is_useless(cache)
        with Cache(directory) as cache:
            assert cache.by_digest([entry("a").digest]) == {}
            assert cache.warning is None

    def test_read_only(self, directory: Path) -> None:
        with Cache(directory) as cache:
            cache._connection.execute("PRAGMA query_only = 1")  # type: ignore[union-attr]
            cache.keep(ROOT, [entry("a", FILE)])
            assert cache.warning is not None
            assert "readonly" in cache.warning
            assert self.is_useless(cache)

    def test_locked_for_long(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
        with Cache(directory), sqlite3.connect(only_file(directory)) as other:
            other.execute("BEGIN IMMEDIATE")
            with Cache(directory) as cache:
                cache.keep(ROOT, [entry("a", FILE)])
                assert cache.warning is not None
                assert "database is locked" in cache.warning

    def test_another_version_has_its_own_file(
        self, directory: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with Cache(directory) as cache:
            cache.keep(ROOT, [entry("a", FILE)])
        for name, value in (("SCHEMA", -1), ("__version__", "0.0.0")):
            with monkeypatch.context() as patch:
                patch.setattr(cache_module, name, value)
                with Cache(directory) as cache:
                    assert list(cache.unchanged(ROOT, [FILE])) == []
                    assert cache.warning is None
        assert len(list(directory.glob("*.sqlite3"))) == 3

    def test_files_of_other_versions_go_when_they_are_old(self, directory: Path) -> None:
        directory.mkdir()
        old, young = directory / "facts-old.sqlite3", directory / "facts-young.sqlite3"
        for path in (old, young):
            path.write_text("")
        weeks_ago = time.time() - 15 * 86_400
        os.utime(old, (weeks_ago, weeks_ago))
        with Cache(directory) as cache:
            cache.keep(ROOT, [entry("a", FILE)])
            cache.tidy(ROOT, {"a.py"})
        assert not old.exists()
        assert young.exists()


WRITER = """
import sys
from pathlib import Path
from contract_guard.project.cache import Cache, Entry
from contract_guard.project.discovery import FoundFile
who = sys.argv[2]
for round in range(20):
    with Cache(Path(sys.argv[1])) as cache:
        entries = [
            Entry(f"{who}{round}{n}".encode(), f"{who}{round}{n}".encode(), b"facts" * 100,
                  FoundFile(f"{round}{n}.py", 1, 1, 1, 1))
            for n in range(20)
        ]
        cache.keep(Path("/" + who), entries)
        if "killed" in sys.argv and round == 10:
            cache._connection.execute("BEGIN IMMEDIATE")
            cache._connection.execute("DELETE FROM sources")
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
        print(cache.warning)
"""


def test_processes_share_it_and_one_may_be_killed(directory: Path) -> None:
    arguments = [["one"], ["two"], ["three", "killed"]]
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(directory), *each],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for each in arguments
    ]
    outcomes = [process.communicate(timeout=60) for process in processes]
    assert [error for _, error in outcomes] == ["", "", ""]
    assert [set(output.split()) for output, _ in outcomes] == [{"None"}] * 3
    assert [process.returncode for process in processes] == [0, 0, -9]
    with Cache(directory) as cache:
        files = [FoundFile(f"{r}{n}.py", 1, 1, 1, 1) for r in range(20) for n in range(20)]
        expected = len({file.path for file in files})
        for who in ("one", "two"):
            assert len(list(cache.unchanged(Path("/" + who), files))) == expected
        assert len(list(cache.unchanged(Path("/three"), files))) > 0
        assert cache.warning is None


def test_nothing_in_the_cache_is_pickled(directory: Path) -> None:
    with Cache(directory) as cache:
        cache.keep(ROOT, [entry("a", FILE, facts=b"plain")])
    with sqlite3.connect(only_file(directory)) as connection:
        assert connection.execute("SELECT facts FROM sources").fetchall() == [(b"plaina",)]


def test_git_s_name_of_bytes() -> None:
    assert git_oid(b"").hex() == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_oid(b"hello\n").hex() == "ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.parametrize(
    ("mtime_ns", "ctime_ns", "settled"),
    [
        (1_000_000_001, 1_000_000_001, True),
        (4_990_000_001, 1_000_000_001, False),  # 10 ms ago
        (1_000_000_001, 4_990_000_001, False),
        (4_000_000_000, 4_000_000_001, False),  # whole seconds: such a file system
        (2_000_000_000, 2_000_000_000, True),
        (9_000_000_001, 9_000_000_001, False),  # a clock that is ahead
    ],
)
def test_settled_stamps(mtime_ns: int, ctime_ns: int, settled: bool) -> None:
    file = FoundFile("a.py", mtime_ns, ctime_ns, 1, 1)
    assert is_settled(file, read_at_ns=5_000_000_000) is settled


@pytest.mark.skipif(sys.platform != "linux", reason="XDG is for Linux")
def test_default_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CACHE_HOME", "/fast")
    assert default_directory() == Path("/fast/contract-guard")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert default_directory() == Path("/home/me/.cache/contract-guard")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert default_directory() == Path("/home/me/.cache/contract-guard")
