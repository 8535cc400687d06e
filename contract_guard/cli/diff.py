"""`contract-guard diff`."""

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import click

from contract_guard.cli import fixing, options
from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FINDINGS, UserError, say
from contract_guard.cli.output import (
    check_writable,
    screen_width,
    wants_color,
    write,
    write_step_summary,
)
from contract_guard.cli.progress import progress
from contract_guard.findings import Finding
from contract_guard.project.config import Config, find_root, read_config
from contract_guard.project.diff import Diffed, diff, diff_releases
from contract_guard.project.places import is_release, repository_prefix
from contract_guard.report import Anchor, Cache, Format, Report, Screen, Summary, render

if TYPE_CHECKING:
    from contract_guard.report.changes import Drift

FailOn = Literal["collection-error", "runtime-error", "always-skipped", "silent"]
_LEVELS: tuple[FailOn, ...] = get_args(FailOn)


@click.command("diff")
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option(
    "--explain",
    metavar="TEXT|FILE|-",
    help="Instead: what became of the names that an error's text, or pytest's log, finds missing.",
)
@click.option(
    "--no-merge",
    is_flag=True,
    help="Compare BASE and HEAD as they stand, without their common ancestor and their merge.",
)
@click.option(
    "--consumers",
    multiple=True,
    metavar="DIR|DIST==VERSION",
    help="Also what the change does to another project that imports this one.",
)
@click.option(
    "--hook",
    is_flag=True,
    help="As a commit hook: only files that git tracks, and nothing before the first commit.",
)
@options.format
@options.output_file
@options.root
@options.select
@options.ignore
@fixing.fix_options
@click.option(
    "--fail-on",
    type=click.Choice(_LEVELS),
    default="runtime-error",
    show_default=True,
    help="The least that a consumer has to suffer for exit code 1.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 with broken consumers too.")
@options.jobs
@options.cache_dir
@options.no_cache
@click.option("--quiet", "-q", is_flag=True, help="Changes alone: no summary, no progress.")
def command(
    base: str | None,
    head: str | None,
    explain: str | None,
    no_merge: bool,
    consumers: tuple[str, ...],
    hook: bool,
    format: Format | None,
    output_file: Path | None,
    root: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fix: bool,
    show_diff: bool,
    unsafe_fixes: bool,
    fail_on: FailOn,
    exit_zero: bool,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    quiet: bool,
) -> int:
    """Report what HEAD (the working tree, if it is left out) breaks of what BASE had.

    What HEAD changed is told from the common ancestor of both, as in a pull request; what breaks
    only when both are merged is reported too. Places that still agree by name but may no longer
    agree in meaning are listed as silent.

    BASE and HEAD may be two releases: vllm==0.32.0 vllm==0.33.0.

    Exit codes: 0 nothing breaks, 1 a consumer that was not updated breaks, 2 could not compare.
    """
    started = time.perf_counter()
    check_writable(output_file)
    wanted = fixing.chosen(fix, show_diff, unsafe_fixes)
    if wanted.is_wanted and consumers:
        raise UserError("--fix and --diff mend this project alone: leave out --consumers")
    if wanted.is_wanted and (head is not None or explain is not None):
        raise UserError("--fix and --diff mend the working tree: they take BASE alone")
    place = root or find_root(Path())
    if explain is not None:
        from contract_guard.cli.explain_failure import explain_failure

        if head is not None:
            raise UserError("--explain looks at the working tree: it takes no HEAD")
        text = explain_failure(
            place, explain, base, format, jobs, options.chosen_cache(cache_dir, no_cache)
        )
        write(text, output_file)
        return EXIT_CLEAN
    if base is None:
        raise click.UsageError("Missing argument 'BASE'", click.get_current_context())
    cache = options.chosen_cache(cache_dir, no_cache)
    of_releases = head is not None and is_release(base) and is_release(head)
    if not of_releases:
        _check_releases(base, head)
    elif len({_distribution(base), _distribution(head or "")} - {""}) > 1:
        raise UserError(f"{base} and {head} are releases of two projects")
    config = Config() if of_releases else read_config(place)
    if hook:
        from contract_guard.cli.news import without_untracked
        from contract_guard.project.hook import has_commit

        if head is not None:
            raise UserError("--hook looks at what is about to be committed: it takes BASE alone")
        config = without_untracked(place, config)
        if not has_commit(place):
            return EXIT_CLEAN
    if releases := [*((base, head or "") if of_releases else ()), *filter(is_release, consumers)]:
        from contract_guard.cli.against import download

        download(releases, cache_dir=cache, wanted=not quiet)
    with progress("contract-guard: comparing", wanted=not quiet):
        if head is not None and of_releases:
            diffed = diff_releases(
                base,
                head,
                consumers=consumers,
                select=select,
                ignore=ignore,
                jobs=jobs,
                cache_dir=cache,
            )
        else:
            diffed = diff(
                place,
                config,
                base,
                head,
                merge=not no_merge,
                consumers=consumers,
                select=select,
                ignore=ignore,
                jobs=jobs,
                cache_dir=cache,
            )
    for warning in (*diffed.warnings, *diffed.notices):
        say(f"warning: {warning}")
    if wanted.is_wanted:
        from contract_guard.project.fixing import mend_diff

        mended = mend_diff(
            place,
            config,
            base,
            diffed.findings,
            merge=not no_merge,
            select=select,
            ignore=ignore,
            unsafe=unsafe_fixes,
            jobs=jobs,
            cache_dir=cache,
        )
        code = fixing.finish(place, mended, wanted, output_file, quiet)
        if code is not None:
            return code
    to_terminal = output_file is None and sys.stdout.isatty()
    format = format or ("rich" if to_terminal else "concise")
    screen = Screen(
        width=screen_width(),
        color=output_file is None and wants_color(sys.stdout),
        notes=fail_on == "silent",
        summary=not quiet,
    )
    seconds = round(time.perf_counter() - started, 3)
    anchors: dict[Finding, Anchor] = {}
    if format == "sarif" and not of_releases:
        from contract_guard.project.anchors import of_diff

        merge = not no_merge
        changes = diffed.changes
        anchors = of_diff(place, config, base, head, diffed.findings, changes, merge=merge)
    sources: dict[str, tuple[str, ...]] = {}
    if format == "html" and not of_releases:
        from contract_guard.project.lines import lines_at
        from contract_guard.report.listing import shown_paths

        sources = lines_at(place, diffed.new, shown_paths(diffed.findings))
    prefix = repository_prefix(place)
    write(_rendered(diffed, format, screen, seconds, anchors, sources, prefix), output_file)
    if output_file is not None and not quiet:
        from contract_guard.report.changes import verdict

        click.echo(verdict(_drift(diffed, seconds)), err=True)
    failing = _LEVELS[: _LEVELS.index(fail_on) + 1]
    is_failed = any(
        consumer.impact in failing and not consumer.updated
        for change in diffed.changes
        if change.kind != "added"
        for consumer in change.consumers
    )
    is_failed = is_failed or any(finding.impact in failing for finding in diffed.findings)
    return EXIT_FINDINGS if is_failed and not exit_zero else EXIT_CLEAN


