"""`contract-guard check`."""

import sys
import time
from pathlib import Path

import click

from contract_guard.cli import against as against_options
from contract_guard.cli import fixing, news, options
from contract_guard.cli.confirm import with_confirmation
from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FINDINGS, say
from contract_guard.cli.notices import notices
from contract_guard.cli.output import (
    check_writable,
    screen_width,
    wants_color,
    write,
    write_step_summary,
)
from contract_guard.cli.progress import progress
from contract_guard.cli.statistics import statistics_text
from contract_guard.findings import SEVERITIES, Severity
from contract_guard.project.check import check, closing, source_lines, summary
from contract_guard.project.config import find_root, read_config
from contract_guard.project.places import repository_prefix
from contract_guard.project.rules import load_rules
from contract_guard.report import Format, Report, Screen, render
from contract_guard.report.listing import last_lines, listed, shown_paths


@click.command("check")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@options.format
@options.output_file
@options.root
@options.select
@options.ignore
@against_options.against
@against_options.python
@news.base
@news.hook
@options.baseline
@fixing.fix_options
@fixing.extract_options
@options.fail_on
@click.option(
    "--confirm",
    is_flag=True,
    help="Run mirrored logic and what it copies on drawn inputs: executes code of the project.",
)
@click.option("--exit-zero", is_flag=True, help="Exit 0 with findings too.")
@options.jobs
@options.cache_dir
@options.no_cache
@click.option("--statistics", is_flag=True, help="Also say what was counted, and what is unknown.")
@click.option("--quiet", "-q", is_flag=True, help="Findings alone: no summary, no progress.")
def command(
    paths: tuple[Path, ...],
    format: Format | None,
    output_file: Path | None,
    root: Path | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    against: tuple[str, ...],
    environments: tuple[Path, ...],
    base: str | None,
    hook: bool,
    baseline: Path | None,
    fix: bool,
    show_diff: bool,
    unsafe_fixes: bool,
    extract: str | None,
    name: str,
    fail_on: Severity,
    confirm: bool,
    exit_zero: bool,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    statistics: bool,
    quiet: bool,
) -> int:
    """Report tests and code that lean on names, values or rules that are gone.

    All of the project is read; PATHS narrow what is reported. Notes are listed one by one only
    where they are asked for, with --select or --fail-on note, and in json.

    Exit codes: 0 no finding of the --fail-on severity or worse, 1 findings, 2 could not check.
    """
    started = time.perf_counter()
    check_writable(output_file)
    wanted = fixing.chosen(fix, show_diff, unsafe_fixes)
    place = root or find_root(paths[0] if paths else Path())
    config, left_out = news.asked(place, read_config(place), base, hook, baseline)
    cache = options.chosen_cache(cache_dir, no_cache)
    others = against_options.found(against, environments, cache_dir=cache, wanted=not quiet)
    if fixing.extracts(extract, name, wanted):
        from contract_guard.project.fixing import mend_extraction

        mended = mend_extraction(place, config, extract or "", name, jobs=jobs, cache_dir=cache)
        return fixing.finish(place, mended, wanted, output_file, quiet) or EXIT_CLEAN
    with progress("contract-guard: checking", wanted=not quiet):
        checked = check(
            place,
            config,
            paths=paths,
            select=select,
            ignore=ignore,
            count_unknown=statistics or format == "json",
            jobs=jobs,
            cache_dir=cache,
            against=others,
            notice=None if quiet else say,
        )
        checked = news.only_new(
            checked,
            left_out,
            place,
            config,
            paths=paths,
            select=select,
            ignore=ignore,
            jobs=jobs,
            cache_dir=cache,
            against=others,
        )
    for warning in checked.warnings:
        say(f"warning: {warning}")
    for notice in notices(checked, paths, select or config.select):
        say(notice)
    if confirm:
        checked = with_confirmation(place, checked, wanted=not quiet)
    if wanted.is_wanted:
        from contract_guard.project.fixing import mend_check

        mended = mend_check(
            place,
            config,
            checked.findings,
            select=select,
            ignore=ignore,
            unsafe=unsafe_fixes,
            jobs=jobs,
            cache_dir=cache,
            against=others,
        )
        code = fixing.finish(place, mended, wanted, output_file, quiet)
        if code is not None:
            return code
    to_terminal = output_file is None and sys.stdout.isatty()
    format = format or ("rich" if to_terminal else "concise")
    screen = Screen(
        width=screen_width(),
        color=output_file is None and wants_color(sys.stdout),
        notes=bool(select) or fail_on == "note",
        summary=not quiet,
    )
    shown = listed(checked.findings, screen) if format in ("rich", "html") else ()
    report = Report(
        findings=checked.findings,
        summary=summary(checked, time.perf_counter() - started),
        closing=closing(checked, paths),
        mending=fixing.check_hint(listed(checked.findings, screen), place),
        sources=source_lines(place, shown_paths(shown)),
        rules=load_rules(),
        prefix=repository_prefix(place),
        anchors=news.anchors(checked.findings, left_out, format, place, config, jobs, cache),
    )
    write(render(report, format, screen), output_file)
    if format == "github":
        write_step_summary(report, screen)
    if output_file is not None:
        for line in last_lines(report, screen):
            click.echo(line, err=True)
    if statistics:
        aside = output_file is not None or format not in ("rich", "concise")
        counted = statistics_text(report.summary)
        if aside:
            click.echo(counted, err=True, nl=False)
        else:
            write(counted, None)
    failing = SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    is_failed = any(finding.severity in failing for finding in checked.findings)
    return EXIT_FINDINGS if is_failed and not exit_zero else EXIT_CLEAN
