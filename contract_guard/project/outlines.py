"""Releases and environments as trees of names, kept as long as their files stay as they are."""

import hashlib
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from zlib import crc32

import msgspec

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.facts.outline import outline
from contract_guard.project.against import Against
from contract_guard.project.cache import Cache, code_stamp
from contract_guard.project.config import Config, read_config
from contract_guard.project.discovery import Found, FoundFile
from contract_guard.project.encoding import decode_result
from contract_guard.project.pool import paused_gc
from contract_guard.project.snapshot import load
from contract_guard.registry.layout import Layout, Standing, key_of
from contract_guard.registry.model import Digest, Tree
from contract_guard.registry.modules import Modules
from contract_guard.registry.stores import stores_of
from contract_guard.report import ReadAgainst


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """A tree, with the facts of its readable files one after the other in `facts`: those of
    `paths[i]` end at `ends[i]`. `check` is their CRC-32, since they are decoded one by one later.
    """

    paths: tuple[str, ...]
    ends: tuple[int, ...]
    facts: bytes
    check: int
    unreadable: dict[str, Unreadable]
    compiled: frozenset[str]
    hints: frozenset[str]
    roots: tuple[str, ...]
    dynamic_names: tuple[str, ...]
    imported: frozenset[str]
    stubs: frozenset[str]
    starring: tuple[str, ...]
    storing: dict[str, tuple[str, ...]]


class _Files(Mapping[str, ModuleFacts | Unreadable]):
    """The files of a kept tree; each is decoded when it is first asked for."""

    def __init__(self, kept: _Kept) -> None:
        self._kept = kept
        self._decoded: dict[str, ModuleFacts | Unreadable] = dict(kept.unreadable)
        self._numbers = {path: number for number, path in enumerate(kept.paths)}

    def __getitem__(self, path: str) -> ModuleFacts | Unreadable:
        found = self._decoded.get(path)
        if found is None:
            number = self._numbers[path]
            start = self._kept.ends[number - 1] if number else 0
            body = memoryview(self._kept.facts)[start : self._kept.ends[number]]
            found = self._decoded[path] = _decode(body)
        return found

    def __contains__(self, path: object) -> bool:
        return path in self._numbers or path in self._decoded

    def __iter__(self) -> Iterator[str]:
        yield from self._kept.paths
        yield from self._kept.unreadable

    def __len__(self) -> int:
        return len(self._kept.paths) + len(self._kept.unreadable)

    def mentioning(self, name: str) -> Iterator[str]:
        """Paths of the files whose facts contain the text of an identifier."""
        wanted, facts, ends = name.encode(), self._kept.facts, self._kept.ends
        at = facts.find(wanted)
        while at >= 0:
            number = bisect_right(ends, at)
            yield self._kept.paths[number]
            at = facts.find(wanted, ends[number])


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ModuleFacts).decode


def outlines(
    against: Sequence[Against], project: Tree, *, jobs: int | None, cache_dir: Path | None
) -> list[Tree]:
    """The names of everything in `against`, in its order, for `registry.build(project, *outlines)`.

    Of an environment, only those packages that the project names, that are not its own, and of
    which no release was given: what it was asked to be checked against comes first.

    Raises UserError for a configuration in a source tree that cannot be read.
    """
    released = frozenset[str]().union(
        *(_packages(each.found) for each in against if not each.is_environment)
    )
    wanted: frozenset[str] | None = None
    trees: list[Tree] = []
    with Cache(cache_dir) as cache:
        for each in against:
            found = each.found
            if each.is_environment:
                wanted = _named_packages(project) - released if wanted is None else wanted
                found = _only(found, wanted)
            elif each.is_installed:
                found = _only(found, _sure_packages(each))
            trees.append(_tree(each, found, cache, cache_dir, jobs))
    return trees


def summaries(trees: Sequence[Tree]) -> tuple[ReadAgainst, ...]:
    """What to tell of the trees that were read."""
    return tuple(
        ReadAgainst(tree.origin, tuple(sorted(_tops(tree))), len(tree.files)) for tree in trees
    )


def _tops(tree: Tree) -> set[str]:
    """Top-level packages and modules that can be imported where the tree is installed."""
    layout = Layout(tree)
    names = {layout.name(key_of(path)).partition(".")[0] for path in tree.files}
    return {name for name in names if _is_certain(layout, name)}


def _is_certain(layout: Layout, name: str) -> bool:
    return any(place.standing is Standing.CERTAIN for place in layout.places("", name))


def _packages(found: Found) -> frozenset[str]:
    return frozenset(_head(file.path) for file in (*found.python, *found.compiled))


def _head(path: str) -> str:
    return path.partition("/")[0].partition(".")[0]


def _only(found: Found, packages: Collection[str]) -> Found:
    """The files of the top-level packages and modules with these names."""

    def chosen(files: Sequence[FoundFile]) -> list[FoundFile]:
        return [file for file in files if _head(file.path) in packages]

    return Found(chosen(found.python), chosen(found.compiled), chosen(found.build), [])