def _check_releases(base: str, head: str | None) -> None:
    """Raises UserError where one release stands alone, or beside a revision."""
    if "==" in base and is_release(base) and (head is None or not is_release(head)):
        name = base.partition("==")[0]
        raise UserError(f"{base}: a release is compared with another one: {base} {name}==VERSION")


def _distribution(release: str) -> str:
    """The name of `Dist_Name==1.0` as indexes compare it, "" for an archive."""
    name, equals, _ = release.partition("==")
    return re.sub(r"[-_.]+", "-", name.strip().partition("[")[0]).lower() if equals else ""


def _rendered(
    diffed: Diffed,
    format: Format,
    screen: Screen,
    seconds: float,
    anchors: dict[Finding, Anchor],
    sources: dict[str, tuple[str, ...]],
    prefix: str,
) -> str:
    from contract_guard.report.changes import render_json, render_text, verdict

    if format in ("rich", "concise"):
        return render_text(_drift(diffed, seconds), screen)
    if format == "json":
        return render_json(_drift(diffed, seconds))
    if format == "nodeids":
        from contract_guard.report import affected_tests

        return affected_tests.render(diffed.changes, diffed.findings)
    from contract_guard.project.rules import load_rules

    report = Report(
        findings=diffed.findings,
        summary=Summary(
            files=diffed.files,
            lines=0,
            tests=diffed.tests,
            findings={},
            tests_at_risk=0,
            unresolved={},
            seconds=seconds,
            cache=Cache(),
        ),
        closing="",
        sources=sources,
        rules=load_rules(),
        mending=_mending(diffed),
        verdict=verdict(_drift(diffed, seconds)),
        anchors=anchors,
        prefix=prefix,
    )
    if format == "github":
        write_step_summary(report, screen)
    return render(report, format, screen)


def _drift(diffed: Diffed, seconds: float) -> "Drift":
    from contract_guard.report.changes import CommitLine, Drift

    return Drift(
        changes=diffed.changes,
        findings=diffed.findings,
        commits={oid: CommitLine(*commit) for oid, commit in diffed.commits.items()},
        lost=diffed.lost,
        conflicts=diffed.conflicts,
        files=diffed.files,
        tests=diffed.tests,
        seconds=seconds,
        mending=_mending(diffed),
    )


def _mending(diffed: Diffed) -> str:
    """What `--fix` would mend: in the working tree alone."""
    return "" if diffed.new is not None else fixing.hint(diffed.findings)
