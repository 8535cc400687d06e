"""The options of `check` that leave out what is known: `--base`, `--hook` and `--baseline`."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from contract_guard.cli.errors import UserError, say
from contract_guard.detectors.baseline import Entry, Known, beyond, counts_of
from contract_guard.findings import Finding
from contract_guard.project.baseline import Place, baseline_place, read_baseline, stale_entries
from contract_guard.project.check import Checked
from contract_guard.project.config import Config
from contract_guard.report import Anchor, Format

if TYPE_CHECKING:
    from contract_guard.project.against import Against

base = click.option(
    "--base",
    metavar="REV",
    help="Only what is new since REV, or since the common ancestor with it.",
)
hook = click.option(
    "--hook",
    is_flag=True,
    help="As a commit hook: only files that git tracks, and only what is new since HEAD (or what "
    "pre-commit was given as --from-ref); all where nothing is staged.",
)


_MERGING = "GITHEAD_"


class LeftOut(NamedTuple):
    """Where to look up what is known: revisions, and the entries of a baseline. `merging` are
    commits that git is about to merge."""

    base: str | None
    merging: tuple[str, ...]
    place: Place | None
    entries: Mapping[Entry, Known]


def asked(
    root: Path, config: Config, base: str | None, hook: bool, baseline: Path | None
) -> tuple[Config, LeftOut]:
    """The configuration that the options make of `config`, and what they leave out.

    Raises UserError for a baseline that cannot be read, and for `hook` outside of a repository.
    """
    place = baseline_place(root, config, baseline)
    entries = read_baseline(place) if place is not None else {}
    if not hook:
        return config, LeftOut(base, (), place, entries)
    if base is not None:
        raise UserError("--base and --hook exclude each other")
    from contract_guard.project.hook import hook_base

    config = without_untracked(root, config)
    index = os.environ.get("GIT_INDEX_FILE")
    base = os.environ.get("PRE_COMMIT_FROM_REF") or hook_base(root, Path(index) if index else None)
    # So `git merge` tells its hooks: it writes MERGE_HEAD only after them.
    merging = tuple(name.removeprefix(_MERGING) for name in os.environ if name.startswith(_MERGING))
    return config, LeftOut(base, merging, place, entries)


def without_untracked(root: Path, config: Config) -> Config:
    """The configuration with the files that git does not track left out, as a commit leaves them.

    Raises UserError for a place that is no repository.
    """
    from contract_guard.project.hook import only_tracked

    tracked = only_tracked(root, config)
    if tracked is None:
        say("warning: git's index does not list every file: untracked files are looked at too")
    return tracked or config


def only_new(
    checked: Checked,
    left_out: LeftOut,
    root: Path,
    config: Config,
    *,
    paths: Sequence[Path],
    select: Sequence[str],
    ignore: Sequence[str],
    jobs: int | None,
    cache_dir: Path | None,
    against: "Sequence[Against]" = (),
) -> Checked:
    """What `check` found, with the same arguments, without what is known, and with the entries of
    the baseline that nothing answers to."""
    known: Counter[str] = Counter()
    if left_out.base is not None:
        from contract_guard.project.since import known_since

        known |= known_since(
            root,
            config,
            left_out.base,
            left_out.merging,
            checked.findings,
            select=select,
            ignore=ignore,
            jobs=jobs,
            cache_dir=cache_dir,
            against=against,
        )
    found: list[Finding] = []
    if left_out.place is not None:
        known |= counts_of(left_out.entries)
        found = stale_entries(
            checked,
            left_out.entries,
            left_out.place,
            root,
            config,
            paths=paths,
            select=select,
            ignore=ignore,
        )
    new = beyond(checked.findings, known)
    count = len(checked.findings) - len(new)
    new = sorted((*new, *found), key=lambda finding: finding.sort_key)
    return msgspec.structs.replace(checked, findings=tuple(new), known=count)


def anchors(
    findings: Sequence[Finding],
    left_out: LeftOut,
    format: Format,
    root: Path,
    config: Config,
    jobs: int | None,
    cache_dir: Path | None,
) -> dict[Finding, Anchor]:
    """Where the change since the revision shows what it broke, for the one format that asks."""
    if left_out.base is None or format != "sarif" or not findings:
        return {}
    from contract_guard.project.anchors import of_check

    return of_check(root, config, left_out.base, findings, jobs=jobs, cache_dir=cache_dir)
