import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project import cache as cache_module
from contract_guard.project import discovery, encoding, gather, pool
from contract_guard.project.config import Config
from contract_guard.project.extraction import extract
from contract_guard.project.snapshot import Snapshot, SourceChanged, load
from contract_guard.registry.index import build

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

TREE = {
    "src/pkg/__init__.py": "",
    "src/pkg/core.py": "LIMIT = 3\n\n\ndef run(): ...\n",
    "tests/test_core.py": "from pkg.core import LIMIT\n\n\ndef test_it():\n    assert LIMIT == 3\n",
}


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(autouse=True)
def _old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """ctime cannot be set: a file of this test counts as settled as soon as it is written."""
    monkeypatch.setattr(gather, "is_settled", lambda file, read_at_ns: True)


def counts(snapshot: Snapshot) -> tuple[int, int]:
    return snapshot.counts.cache_hits, snapshot.counts.cache_misses


def test_tree(write: Write) -> None:
    root = write(
        {
            **TREE,
            "src/pkg/_C.abi3.so": b"",
            "src/pkg/fast.pyx": "",
            "setup.py": "Extension('pkg._D', [])",
            "pytest.ini": "[pytest]\npythonpath = src ./lib ../outside /abs\n"
            "python_files = check_*.py\n",
        }
    )
    config = Config(roots=("src/",), dynamic_names=("pkg.plugins.*",))
    snapshot = load(root, config, fragments=True)
    tree = snapshot.tree
    assert list(tree.files) == ["setup.py", *TREE]
    assert tree.files["src/pkg/core.py"] == extract(TREE["src/pkg/core.py"].encode())
    assert tree.compiled == {"src/pkg/_C", "src/pkg/fast"}
    assert tree.hints == {"pkg._D"}
    assert tree.roots == ("src",)
    assert tree.pythonpath == ("src", "lib")
    assert tree.test_patterns == ("check_*.py",)
    assert tree.dynamic_names == ("pkg.plugins.*",)
    assert tree.origin == ""
    assert (snapshot.counts.files, snapshot.counts.lines) == (4, 1 + 0 + 4 + 5)
    assert counts(snapshot) == (0, 4)
    assert snapshot.unreadable == {}
    assert snapshot.warnings == ()
    assert snapshot.read("src/pkg/core.py") == TREE["src/pkg/core.py"].encode()


def test_the_configuration_s_patterns_go_before_pytest_s(write: Write) -> None:
    root = write({"pytest.ini": "[pytest]\npython_files = a.py\n", "x.py": ""})
    assert load(root, Config(test_patterns=("b.py",))).tree.test_patterns == ("b.py",)
    assert load(root, Config()).tree.test_patterns == ("a.py",)


def test_pytest_s_settings_hold_below_their_directory(write: Write) -> None:
    root = write(
        {
            "one/pytest.ini": "[pytest]\npython_files = check_*.py\npythonpath = lib\n",
            "one/lib/helper.py": "A = 1\n",
            "one/tests/check_it.py": "from helper import A, GONE\n",
            "two/tests/check_it.py": "",
        }
    )
    snapshot = load(root, Config())
    assert snapshot.tree.nested_pythonpath == (("one", "one/lib"),)
    registry = build(snapshot.tree)
    assert registry.layout.is_test_module("one/tests/check_it.py")
    assert not registry.layout.is_test_module("two/tests/check_it.py")
    facts = snapshot.tree.files["one/tests/check_it.py"]
    assert isinstance(facts, ModuleFacts)
    found = [registry.resolve_import("one/tests/check_it.py", imp).status for imp in facts.imports]
    assert found == ["exists", "unknown"]  # pytest is not the only one that starts there