def _sure_packages(release: Against) -> frozenset[str]:
    """Without the plain modules beside its packages, unless they have the distribution's name:
    another distribution may bring a package of that name, which Python would take first (`py.py`
    of pytest stands in for the package `py`)."""
    files = (*release.found.python, *release.found.compiled)
    packages = {_head(file.path) for file in files if "/" in file.path}
    own = {name.partition("==")[0].replace("-", "_").lower() for name in release.distributions}
    plain = _packages(release.found) - packages
    if not any(file.path.endswith("__init__.py") for file in release.found.python):
        return _packages(release.found)
    return frozenset(packages | {name for name in plain if name.lower() in own})


def _named_packages(project: Tree) -> frozenset[str]:
    """The first parts of all modules that the project names, without the standard library's and
    those of packages that are its own."""
    names = frozenset(name for facts in project.files.values() for name in _named(facts))
    layout = Layout(project)
    own = {name for name in names if _is_certain(layout, name)}
    return names - own - sys.stdlib_module_names


def _named(facts: ModuleFacts | Unreadable) -> Iterator[str]:
    if isinstance(facts, ModuleFacts):
        dotted = [found.module for found in facts.imports if not found.level]
        dotted += [patch.target for patch in facts.patches if not patch.imported]
        for name in (*dotted, *facts.pytest.plugins):
            yield name.partition(".")[0]


def _tree(
    against: Against, found: Found, cache: Cache, cache_dir: Path | None, jobs: int | None
) -> Tree:
    code = code_stamp(Path(__file__).parent.parent)
    config = _config(against)
    state = ("outline", code, str(against.place), against.is_installed, config, found)
    key = hashlib.sha256(msgspec.msgpack.encode(state)).digest()
    kept = decode_result(cache.result(key), _Kept)
    if kept is None or crc32(kept.facts) != kept.check:
        with paused_gc():
            kept = _outlined(against, config, found, cache_dir, jobs)
        if against.is_settled:
            cache.keep_result(key, _encode(kept))
    files = _Files(kept)
    return Tree(
        files=files,
        compiled=kept.compiled,
        hints=kept.hints,
        roots=kept.roots,
        dynamic_names=kept.dynamic_names,
        origin=against.origin,
        distributions=against.distributions,
        digest=Digest(
            imported=kept.imported,
            stubs=kept.stubs,
            starring=kept.starring,
            storing=kept.storing,
            mentioning=files.mentioning,
        ),
    )


def _config(against: Against) -> Config:
    """What a source tree says of itself."""
    if against.is_installed:
        return Config()
    try:
        return read_config(against.place)
    except UserError as error:
        raise UserError(f"{against.origin}: {error}") from None


def _outlined(
    against: Against, config: Config, found: Found, cache_dir: Path | None, jobs: int | None
) -> _Kept:
    try:
        tree = load(against.place, config, jobs=jobs, cache_dir=cache_dir, found=found).tree
    except UserError as error:
        raise UserError(f"{against.origin}: {error}") from None
    packages = _packages(found)
    files = {
        path: outline(facts, packages)
        for path, facts in tree.files.items()
        if isinstance(facts, ModuleFacts)
    }
    # What a build makes is there once it is installed.
    hints = frozenset[str]() if against.is_installed else tree.hints
    roots = _installed_roots(found) if against.is_installed else tree.roots
    modules = Modules([msgspec.structs.replace(tree, files=files, hints=hints, roots=roots)])
    storing: dict[str, dict[str, None]] = {}
    for module in modules.all():
        for store in stores_of(module):
            storing.setdefault(store.chain[-1], {})[module.path] = None
    encoded = [_encode(facts) for facts in files.values()]
    joined = b"".join(encoded)
    return _Kept(
        paths=tuple(files),
        ends=tuple(accumulate(map(len, encoded))),
        facts=joined,
        check=crc32(joined),
        unreadable={p: facts for p, facts in tree.files.items() if isinstance(facts, Unreadable)},
        compiled=tree.compiled,
        hints=hints,
        roots=roots,
        dynamic_names=tree.dynamic_names,
        imported=frozenset(module.key for module in modules.imported),
        stubs=frozenset(stub for facts in files.values() for stub in facts.submodule_stubs),
        starring=tuple(module.path for module in modules.all() if module.stars),
        storing={name: tuple(paths) for name, paths in storing.items()},
    )


def _installed_roots(found: Found) -> tuple[str, ...]:
    """Where modules lie in a wheel: at the top, and in the two places that its installer copies
    there (PyPA's binary distribution format, "The .data directory")."""
    parts = (file.path.split("/", 2) for file in (*found.python, *found.compiled))
    data = {
        f"{part[0]}/{part[1]}"
        for part in parts
        if len(part) > 2 and part[0].endswith(".data") and part[1] in ("purelib", "platlib")
    }
    return ("", *sorted(data))
