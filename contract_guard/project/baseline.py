"""The baseline on disk, and which of its entries a `check` no longer finds."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from contract_guard.detectors.baseline import (
    NO_BASELINE,
    Baseline,
    BaselineError,
    Entry,
    Known,
    dump,
    entries,
    is_replaceable,
    parse,
    stale,
)
from contract_guard.errors import UserError
from contract_guard.findings import SEVERITIES, Finding, Severity
from contract_guard.project.check import Checked
from contract_guard.project.config import Config
from contract_guard.project.places import is_below, select_paths
from contract_guard.project.text_file import read_text, replace_text

DEFAULT_NAME = "contracts.baseline"
_IF_ABSENT = "there is no baseline; `contract-guard baseline create` writes one"


class Place(NamedTuple):
    """Where a baseline lies; `name` is its path for people, relative to the root if it is in it."""

    path: Path
    name: str


def baseline_place(root: Path, config: Config, given: Path | None) -> Place | None:
    """The file that was given (relative to the working directory) or else configured (relative to
    the root); None where there is neither. Raises UserError for a configured one outside of the
    root, through a link too."""
    if given is not None:
        path = given.absolute()
        in_root = path.is_relative_to(root.absolute())
        return Place(path, path.relative_to(root.absolute()).as_posix() if in_root else str(given))
    if not config.baseline:
        return None
    path = root / config.baseline
    if not path.resolve().is_relative_to(root.resolve()):
        raise UserError(f"baseline: {config.baseline!r} leads out of the project")
    return Place(path, config.baseline)


def read_baseline(place: Place) -> dict[Entry, Known]:
    """Raises UserError where there is none, or it cannot be read as one."""
    text = read_text(place.path, place.name, _IF_ABSENT)
    try:
        return parse(text)
    except BaselineError as error:
        raise UserError(f"{place.name}: {error}") from None


def accepted(place: Place) -> Counter[Entry]:
    """How often a baseline has each entry; of one that is not to be read, none."""
    try:
        return Counter({entry: known.times for entry, known in read_baseline(place).items()})
    except UserError:
        return Counter()


def write_baseline(
    place: Place, findings: Iterable[Finding], fail_on: Severity, *, prune: bool = False
) -> int:
    """Replace the baseline by one of the findings that are as bad as `fail_on` or worse; with
    `prune` only take out of it what is no longer found. The number of findings that it then holds.

    Raises UserError where it cannot be written, the one to prune cannot be read, or the file is
    none.
    """
    if prune:
        there = entries(findings)
        kept = {e: min(known.times, there[e]) for e, known in read_baseline(place).items()}
        counts = {entry: count for entry, count in kept.items() if count}
    else:
        failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
        counts = entries(finding for finding in findings if finding.severity in failing)
        _refuse_other_files(place)
    replace_text(place.path, place.name, dump(counts))
    return sum(counts.values())


def _refuse_other_files(place: Place) -> None:
    """A configuration may name any file of the project."""
    if place.path.is_file() and not place.path.is_symlink():
        try:
            text = place.path.read_bytes().decode("utf-8", "replace")
        except OSError as error:
            raise UserError(f"{place.name}: cannot be read: {error.strerror}") from None
        if not is_replaceable(text):
            raise UserError(f"{place.name}: {NO_BASELINE}")


def stale_entries(
    checked: Checked,
    baseline: Baseline,
    place: Place,
    root: Path,
    config: Config,
    *,
    paths: Sequence[Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> list[Finding]:
    """CG902 for the entries whose rules ran and whose files were asked for and could be read."""
    # Loads all detectors: not for a baseline of which every entry is found.
    there = Counter(finding.fingerprint for finding in checked.findings)
    if all(there[entry.fingerprint] >= known.times for entry, known in baseline.items()):
        return []
    from contract_guard.detectors.run import is_selected

    select, ignore = tuple(select or config.select), (*config.ignore, *ignore)
    level = config.severity.get("CG902", "warning")
    if level == "off" or not is_selected("CG902", select, ignore):
        return []
    chosen = select_paths(root, paths)
    unread = {finding.path for finding in checked.findings if finding.rule == "CG903"}

    def is_judged(entry: Entry) -> bool:
        return (
            is_selected(entry.rule, select, ignore)
            and any(is_below(entry.path, path) for path in chosen)
            and entry.path not in unread
        )

    found = stale(baseline, checked.findings, place.name, is_judged)
    return [msgspec.structs.replace(finding, severity=level) for finding in found]
