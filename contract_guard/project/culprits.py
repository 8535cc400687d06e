"""The commits that made changes: for each, the first in whose tree the old name is gone."""

from collections.abc import Iterable, Sequence

import msgspec

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts
from contract_guard.project.extraction import extract
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


def _has_before(repository: Repository, commit: Commit, symbol: str, path: str) -> bool:
    try:
        parent = repository.resolve(f"{commit.oid}^")
    except UserError:  # the first commit has no parent
        return False
    return has_symbol(repository, parent, symbol, path)


def has_symbol(repository: Repository, commit: str, symbol: str, path: str) -> bool:
    """Whether the file binds the symbol at that commit; for a module, whether it is there."""
    oid = repository.blob(commit, path)
    if oid is None:
        return False
    qualname = symbol.partition(":")[2]
    if not qualname:
        return True
    ((_, source),) = repository.read([oid])
    facts = extract(source)
    if not isinstance(facts, ModuleFacts):
        return True
    owner, _, name = qualname.rpartition(".")
    if not owner:
        return any(b.name == name and b.kind not in ("del", "annotation") for b in facts.bindings)
    return any(
        facts.scopes[found.scope].qualname == owner and any(m.name == name for m in found.members)
        for found in facts.classes
    )
