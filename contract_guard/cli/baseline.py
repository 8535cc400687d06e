"""`contract-guard baseline`."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
import msgspec

from contract_guard.cli import against as against_options
from contract_guard.cli import options
from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FINDINGS, UserError, say
from contract_guard.cli.output import screen_width, wants_color, write
from contract_guard.cli.progress import progress
from contract_guard.findings import Severity
from contract_guard.project.baseline import (
    DEFAULT_NAME,
    Place,
    accepted,
    baseline_place,
    read_baseline,
    stale_entries,
    write_baseline,
)
from contract_guard.project.check import Checked, check, source_lines, summary
from contract_guard.project.config import Config, find_root, read_config
from contract_guard.text import plural

if TYPE_CHECKING:
    from contract_guard.project.against import Against


_quiet = click.option(
    "--quiet", "-q", is_flag=True, help="No summary and no progress, only what is wrong."
)


class _Project(NamedTuple):
    root: Path
    config: Config
    place: Place


@click.group("baseline")
def command() -> None:
    """Accept the findings of today, so that `check` reports only new ones.

    The file is told to `check` with --baseline, or with `baseline` in the configuration. Without
    a file, `check --base REV` reports what is new since a revision.
    """


@command.command("create")
@options.baseline
@options.fail_on
@against_options.against
@against_options.python
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
@_quiet
def create(
    baseline: Path | None,
    fail_on: Severity,
    against: tuple[str, ...],
    environments: tuple[Path, ...],
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    quiet: bool,
) -> int:
    """Write a baseline of all findings that would fail `check`.

    It is called contracts.baseline, if neither --baseline nor the configuration names another.

    Exit codes: 0 written, 2 there is one already, or it cannot be written.
    """
    project = _project(root, baseline)
    if project.place.path.exists():
        raise UserError(
            f"{project.place.name}: there is one already; `contract-guard baseline update` writes "
            "it anew"
        )
    cache = options.chosen_cache(cache_dir, no_cache)
    others = against_options.found(against, environments, cache_dir=cache, wanted=not quiet)
    checked = _checked(project, others, jobs, cache, quiet)
    count = write_baseline(project.place, checked.findings, fail_on)
    if quiet:
        return EXIT_CLEAN
    click.echo(f"{project.place.name}: {plural(count, 'finding')} accepted.")
    if baseline is None and not project.config.baseline:
        click.echo(f'`check` takes it in with: baseline = "{DEFAULT_NAME}" in the configuration.')
    return EXIT_CLEAN


@command.command("update")
@click.option("--prune", is_flag=True, help="Only take out what is no longer found.")
@options.baseline
@options.fail_on
@against_options.against
@against_options.python
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
@_quiet
def update(
    prune: bool,
    baseline: Path | None,
    fail_on: Severity,
    against: tuple[str, ...],
    environments: tuple[Path, ...],
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    quiet: bool,
) -> int:
    """Write the baseline anew: what is found today is accepted, what is gone is taken out.

    Exit codes: 0 written, 2 there is none, or it cannot be written.
    """
    project = _project(root, baseline)
    if not project.place.path.exists():
        read_baseline(project.place)
    cache = options.chosen_cache(cache_dir, no_cache)
    others = against_options.found(against, environments, cache_dir=cache, wanted=not quiet)
    checked = _checked(project, others, jobs, cache, quiet)
    before = accepted(project.place)
    count = write_baseline(project.place, checked.findings, fail_on, prune=prune)
    if quiet:
        return EXIT_CLEAN
    after = accepted(project.place)
    added, removed = (after - before).total(), (before - after).total()
    changed = f"{added:,} added, {removed:,} removed" if added or removed else "as before"
    click.echo(f"{project.place.name}: {plural(count, 'finding')} accepted: {changed}.")
    return EXIT_CLEAN


@command.command("check")
@options.baseline
@against_options.against
@against_options.python
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
@_quiet
def check_entries(
    baseline: Path | None,
    against: tuple[str, ...],
    environments: tuple[Path, ...],
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    quiet: bool,
) -> int:
    """Report the entries of the baseline that nothing answers to any more (CG902).

    `check` reports them too, beside what is new.

    Exit codes: 0 every entry is still found, 1 some are not, 2 there is no baseline to be read.
    """
    project = _project(root, baseline)
    entries = read_baseline(project.place)
    cache = options.chosen_cache(cache_dir, no_cache)
    others = against_options.found(against, environments, cache_dir=cache, wanted=not quiet)
    checked = _checked(project, others, jobs, cache, quiet)
    stale = tuple(stale_entries(checked, entries, project.place, project.root, project.config))
    from contract_guard.project.rules import load_rules
    from contract_guard.report import Report, Screen, render

    left = msgspec.structs.replace(checked, findings=stale)
    report = Report(
        findings=stale,
        summary=summary(left, 0.0),
        closing=f"{plural(sum(e.times for e in entries.values()), 'finding')} accepted.",
        sources=source_lines(project.root, ()),
        rules=load_rules(),
    )
    screen = Screen(width=screen_width(), color=wants_color(sys.stdout), summary=not quiet)
    write(render(report, "concise", screen), None)
    return EXIT_FINDINGS if stale else EXIT_CLEAN


def _project(root: Path | None, baseline: Path | None) -> _Project:
    place = root or find_root(Path())
    config = read_config(place)
    found = baseline_place(place, config, baseline)
    return _Project(place, config, found or Place(place / DEFAULT_NAME, DEFAULT_NAME))


def _checked(
    project: _Project,
    others: "Sequence[Against]",
    jobs: int | None,
    cache_dir: Path | None,
    quiet: bool,
) -> Checked:
    with progress("contract-guard: checking", wanted=not quiet):
        checked = check(
            project.root, project.config, jobs=jobs, cache_dir=cache_dir, against=others
        )
    for warning in checked.warnings:
        say(f"warning: {warning}")
    return checked
