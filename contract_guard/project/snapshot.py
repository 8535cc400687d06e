"""A project at one moment: all its files, their facts, and what could not be read."""

import glob
import hashlib
import posixpath
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import msgspec

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project.build_hints import hint_sources, read_build_hints
from contract_guard.project.cache import Cache, code_stamp, is_settled
from contract_guard.project.config import Config
from contract_guard.project.discovery import Found, FoundFile, discover
from contract_guard.project.encoding import Decode, decode_result
from contract_guard.project.gather import gather, read_file
from contract_guard.project.places import checked_root, is_below, select_paths
from contract_guard.project.pool import default_jobs
from contract_guard.project.pytest_settings import PytestSettings, read_pytest_settings
from contract_guard.registry.model import Tree


class SourceChanged(UserError):
    """A file is no longer what its facts were taken from, or is gone."""


@dataclass(frozen=True, slots=True)
class Counts:
    files: int
    lines: int
    cache_hits: int
    cache_misses: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What `load` found.

    `unreadable` holds files, which `tree.files` has too, and directories. `warnings` are
    sentences of one line for the user. `selected` are the paths that were asked for, relative to
    the root ("" for all of it). `stamps` tell the bytes that the facts were taken from, and so do
    `digests` (SHA-256), which are there only if there is a cache.
    """

    root: Path
    tree: Tree
    unreadable: Mapping[str, Unreadable]
    counts: Counts
    warnings: tuple[str, ...]
    selected: tuple[str, ...]
    stamps: Mapping[str, FoundFile]
    digests: Mapping[str, bytes]

    def is_selected(self, path: str) -> bool:
        """Whether findings in `path` were asked for."""
        return any(is_below(path, place) for place in self.selected)

    def read(self, path: str) -> bytes:
        """The bytes that the facts of `path` were taken from (`read_unchanged`)."""
        return read_unchanged(self.root, self.stamps, path)


def read_unchanged(root: Path, stamps: Mapping[str, FoundFile], path: str) -> bytes:
    """The bytes of a file that still has its stamp.

    Raises SourceChanged where it has not, KeyError for a path without one: it could not be read.
    """
    stamp = stamps[path]
    try:
        source, now = read_file(root, path)
    except OSError as error:
        raise SourceChanged(f"{path}: gone during the run ({error.strerror})") from None
    if now != stamp:
        raise SourceChanged(f"{path}: changed during the run; run again")
    return source


def load(
    root: Path,
    config: Config,
    *,
    paths: Sequence[Path] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
    found: Found | None = None,
    decode: Decode | None = None,
    fragments: bool = False,
) -> Snapshot:
    """Read the project at `root`.

    `paths` narrows what is reported, not what is read: a name's producer may be anywhere.
    Relative ones are taken from the working directory. `jobs` is the most processes to use,
    by default `pool.default_jobs`. Without `cache_dir` nothing is kept. `found` is what `discover`
    gave a moment ago, if it was asked already. `decode` may know facts of other trees. Facts have
    `fragments` only if they are asked for (`extraction.asks_for_fragments`).

    Raises UserError for a root that is no directory, for paths that do not exist or lie outside
    the root, and for settings of pytest that cannot be parsed.
    """
    root = checked_root(root)
    selected = select_paths(root, paths)
    if found is None:
        found = discover(root, exclude=config.exclude)
    settings = read_pytest_settings(root, [file.path for file in found.build])
    with Cache(cache_dir) as cache:
        hints = _hints(root, found, cache)
        gathered = gather(
            root, found.python, cache, jobs or default_jobs(), decode, fragments=fragments
        )
        warnings = [] if cache.warning is None else [cache.warning]
    if not gathered.files:
        warnings.append(f"{root}: no Python files")
    files = gathered.files
    unreadable = {path: facts for path, facts in files.items() if isinstance(facts, Unreadable)}
    unreadable |= {place.path: Unreadable("unreadable", place.reason) for place in found.unlisted}
    return Snapshot(
        root=root,
        tree=make_tree(files, found, hints, config, settings),
        unreadable=unreadable,
        counts=Counts(
            files=len(files),
            lines=sum(facts.lines for facts in files.values() if isinstance(facts, ModuleFacts)),
            cache_hits=gathered.hits,
            cache_misses=gathered.misses,
        ),
        warnings=tuple(warnings),
        selected=selected,
        stamps=gathered.stamps,
        digests=gathered.digests,
    )


def _hints(root: Path, found: Found, cache: Cache) -> frozenset[str]:
    """The build's hints, kept as long as no build file and no path changes."""
    sources = hint_sources(found.build, found.python)
    paths = [file.path for file in found.python]
    code = code_stamp(Path(__file__).parent) if cache.is_open else b""
    key = hashlib.sha256(
        msgspec.msgpack.encode(("hints", code, str(root), sources, paths))
    ).digest()
    kept = decode_result(cache.result(key), frozenset[str])
    if kept is not None:
        return kept
    now = time.time_ns()
    hints = read_build_hints(root, sources, paths)
    if all(is_settled(file, now) for file in sources):
        cache.keep_result(key, msgspec.msgpack.encode(hints))
    return hints


def make_tree(
    files: Mapping[str, ModuleFacts | Unreadable],
    found: Found,
    hints: frozenset[str],
    config: Config,
    settings: PytestSettings,
) -> Tree:
    """The values that the registry is made of."""
    return Tree(
        files=files,
        compiled=frozenset(_without_suffixes(file.path) for file in found.compiled),
        hints=hints,
        roots=tuple(PurePosixPath(path).as_posix() for path in config.roots),
        pythonpath=tuple(_inside(settings.pythonpath)),
        nested_pythonpath=tuple(
            (directory, path)
            for directory, inner in settings.nested
            for path in _inside([f"{directory}/{entry}" for entry in inner.pythonpath])
        ),
        test_patterns=config.test_patterns or (*settings.python_files, *_nested_patterns(settings)),
        dynamic_names=config.dynamic_names,
    )


def _without_suffixes(path: str) -> str:
    """`pkg/_C.cpython-311-x86_64-linux-gnu.so` -> `pkg/_C`."""
    directory, slash, name = path.rpartition("/")
    return directory + slash + name.partition(".")[0]


def _nested_patterns(settings: PytestSettings) -> Iterator[str]:
    """What counts as a test below directories with settings of their own."""
    for directory, inner in settings.nested:
        for pattern in inner.python_files:
            if pattern not in settings.python_files and "/" not in pattern:
                yield f"{glob.escape(directory)}/{pattern}"
                yield f"{glob.escape(directory)}/*/{pattern}"


def _inside(paths: Sequence[str]) -> Iterator[str]:
    """Paths in normal form, without those that lead out of the root."""
    for path in paths:
        normal = posixpath.normpath(path)
        if not normal.startswith(("../", "/")) and normal != "..":
            yield normal
