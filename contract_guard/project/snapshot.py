"""A project at one moment: all its files, their facts, and what could not be read."""

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project import encoding, pool
from contract_guard.project.config import Config
from contract_guard.project.discovery import Found, FoundFile, discover
from contract_guard.project.pytest_settings import PytestSettings, read_pytest_settings
from contract_guard.registry.model import Tree

# Larger files are not opened: they are data, and a worker could not hold their facts.
LARGEST_FILE = 32 << 20


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
    """What `load` found. `unreadable` holds files and directories; `tree.files` the files of
    them too. `warnings` are one-line sentences for the user. `selected` are the paths that were
    asked for, relative to the root ("" for all)."""

    root: Path
    tree: Tree
    unreadable: Mapping[str, Unreadable]
    counts: Counts
    warnings: tuple[str, ...]
    selected: tuple[str, ...]
    stamps: Mapping[str, FoundFile]

    def is_selected(self, path: str) -> bool:
        """Whether findings in `path` were asked for."""
        return any(
            not place or path == place or path.startswith(place + "/") for place in self.selected
        )

    def read(self, path: str) -> bytes:
        """The bytes that the facts of `path` were taken from.

        Raises SourceChanged where they have been replaced since.
        """
        try:
            source, stamp = _read(self.root, path)
        except OSError as error:
            raise SourceChanged(f"{path}: cannot be read any more: {error.strerror}") from None
        if stamp != self.stamps[path]:
            raise SourceChanged(f"{path}: changed during the run; run again")
        return source


def load(
    root: Path,
    config: Config,
    *,
    paths: Sequence[Path] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> Snapshot:
    """Read the project at `root`.

    `paths` narrows what is reported, not what is read: a name's producer may be anywhere.
    Relative ones are taken from the working directory. `jobs` is the most processes to use,
    by default the usable cores. Without `cache_dir` nothing is kept.

    Raises UserError for a root that is no directory and for paths that do not exist or lie
    outside the root.
    """
    root = root.absolute()
    if not root.is_dir():
        raise UserError(f"{root}: not a directory")
    selected = select_paths(root, paths)
    found = discover(root, exclude=config.exclude)
    settings = read_pytest_settings(root)
    reader = _Reader(root, found.python)
    files: dict[str, ModuleFacts | Unreadable] = {}
    with closing(pool.extract_all(reader, jobs=jobs or pool.usable_cores())) as extracted:
        for file, data in extracted:
            files[file.path] = encoding.decode(data)
    files |= reader.failed
    files = dict(sorted(files.items()))
    unreadable = {path: facts for path, facts in files.items() if isinstance(facts, Unreadable)}
    unreadable |= {place.path: Unreadable("unreadable", place.reason) for place in found.unlisted}
    return Snapshot(
        root=root,
        tree=_tree(files, found, config, settings),
        unreadable=unreadable,
        counts=Counts(
            files=len(files),
            lines=sum(facts.lines for facts in files.values() if isinstance(facts, ModuleFacts)),
            cache_hits=0,
            cache_misses=len(files),
        ),
        warnings=() if files else (f"{root}: no Python files",),
        selected=selected,
        stamps=reader.stamps,
    )


def select_paths(root: Path, paths: Sequence[Path]) -> tuple[str, ...]:
    """The paths relative to the root, `("",)` for the root itself or for none.

    Raises UserError for one that does not exist or lies outside the root.
    """
    selected: set[str] = set()
    real_root = root.resolve()
    for path in paths:
        if not path.exists():
            raise UserError(f"{path}: no such file or directory")
        # The last part may be a link to elsewhere; it is the link that was asked for.
        place = path.parent.resolve() / path.name if path.name else path.resolve()
        if ".." in path.parts[-1:]:
            place = path.resolve()
        if not place.is_relative_to(real_root):
            raise UserError(f"{path}: outside the project {root}")
        relative = place.relative_to(real_root).as_posix()
        selected.add("" if relative == "." else relative)
    return tuple(sorted(selected)) or ("",)


class _Reader:
    """Iterates over files with their bytes; what cannot be read is in `failed` afterwards.

    `stamps` are those of the bytes that were read, which may be newer than those found.
    """

    def __init__(self, root: Path, files: Sequence[FoundFile]) -> None:
        self._root = root
        self._files = files
        self.stamps: dict[str, FoundFile] = {}
        self.failed: dict[str, Unreadable] = {}

    def __iter__(self) -> Iterator[tuple[FoundFile, bytes]]:
        for file in self._files:
            if file.size > LARGEST_FILE:
                detail = f"{file.size >> 20} MB, more than {LARGEST_FILE >> 20}"
                self.failed[file.path] = Unreadable("too-large", detail)
                continue
            try:
                source, stamp = _read(self._root, file.path)
            except OSError as error:
                self.failed[file.path] = Unreadable("unreadable", error.strerror or str(error))
                continue
            self.stamps[file.path] = stamp
            yield stamp, source


def _read(root: Path, path: str) -> tuple[bytes, FoundFile]:
    """The bytes of a file with its stamp. Raises OSError."""
    with open(f"{root}/{path}", "rb") as file:  # noqa: PTH123 - thousands of files
        source = file.read(LARGEST_FILE + 1)
        stat = os.fstat(file.fileno())
    return source, FoundFile(path, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size)


def _tree(
    files: Mapping[str, ModuleFacts | Unreadable],
    found: Found,
    config: Config,
    settings: PytestSettings,
) -> Tree:
    return Tree(
        files=files,
        compiled=frozenset(_without_suffixes(file.path) for file in found.compiled),
        hints=frozenset(),
        roots=tuple(PurePosixPath(path).as_posix() for path in config.roots),
        pythonpath=tuple(_inside(settings.pythonpath)),
        test_patterns=config.test_patterns or settings.python_files,
        dynamic_names=config.dynamic_names,
    )


def _without_suffixes(path: str) -> str:
    """`pkg/_C.cpython-311-x86_64-linux-gnu.so` -> `pkg/_C`."""
    directory, slash, name = path.rpartition("/")
    return directory + slash + name.partition(".")[0]


def _inside(paths: Sequence[str]) -> Iterator[str]:
    """Paths in normal form, without those that lead out of the root."""
    for path in paths:
        normal = posixpath.normpath(path)
        if not normal.startswith(("../", "/")) and normal != "..":
            yield normal
