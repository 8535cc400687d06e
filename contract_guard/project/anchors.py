"""Where in a change a finding is shown: code scanning shows nothing on lines that did not change.

The place is the added line, of the hunk that took the producer away, that is nearest to where the
producer stood. A finding on an added line stays where it is, and so does one that no added line
explains.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from contract_guard.detectors.drift import place_of
from contract_guard.detectors.statement import decode
from contract_guard.findings import Finding
from contract_guard.project.config import Config
from contract_guard.project.git_objects import Hunk
from contract_guard.project.revisions import Revisions
from contract_guard.registry.model import Change, Place
from contract_guard.report import Anchor


class Anchors:
    """Of one change: from `revisions.ancestor` to `revisions.head`, or to the working tree."""

    def __init__(self, revisions: Revisions) -> None:
        self._revisions = revisions
        self._files: dict[str, _File] = {}

    def of(
        self, findings: Iterable[Finding], producer: Callable[[Finding], Place | None]
    ) -> dict[Finding, Anchor]:
        """The findings that are to be shown elsewhere. `producer` gives the place of what a finding
        misses, as it was before the change."""
        found: dict[Finding, Anchor] = {}
        for finding in findings:
            if self._file(finding.path).is_added(finding.line, finding.end_line):
                continue
            place = producer(finding)
            anchor = self._file(place.path).nearest(place.line) if place is not None else None
            if anchor is not None:
                found[finding] = anchor
        return found

    def _file(self, path: str) -> "_File":
        if path not in self._files:
            self._files[path] = _File(self._revisions, path)
        return self._files[path]


class _File:
    """A file on both sides of the change."""

    def __init__(self, revisions: Revisions, path: str) -> None:
        self._revisions = revisions
        self._path = path

    def is_added(self, first: int, last: int) -> bool:
        return any(
            hunk.new_line <= max(first, last) and first < hunk.new_line + hunk.new_count
            for hunk in self._hunks
        )

    def nearest(self, old_line: int) -> Anchor | None:
        for hunk in self._hunks:
            past = old_line - hunk.old_line
            if 0 <= past < hunk.old_count and hunk.new_count:
                line = hunk.new_line + min(past, hunk.new_count - 1)
                return Anchor(self._path, line, len(self._lines[line - 1]) + 1)
        return None

    @cached_property
    def _hunks(self) -> list[Hunk]:
        old, new = self._old, self._new
        return [] if old == new else self._revisions.repository.hunks(old, new)

    @cached_property
    def _lines(self) -> list[str]:
        return decode(self._new).split("\n")

    @property
    def _old(self) -> bytes:
        return self._blob(self._revisions.ancestor)

    @cached_property
    def _new(self) -> bytes:
        revisions = self._revisions
        if not revisions.is_working_tree:
            return self._blob(revisions.head)
        place: Path = revisions.root / self._path
        if place.is_symlink() or not place.is_file():
            return b""
        return place.read_bytes()

    def _blob(self, commit: str) -> bytes:
        repository = self._revisions.repository
        oid = repository.blob(commit, self._path)
        return next((source for _, source in repository.read([oid])), b"") if oid else b""


def of_check(
    root: Path,
    config: Config,
    base: str,
    findings: Iterable[Finding],
    *,
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> dict[Finding, Anchor]:
    """For findings of the working tree that are new since `base`."""
    from contract_guard.registry.index import build

    with Revisions(root, config, base, None, jobs=jobs, cache_dir=cache_dir) as revisions:
        registry = build(revisions.old.tree)
        return Anchors(revisions).of(findings, lambda f: place_of(registry, f.symbol))


def of_diff(
    root: Path,
    config: Config,
    base: str,
    head: str | None,
    findings: Iterable[Finding],
    changes: Iterable[Change],
    *,
    merge: bool = True,
) -> dict[Finding, Anchor]:
    """For findings of `diff`. What only the merge breaks, no line of this change explains."""
    producers = {
        (consumer.path, consumer.line): change.old
        for change in changes
        for consumer in change.consumers
        if consumer.origin == "change"
    }
    with Revisions(root, config, base, head, merge=merge) as revisions:
        return Anchors(revisions).of(findings, lambda f: producers.get((f.path, f.line)))