def test_unreadable_files_and_directories(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(
        {"a.py": "x = 1\n", "bad.py": "def (\n", "big.py": "x" * 100, "locked.py": "", "z/b.py": ""}
    )
    monkeypatch.setattr(gather, "LARGEST_FILE", 90)
    read_file, scandir = gather.read_file, os.scandir

    def no_right_to_read(root: Path, path: str) -> object:
        if path == "locked.py":
            raise PermissionError(13, "Permission denied", path)
        return read_file(root, path)

    def no_right_to_list(path: str) -> object:
        if path.endswith("/z/"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(gather, "read_file", no_right_to_read)
    monkeypatch.setattr(discovery.os, "scandir", no_right_to_list)
    snapshot = load(root, Config())
    bad = snapshot.unreadable["bad.py"]
    assert (bad.reason, bad.line) == ("syntax", 1)
    assert {path: why for path, why in snapshot.unreadable.items() if path != "bad.py"} == {
        "big.py": Unreadable("too-large", "0 MB, more than 0"),
        "locked.py": Unreadable("unreadable", "Permission denied"),
        "z": Unreadable("unreadable", "Permission denied"),
    }
    assert isinstance(snapshot.tree.files["a.py"], ModuleFacts)
    assert snapshot.tree.files["locked.py"] == snapshot.unreadable["locked.py"]
    assert "z" not in snapshot.tree.files


class TestPaths:
    def test_none_selects_all(self, write: Write) -> None:
        snapshot = load(write(TREE), Config())
        assert all(snapshot.is_selected(path) for path in TREE)

    def test_narrow_what_is_reported_only(self, write: Write) -> None:
        root = write({**TREE, "tests_more/a.py": ""})
        snapshot = load(root, Config(), paths=[root / "tests", root / "src/pkg/core.py"])
        assert sorted(snapshot.tree.files) == sorted([*TREE, "tests_more/a.py"])
        assert [path for path in snapshot.tree.files if snapshot.is_selected(path)] == [
            "src/pkg/core.py",
            "tests/test_core.py",
        ]

    def test_relative_to_the_working_directory(
        self, write: Write, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write(TREE)
        monkeypatch.chdir(root / "src")
        assert load(root, Config(), paths=[Path("pkg")]).selected == ("src/pkg",)
        assert load(root, Config(), paths=[Path("..")]).selected == ("",)

    def test_missing(self, write: Write) -> None:
        root = write(TREE)
        with pytest.raises(UserError, match=r"nope\.py: no such file or directory$"):
            load(root, Config(), paths=[root / "nope.py"])

    def test_outside(self, write: Write, tmp_path: Path) -> None:
        root = write(TREE)
        (tmp_path / "x.py").write_text("")
        with pytest.raises(UserError, match=r"x\.py: outside the project "):
            load(root, Config(), paths=[tmp_path / "x.py"])

    def test_a_root_that_is_none(self, write: Write) -> None:
        root = write(TREE)
        with pytest.raises(UserError, match="not a directory"):
            load(root / "tests/test_core.py", Config())
        with pytest.raises(UserError, match="no such directory"):
            load(root / "nope", Config())


def test_an_empty_tree_is_said(root: Path) -> None:
    snapshot = load(root, Config())
    assert snapshot.tree.files == {}
    assert snapshot.warnings == (f"{root}: no Python files",)


class TestChanges:
    def test_changed_after_it_was_read(self, write: Write) -> None:
        root = write(TREE)
        snapshot = load(root, Config())
        (root / "src/pkg/core.py").write_text("LIMIT = 4\n")
        with pytest.raises(SourceChanged) as error:
            snapshot.read("src/pkg/core.py")
        assert str(error.value) == "src/pkg/core.py: changed during the run; run again"

    def test_gone_after_it_was_read(self, write: Write) -> None:
        root = write(TREE)
        snapshot = load(root, Config())
        (root / "src/pkg/core.py").unlink()
        with pytest.raises(SourceChanged, match="gone during the run"):
            snapshot.read("src/pkg/core.py")

    def test_changed_between_listing_and_reading(self, write: Write) -> None:
        root = write(TREE)
        found = discovery.discover(root)
        (root / "src/pkg/core.py").write_text("OTHER = 40\n")
        snapshot = load(root, Config(), found=found)
        assert snapshot.tree.files["src/pkg/core.py"] == extract(b"OTHER = 40\n")
        assert snapshot.read("src/pkg/core.py") == b"OTHER = 40\n"

    def test_gone_between_listing_and_reading(self, write: Write) -> None:
        root = write(TREE)
        found = discovery.discover(root)
        (root / "src/pkg/core.py").unlink()
        snapshot = load(root, Config(), found=found)
        assert snapshot.unreadable == {
            "src/pkg/core.py": Unreadable("unreadable", "No such file or directory")
        }


class TestCache:
    def test_unchanged_files_are_not_opened(
        self, write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write(TREE)
        cold = load(root, Config(), cache_dir=cache_dir)
        assert counts(cold) == (0, 3)
        monkeypatch.setattr(gather, "read_file", None)  # would fail if it were called
        warm = load(root, Config(), cache_dir=cache_dir)
        assert counts(warm) == (3, 0)
        assert warm.tree == cold.tree
        assert warm.stamps == cold.stamps

    def test_one_changed(self, write: Write, cache_dir: Path) -> None:
        root = write(TREE)
        load(root, Config(), cache_dir=cache_dir)
        write({"src/pkg/core.py": "LIMIT = 44\n"})
        snapshot = load(root, Config(), cache_dir=cache_dir)
        assert counts(snapshot) == (2, 1)
        assert snapshot.tree == load(root, Config()).tree

    def test_touched_or_moved_is_known_by_its_bytes(self, write: Write, cache_dir: Path) -> None:
        root = write(TREE)
        load(root, Config(), cache_dir=cache_dir)
        os.utime(root / "src/pkg/core.py")
        (root / "tests/test_core.py").rename(root / "tests/test_other.py")
        assert counts(load(root, Config(), cache_dir=cache_dir)) == (3, 0)

    def test_a_stamp_that_is_not_settled_is_not_trusted(
        self, write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write(TREE)
        monkeypatch.setattr(gather, "is_settled", lambda file, read_at_ns: False)
        load(root, Config(), cache_dir=cache_dir)
        with cache_module.Cache(cache_dir) as cache:
            assert list(cache.unchanged(root, discovery.discover(root).python)) == []
        assert counts(load(root, Config(), cache_dir=cache_dir)) == (3, 0)  # by their bytes

    def test_syntax_errors_are_kept_and_faults_of_the_machine_are_not(
        self, write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = write({"bad.py": "def (\n", "slow.py": "x = 1\n"})
        timeout = encoding.encode(Unreadable("timeout", "no facts after 60 s"))
        extract_all = pool.extract_all

        def too_slow(sources: object, **options: object) -> object:
            for source, data in extract_all(sources, **options):  # type: ignore[arg-type]
                yield source, timeout if source.file.path == "slow.py" else data

        with monkeypatch.context() as patch:
            patch.setattr(pool, "extract_all", too_slow)
            first = load(root, Config(), cache_dir=cache_dir)
        assert first.unreadable["slow.py"].reason == "timeout"
        second = load(root, Config(), cache_dir=cache_dir)
        assert counts(second) == (1, 1)
        assert set(second.unreadable) == {"bad.py"}

    def test_damaged_facts_are_made_again(self, write: Write, cache_dir: Path) -> None:
        root = write(TREE)
        load(root, Config(), cache_dir=cache_dir)
        with cache_module.Cache(cache_dir) as cache:
            cache._write(lambda c: c.execute("UPDATE sources SET facts = x'50ff00'"))  # type: ignore[attr-defined]
        assert load(root, Config(), cache_dir=cache_dir).tree == load(root, Config()).tree
        assert counts(load(root, Config(), cache_dir=cache_dir)) == (3, 0)

    def test_facts_that_lack_fragments_are_made_again_where_those_are_asked_for(
        self, write: Write, cache_dir: Path
    ) -> None:
        root = write(TREE)
        plain = load(root, Config(), cache_dir=cache_dir).tree
        whole = load(root, Config(), cache_dir=cache_dir, fragments=True)
        assert counts(whole) == (0, 3)
        assert whole.tree == load(root, Config(), fragments=True).tree != plain
        assert counts(load(root, Config(), cache_dir=cache_dir, fragments=True)) == (3, 0)

    def test_fragments_that_are_not_asked_for_are_not_given(
        self, write: Write, cache_dir: Path
    ) -> None:
        root = write(TREE)
        load(root, Config(), cache_dir=cache_dir, fragments=True)
        plain = load(root, Config(), cache_dir=cache_dir)
        assert counts(plain) == (3, 0)
        assert plain.tree == load(root, Config()).tree

    def test_a_cache_that_cannot_be_used_is_said(self, write: Write, cache_dir: Path) -> None:
        cache_dir.write_text("")
        snapshot = load(write(TREE), Config(), cache_dir=cache_dir)
        assert snapshot.warnings == (f"cache {cache_dir}: File exists; running without it",)
        assert counts(snapshot) == (0, 3)

    def test_the_project_is_not_written_to(self, write: Write, cache_dir: Path) -> None:
        root = write(TREE)
        before = sorted(root.rglob("*"))
        load(root, Config(), cache_dir=cache_dir)
        assert sorted(root.rglob("*")) == before


def test_the_same_for_any_number_of_jobs(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "WORTH_WORKERS", 1)
    monkeypatch.setattr(pool, "SHARE_BYTES", 100)
    root = write({f"m{number}.py": f"X = {number}\n" * 10 for number in range(30)})
    snapshots = [load(root, Config(), jobs=jobs) for jobs in (1, 2, 4)]
    assert snapshots[0].tree == snapshots[1].tree == snapshots[2].tree
    assert [list(snapshot.tree.files) for snapshot in snapshots] == [
        sorted(snapshots[0].tree.files)
    ] * 3


def test_many_files_give_the_same_facts(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(TREE)
    few = load(root, Config(), fragments=True).tree
    monkeypatch.setattr(gather, "_MANY_FILES", 0)
    assert load(root, Config(), fragments=True).tree == few
