"""The commits that made changes: for each, the first in whose tree the old name is gone."""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing

import msgspec

from contract_guard.errors import UserError
from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts
from contract_guard.project.git_objects import Commit, Repository
from contract_guard.registry.boundary import BROKEN
from contract_guard.registry.model import Change

_MOST_CHANGES = 50
_MOST_COMMITS = 10_000


def with_commits(
    repository: Repository, changes: Iterable[Change], ranges: Sequence[str]
) -> tuple[list[Change], dict[str, Commit]]:
    """The changes with the commits that made them, where anything broke, and those commits by oid.

    `ranges` (`a..b`) are looked through in order, the first that touched the file counts. Of a
    change that is not committed yet no commit is known.
    """
    commits: dict[str, Commit] = {}
    result: list[Change] = []
    looked_for = 0
    for change in changes:
        is_broken = any(consumer.impact in BROKEN for consumer in change.consumers)
        if is_broken and change.old is not None and looked_for < _MOST_CHANGES:
            looked_for += 1
            found = removing_commit(repository, change.symbol, change.old.path, ranges)
            if found is not None:
                commits[found.oid] = found
                change = msgspec.structs.replace(change, commit=found.oid)
        result.append(change)
    return result, commits


def removing_commit(
    repository: Repository, symbol: str, path: str, ranges: Sequence[str]
) -> Commit | None:
    """The commit after which the file at `path` no longer binds the symbol, None where there is
    none, or the file never did."""
    for revisions in ranges:
        commits = repository.log(revisions, [path], limit=_MOST_COMMITS)
        if commits and not has_symbol(repository, commits[0].oid, symbol, path):
            # Newest first: it is gone at `low`, and still there at `high`.
            low, high = 0, len(commits)
            while high - low > 1:
                middle = (low + high) // 2
                if has_symbol(repository, commits[middle].oid, symbol, path):
                    high = middle
                else:
                    low = middle
            if high < len(commits) or _has_before(repository, commits[low], symbol, path):
                return commits[low]
    return None


def last_removing_commit(
    repository: Repository, symbol: str, path: str, revisions: str
) -> Commit | None:
    """The newest commit of the range that took the symbol out of the file at `path`: each of its
    parents has it. None where there is none.

    Nothing is taken for known of the ends of the range: the name may have come, and gone, more
    than once within it. To read every version as Python would take long: only those are in which
    other lines name the symbol than before.
    """
    versions = repository.versions(revisions, path, _MOST_COMMITS)
    blobs = (blob for each in versions for pair in each.sides for blob in pair if blob is not None)
    known: dict[str, list[bytes]] = {}
    with closing(repository.read(list(dict.fromkeys(blobs)))) as contents:

        def lines(blob: str | None) -> list[bytes] | None:
            while blob is not None and blob not in known:
                oid, source = next(contents)
                known[oid] = _lines_with(source, symbol)
            return known[blob] if blob is not None else None

        for each in versions:
            if all(lines(old) != lines(new) for old, new in each.sides) and all(
                _has(repository, old, symbol) and not _has(repository, new, symbol)
                for old, new in each.sides
            ):
                return each.commit
    return None


def _lines_with(source: bytes, symbol: str) -> list[bytes]:
    """The lines of a text that have the symbol's name, or that of the class around it."""
    names = [re.escape(name.encode()) for name in symbol.partition(":")[2].split(".") if name]
    found: dict[int, bytes] = {}
    if names:
        # Not \b: in bytes, it takes the letters beyond ASCII for the end of a word.
        word = rb"(?<![A-Za-z0-9_])(?:%b)(?![A-Za-z0-9_])" % b"|".join(names)
        for match in re.finditer(word, source):
            start = source.rfind(b"\n", 0, match.start()) + 1
            end = source.find(b"\n", match.end())
            found[start] = source[start : end if end >= 0 else None].strip()
    return list(found.values())


def _has_before(repository: Repository, commit: Commit, symbol: str, path: str) -> bool:
    try:
        parent = repository.resolve(f"{commit.oid}^")
    except UserError:  # the first commit has no parent
        return False
    return has_symbol(repository, parent, symbol, path)


def has_symbol(repository: Repository, commit: str, symbol: str, path: str) -> bool:
    """Whether the file binds the symbol at that commit; for a module, whether it is there."""
    return _has(repository, repository.blob(commit, path), symbol)


def _has(repository: Repository, blob: str | None, symbol: str) -> bool:
    if blob is None:
        return False
    owner, _, name = symbol.partition(":")[2].rpartition(".")
    if not name:
        return True
    ((_, source),) = repository.read([blob])
    facts = extract(source)
    if not isinstance(facts, ModuleFacts):
        return True
    if not owner:
        return any(b.name == name and b.kind not in ("del", "annotation") for b in facts.bindings)
    return any(
        facts.scopes[found.scope].qualname == owner and any(m.name == name for m in found.members)
        for found in facts.classes
    )
