from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from contract_guard.facts.extract import extract as extract_facts
from contract_guard.facts.model import Unreadable
from contract_guard.project.cache import Cache
from contract_guard.project.config import Config
from contract_guard.project.encoding import decode_plain
from contract_guard.project.extraction import extract
from contract_guard.project.gather import gather_blobs
from contract_guard.project.git_objects import Repository
from contract_guard.project.snapshot import load

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

TREE = {"a.py": "x = 1\n", "b/__init__.py": "", "c/__init__.py": "", "bad.py": "def (\n"}


def none_asked(oids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    assert list(oids) == []
    return iter(())


def test_a_revision_and_again_from_the_cache(write: Write, git: Git, tmp_path: Path) -> None:
    root = write(TREE)
    git("add", ".")
    git("commit", "-qm", "x")
    with Repository(root) as repository, Cache(tmp_path / "cache") as cache:
        blobs = repository.files(repository.resolve("HEAD"))
        facts = gather_blobs(blobs, repository.read, cache, jobs=1)
        assert facts == {path: extract(source.encode()) for path, source in TREE.items()}
        assert isinstance(facts["bad.py"], Unreadable)
        assert gather_blobs(blobs, none_asked, cache, jobs=1) == facts


def test_what_a_working_tree_gave_is_known_by_git_s_names(
    write: Write, git: Git, tmp_path: Path
) -> None:
    root = write(TREE)
    git("add", ".")
    git("commit", "-qm", "x")
    load(root, Config(), cache_dir=tmp_path / "cache", fragments=True)
    with Repository(root) as repository, Cache(tmp_path / "cache") as cache:
        blobs = repository.files(repository.resolve("HEAD"))
        assert sorted(gather_blobs(blobs, none_asked, cache, jobs=1)) == sorted(TREE)


def test_fragments_only_where_they_are_asked_for(write: Write, git: Git, tmp_path: Path) -> None:
    root = write({"a.py": "def f(x):\n    return x + 1\n"})
    git("add", ".")
    git("commit", "-qm", "x")
    with Repository(root) as repository, Cache(tmp_path / "cache") as cache:
        blobs = repository.files(repository.resolve("HEAD"))
        plain = gather_blobs(
            blobs, repository.read, cache, jobs=1, decode=decode_plain, fragments=False
        )
        whole = gather_blobs(blobs, repository.read, cache, jobs=1)
        assert plain == {"a.py": extract_facts(b"def f(x):\n    return x + 1\n")}
        assert whole == {"a.py": extract(b"def f(x):\n    return x + 1\n")} != plain
