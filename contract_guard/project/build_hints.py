"""Names of modules that a build generates, vendors or compiles, so that a checkout lacks them.

Build files are read as text and never run. A hint is a dotted name, which stands for that module
and all below it, or a bare one (`_C`), where the text does not say in which package it will lie:
that stands for a last part of any module's name.

A hint only ever turns *missing* into *unknown*; a module that has a source is never hidden.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from contract_guard.project.build_readers import READERS
from contract_guard.project.discovery import FoundFile

# Bounds for repositories that are mostly C++, or hostile.
MOST_FILES = 5_000
LARGEST_FILE = 1 << 20
MOST_BYTES = 64 << 20

# Python files that may write others while a package is built. Only those beside a project file
# or in a directory for tools are read.
_SCRIPT = re.compile(r"(?:^setup\.py$|build|hatch_|gen_|generate|codegen|version|vendor)")
_TOOL_DIRECTORY = re.compile(r"(?:^|/)(?:scripts?|tools?|tooling|build_?tools|ci|dev|cmake)/$")
_PROJECT_FILES = frozenset({"pyproject.toml", "setup.cfg", "setup.py"})


def hint_sources(build: Sequence[FoundFile], python: Sequence[FoundFile]) -> list[FoundFile]:
    """The files that `read_build_hints` opens, within the bounds."""
    project_directories = {
        _directory(file.path)
        for file in (*build, *python)
        if file.path.rpartition("/")[2] in _PROJECT_FILES
    }
    scripts = [
        file
        for file in python
        if _SCRIPT.search(file.path.rpartition("/")[2])
        and (
            _directory(file.path) in project_directories
            or _TOOL_DIRECTORY.search(_directory(file.path))
        )
    ]
    chosen: list[FoundFile] = []
    size = 0
    for file in (*scripts, *build):
        if file.size <= LARGEST_FILE and len(chosen) < MOST_FILES and size < MOST_BYTES:
            chosen.append(file)
            size += file.size
    return chosen


def read_build_hints(
    root: Path, sources: Iterable[FoundFile], python_paths: Collection[str]
) -> frozenset[str]:
    """The hints of the files in `sources`; `python_paths` are all Python files of the tree.

    A file that cannot be read gives no hint.
    """
    return build_hints(_texts(root, sources), python_paths)


def build_hints(
    sources: Iterable[tuple[str, bytes]], python_paths: Collection[str]
) -> frozenset[str]:
    """The same for files of any place: each of `sources` is a path and its bytes."""
    layout = _Layout(python_paths)
    hints: set[str] = set()
    for path, source in sources:
        name = path.rpartition("/")[2]
        reader = READERS.get(name) or READERS.get(name[name.rfind(".") :])
        if reader is None:
            hints.update(_protocol_buffers(name))
            continue
        for text in reader(source[:LARGEST_FILE]):
            hints.update(layout.names(_directory(path), text))
    return frozenset(hint for hint in hints if _is_name(hint))


def _texts(root: Path, sources: Iterable[FoundFile]) -> Iterator[tuple[str, bytes]]:
    for file in sources:
        try:
            with open(f"{root}/{file.path}", "rb") as stream:  # noqa: PTH123 - hundreds of files
                yield file.path, stream.read(LARGEST_FILE)
        except OSError:
            continue


def _protocol_buffers(name: str) -> Iterator[str]:
    stem, _, suffix = name.rpartition(".")
    if suffix == "proto":
        stem = stem.replace("-", "_")
        yield f"{stem}_pb2"
        yield f"{stem}_pb2_grpc"


class _Layout:
    """Which files and packages a tree has, so that a path can be told as a module's name."""

    def __init__(self, python_paths: Collection[str]) -> None:
        self._directories: set[str] = set()  # all that hold Python files, at any depth
        for path in python_paths:
            while (path := path.rpartition("/")[0]) and path not in self._directories:
                self._directories.add(path)
        self._packages = {
            _directory(path).rstrip("/") for path in python_paths if path.endswith("/__init__.py")
        }
        # Everything that is there, by its last part: files as written, directories without slash
        self._places: dict[str, list[str]] = {}
        for place in (*python_paths, *self._directories):
            self._places.setdefault(place.rpartition("/")[2], []).append(place)

    def names(self, directory: str, text: str) -> Iterator[str]:
        """The hints for what a reader gave for a build file in `directory`: none where the tree
        has it, for then it is not generated."""
        if "/" not in text and not text.endswith((".py", ".pyi")):
            if "." not in text or not self._has(text.replace(".", "/")):
                yield text
            return
        path = text.strip("/").removeprefix("./")
        contents = path.endswith("/*")
        stem = path.removesuffix("/*").removesuffix(".pyi").removesuffix(".py")
        if "." in stem.rpartition("/")[2] or (not contents and self._has(stem)):
            return
        if "/" not in text.removesuffix("/*"):  # it does not say in which directory
            yield stem
            return
        for place in self._places_meant(directory, stem, anchored=text.startswith("/")):
            if place.rpartition("/")[0] in self._directories:
                yield from self._dotted(place.removesuffix("/__init__").split("/"))
                return

    def _places_meant(self, directory: str, path: str, *, anchored: bool) -> Iterator[str]:
        """Where a path in a file of `directory` may lie, the likeliest first."""
        yield directory + path
        if not anchored:
            yield path
            above, _, name = path.rpartition("/")
            for place in self._places.get(above.rpartition("/")[2], ()):
                if place.endswith("/" + above):  # said without the `src/` before it
                    yield f"{place}/{name}"

    def _has(self, path: str) -> bool:
        """Whether the tree has the file, or a module or package, at the end of some path."""
        last = path.rpartition("/")[2]
        return any(
            place == wanted or place.endswith("/" + wanted)
            for name, wanted in ((last, path), (last + ".py", path + ".py"))
            for place in self._places.get(name, ())
        )

    def _dotted(self, parts: Sequence[str]) -> Iterator[str]:
        """The name below the outermost package; where there is none, each name it may have."""
        for start in range(len(parts)):
            if "/".join(parts[: start + 1]) in self._packages:
                yield ".".join(parts[start:])
                return
        for start in range(len(parts) - 1):
            yield ".".join(parts[start:])


def _directory(path: str) -> str:
    """With a trailing slash, "" at the root."""
    return path[: path.rfind("/") + 1]


def _is_name(text: str) -> bool:
    return all(part.isidentifier() for part in text.split("."))
