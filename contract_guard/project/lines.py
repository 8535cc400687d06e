"""The lines of files at a revision, for reports that show them."""

from collections.abc import Collection
from pathlib import Path

from contract_guard.detectors.statement import decode
from contract_guard.project.check import source_lines
from contract_guard.project.git_objects import Repository


def lines_at(
    root: Path, revision: str | None, paths: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """The lines of files below `root` in a commit, or in the working tree without one. Files that
    are not there, or not text, are left out.

    Raises UserError for a commit that cannot be read.
    """
    if revision is None:
        return source_lines(root, paths)
    found: dict[str, tuple[str, ...]] = {}
    with Repository(root) as repository:
        oids = {path: repository.blob(revision, path) for path in sorted(paths)}
        known = {path: oid for path, oid in oids.items() if oid is not None}
        texts = repository.read(list(known.values()))
        for path, (_, text) in zip(known, texts, strict=True):
            try:
                found[path] = tuple(decode(text).split("\n"))
            except (SyntaxError, LookupError):
                continue
    return found
