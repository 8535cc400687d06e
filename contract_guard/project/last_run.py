"""What a run may take over from the last one, where only tests have changed that nothing else
refers to: what was found in files that the change cannot touch.

The findings are the same as without it: which files have to be asked again is told from the facts
before and after (`registry.affected`), for detectors alone that look at one file after the other.
"""

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

import msgspec

from contract_guard.facts.model import ModuleFacts
from contract_guard.findings import Finding
from contract_guard.project import encoding
from contract_guard.project.cache import Cache
from contract_guard.project.snapshot import Snapshot
from contract_guard.registry.affected import LAYOUT_FILES, affected_paths, asked_names
from contract_guard.registry.index import Registry
from contract_guard.registry.layout import key_of
from contract_guard.registry.model import Tree


class _Run(msgspec.Struct, frozen=True):
    """A run that was made: what its tree was made of, and what it gave by path."""

    settings: bytes
    digests: dict[str, bytes]
    found: dict[str, tuple[Finding, ...]]
    constants: dict[str, frozenset[str]]


class Reuse(msgspec.Struct, frozen=True):
    """`again` are the files to ask again. Of all others, `found` is what was found in them, and
    `constants` are the symbols of production's constants that test modules lean on."""

    again: frozenset[str]
    found: tuple[Finding, ...] = ()
    constants: dict[str, frozenset[str]] = {}


def reuse(key: bytes, snapshot: Snapshot, registry: Registry, cache_dir: Path | None) -> Reuse:
    """What can be taken over from the run that was kept under `key`: nothing where none was kept,
    or where more than tests have changed."""
    tree = snapshot.tree
    everything = Reuse(frozenset(tree.files))
    with Cache(cache_dir) as cache:
        last = encoding.decode_result(cache.result(key), _Run)
        if last is None or last.settings != _settings(registry):
            return everything
        if (
            last.digests.keys() != tree.files.keys()
            or last.digests.keys() != snapshot.digests.keys()
        ):
            return everything
        changed = [
            path for path, digest in snapshot.digests.items() if digest != last.digests[path]
        ]
        before = _facts(cache, {path: last.digests[path] for path in changed})
    if before is None or not _stand_alone(registry, changed):
        return everything
    old = msgspec.structs.replace(tree, files={**tree.files, **before})
    affected = affected_paths(old, tree, changed)
    if affected is None:
        return everything
    again = affected.union(
        changed,
        _referred_to(registry, old, changed),
        # What else would not run is counted through all files that import one another.
        (path for path, found in last.found.items() if any(f.impact is not None for f in found)),
    )
    kept = (finding for path, found in last.found.items() if path not in again for finding in found)
    constants = {path: symbols for path, symbols in last.constants.items() if path not in again}
    return Reuse(again & tree.files.keys(), tuple(kept), constants)


def keep(
    key: bytes,
    snapshot: Snapshot,
    registry: Registry,
    found: Iterable[Finding],
    constants: dict[str, frozenset[str]],
    cache_dir: Path | None,
) -> None:
    """Keep for the next run what the detectors of one file after the other found, and what each
    test module leans on. Nothing is kept of a run in which a file could not be read."""
    if snapshot.digests.keys() != snapshot.tree.files.keys():
        return
    by_path: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in found:
        by_path[finding.path].append(finding)
    run = _Run(
        _settings(registry),
        dict(snapshot.digests),
        {path: tuple(findings) for path, findings in by_path.items()},
        constants,
    )
    with Cache(cache_dir) as cache:
        cache.keep_result(key, msgspec.msgpack.encode(run))


def _settings(registry: Registry) -> bytes:
    """Tells apart the trees in which other things than files differ."""
    tree = msgspec.structs.replace(registry.tree, files={})
    made_of = msgspec.to_builtins((tree, registry.layout.stray), order="deterministic")
    return hashlib.sha256(msgspec.msgpack.encode(made_of)).digest()


def _facts(cache: Cache, digests: Mapping[str, bytes]) -> dict[str, ModuleFacts] | None:
    """The facts of sources of the last run, without fragments; None where one of them is not
    known any more."""
    data = cache.by_digest([*digests.values()])
    found: dict[str, ModuleFacts] = {}
    for path, digest in digests.items():
        try:
            facts = encoding.decode_plain(data[digest])
        except (KeyError, msgspec.DecodeError):
            return None
        if not isinstance(facts, ModuleFacts):
            return None
        found[path] = facts
    return found


def _stand_alone(registry: Registry, changed: Collection[str]) -> bool:
    """Whether these are test modules of which no other file mentions the name."""
    names: set[str] = set()
    for path in changed:
        if not registry.layout.is_test_module(path) or path.rpartition("/")[2] in LAYOUT_FILES:
            return False
        names.add(key_of(path).rpartition("/")[2])
    return all(
        names.isdisjoint(asked_names(facts))
        and not any(name in plugin for plugin in facts.pytest.plugins for name in names)
        for _, facts in registry.whole.facts()
    )


def _referred_to(registry: Registry, old: Tree, changed: Iterable[str]) -> set[str]:
    """The files of modules that the changed files import, or did."""
    found: set[str] = set()
    for path in changed:
        here = registry.module(path)
        for facts in (old.files[path], registry.tree.files[path]):
            for imp in facts.imports if isinstance(facts, ModuleFacts) else ():
                for module in registry.modules.locate_import(here, imp).modules:
                    if not module.tree:
                        found.add(module.path)
    return found
