"""What merging a change into a branch that has gone on would give, in memory, path by path."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from contract_guard.facts.model import ModuleFacts, Unreadable
from contract_guard.project.extraction import extract
from contract_guard.registry.model import Tree

Read = Callable[[str], bytes]
MergeFile = Callable[[bytes, bytes, bytes], bytes | None]
"""Ours, the common ancestor's and theirs to the merged bytes; None for a conflict."""

_CONFLICT = Unreadable("unreadable", "the two sides conflict here")


@dataclass(frozen=True, slots=True)
class State:
    """A tree, and the bytes of its files by path."""

    tree: Tree
    read: Read
    unreadable: Mapping[str, Unreadable]


@dataclass(frozen=True, slots=True)
class Merged:
    """`conflicts` are Python files of which git could not make one: they are unknown here."""

    state: State
    conflicts: tuple[str, ...]


def merge(old: State, ours: State, theirs: State, merge_file: MergeFile) -> Merged:
    """What only one side changed is taken from it; what both changed goes to `merge_file`. A file
    that one side removed and the other changed is a conflict."""
    files = dict(ours.tree.files)
    contents: dict[str, bytes] = {}
    taken: set[str] = set()
    conflicts: list[str] = []
    for path in sorted({*old.tree.files, *theirs.tree.files}):
        before, their = old.tree.files.get(path), theirs.tree.files.get(path)
        our = ours.tree.files.get(path)
        if before is their or before == their or our == their:
            continue
        if before is our or before == our:
            taken.add(path)
            if their is None:
                del files[path]
            else:
                files[path] = their
            continue
        merged = None
        if our is not None and their is not None:
            base = old.read(path) if before is not None else b""
            merged = merge_file(ours.read(path), base, theirs.read(path))
        if merged is None:
            files[path] = _CONFLICT
            conflicts.append(path)
        else:
            files[path] = extract(merged)
            contents[path] = merged

    def read(path: str) -> bytes:
        if path in contents:
            return contents[path]
        return theirs.read(path) if path in taken else ours.read(path)

    tree = msgspec.structs.replace(
        ours.tree,
        files=dict(sorted(files.items())),
        compiled=ours.tree.compiled | theirs.tree.compiled,
        hints=ours.tree.hints | theirs.tree.hints,
    )
    return Merged(State(tree, read, unreadable_in(files)), tuple(conflicts))


def unreadable_in(files: Mapping[str, ModuleFacts | Unreadable]) -> dict[str, Unreadable]:
    return {path: facts for path, facts in files.items() if isinstance(facts, Unreadable)}
