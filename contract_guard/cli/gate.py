"""`contract-guard gate`. What runs gates is imported when one is run, not for help alone."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import click

from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS, UserError, say
from contract_guard.cli.output import check_writable, screen_width, wants_color, write
from contract_guard.gates.worker import SEARCH
from contract_guard.project.gate_files import gate_root
from contract_guard.text import plural

# What the extra `gate` installs.
GATE_EXTRA = frozenset({"torch", "hypothesis", "transformers"})

_root = click.option(
    "--root",
    type=click.Path(path_type=Path),
    help="The project; by default the configured directory or repository around this one.",
)
_format = click.option(
    "--format",
    type=click.Choice(["rich", "concise", "json"]),
    help="Form of the report. Without it: rich on a terminal, concise elsewhere.",
)
_output_file = click.option(
    "--output-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report to FILE; the exit code stays what it is.",
)
_require = click.option(
    "--require",
    metavar="HARDWARE",
    help="Evidence must come from this hardware: cpu, cuda, or cuda:sm90.",
)


@click.group("gate")
def command() -> None:
    """Run real MoE gates against a float64 oracle and against what tests expect of them.

    This runs the project's own code. Exit codes: 0 no drift, 1 drift, 2 a fault, or what
    --require asks for was not met. A gate that this machine cannot run is unverified: that is
    said, and is exit code 0 without --require.
    """


@contextmanager
def _extra() -> Generator[None]:
    """Raises UserError for a library of the extra `gate` that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in GATE_EXTRA:
            raise
        raise UserError(
            f"'gate' needs {error.name}, which is not installed: pip install 'contract-guard[gate]'"
        ) from None


@command.command("run")
@click.argument("names", nargs=-1)
@click.option("--device", help="cpu, cuda or cuda:N; the first GPU if there is one.")
@click.option("--devices", help="Several, as in cuda:0,cuda:1: one process each, split by gate.")
@click.option(
    "--rows",
    type=click.IntRange(min=1),
    help="Rows that the search draws a gate, beyond the cases that every run has; 10^6 on a GPU, "
    "20,000 else.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), help="Of the search; 0 in CI.")
@click.option("--replay", metavar="TOKEN", help="Run one case again, as a drift's report says.")
@click.option("--versus", metavar="GATE", help="Another gate to compare with.")
@click.option("--compile", "with_compile", is_flag=True, help="Try torch.compile too (slow).")
@click.option(
    "--hang-after",
    type=click.FloatRange(min=1),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Give a gate up after so long without a sign of life.",
)
@click.option(
    "--search-seconds",
    type=click.FloatRange(min=1),
    default=SEARCH,
    show_default=True,
    metavar="SECONDS",
    help="End the search of a gate after so long and report what it has.",
)
@click.option("--no-evidence", is_flag=True, help="Leave contracts.evidence.jsonl as it is.")
@click.option("--details", is_flag=True, help="Also show properties, and drift as plain torch.")
@_require
@_format
@_output_file
@_root
def run(
    names: tuple[str, ...],
    device: str | None,
    devices: str | None,
    rows: int | None,
    seed: int | None,
    replay: str | None,
    versus: str | None,
    with_compile: bool,
    hang_after: float,
    search_seconds: float,
    no_evidence: bool,
    details: bool,
    require: str | None,
    format: str | None,
    output_file: Path | None,
    root: Path | None,
) -> int:
    """Run gates: NAMES as `gate list` shows them, with * as a wildcard; by default those of the
    configuration.

    Exit codes: 0 no drift, 1 drift, 2 a fault, or --require was not met. A gate that cannot be run
    here is unverified: exit code 0, unless --require asks for hardware.
    """
    with _extra():
        from contract_guard.cli.gate_progress import GateProgress
        from contract_guard.gates import report_text
        from contract_guard.project import gate_runs

    check_writable(output_file)
    place = gate_root(root or Path())
    requirement = gate_runs.requirement(require)
    plan = gate_runs.plan(
        place,
        names,
        gate_runs.devices(device, devices),
        rows=rows,
        seed=seed,
        replay=replay,
        versus=versus,
        with_compile=with_compile,
        search_seconds=search_seconds,
    )
    for warning in plan.warnings:
        say(f"warning: {warning}")
    with GateProgress(len(plan.jobs), wanted=sys.stderr.isatty()) as progress:
        runs = gate_runs.execute(plan, hang_after, progress.tell, progress.finish)
    # A replay looks at one case: that is no evidence of anything.
    if not no_evidence and replay is None:
        gate_runs.record(plan, runs)
    kind = format or ("rich" if output_file is None and sys.stdout.isatty() else "concise")
    if kind == "json":
        text = report_text.to_json(runs)
    elif kind == "concise" and not details and replay is None:
        text = report_text.to_concise(runs)
    else:
        color = output_file is None and wants_color(sys.stdout)
        text = report_text.to_text(runs, screen_width(), color, details or replay is not None)
    write(text, output_file)
    verdicts = {entry.verdict for entry in runs}
    unverified = sum(entry.verdict == "unverified" for entry in runs)
    if unverified and requirement is None:
        say(f"{plural(unverified, 'gate')} unverified: --require HARDWARE makes that exit code 2")
    unmet = [entry.gate for entry in runs if not gate_runs.meets(entry, requirement)]
    if unmet:
        say(f"not verified on {requirement}: {', '.join(unmet)}")
    if "error" in verdicts or unmet:
        return EXIT_FAILED
    return EXIT_FINDINGS if "drift" in verdicts else EXIT_CLEAN


@command.command("list")
@click.argument("names", nargs=-1)
@_format
@_root
def list_gates(names: tuple[str, ...], format: str | None, root: Path | None) -> int:
    """List gates, their mirrors, and whether their last evidence is fresh."""
    with _extra():
        from contract_guard.gates import report_text
        from contract_guard.project import gate_runs

    place = gate_root(root or Path())
    statuses = gate_runs.statuses(place, names, None, all_known=True)
    if not names and (left_out := gate_runs.not_installed()):
        say(f"left out: {left_out}")
    if format == "json":
        write(report_text.statuses_json(statuses), None)
    else:
        write(report_text.statuses_text(statuses, screen_width(), wants_color(sys.stdout)), None)
    return EXIT_CLEAN


@command.command("verify")
@click.argument("names", nargs=-1)
@_require
@_format
@_root
def verify(
    names: tuple[str, ...], require: str | None, format: str | None, root: Path | None
) -> int:
    """Say which gates have fresh evidence for the sources at hand; runs nothing.

    Exit codes: 0 all fresh, 1 stale, never run or drift, 2 no evidence from --require HARDWARE.
    """
    with _extra():
        from contract_guard.gates import report_text
        from contract_guard.project import gate_runs
    from contract_guard.gates.evidence import exit_code

    place = gate_root(root or Path())
    requirement = gate_runs.requirement(require)
    statuses = gate_runs.statuses(place, names, requirement, all_known=False)
    if not statuses:
        raise UserError("no gate is configured and the ledger has none: name one")
    if format == "json":
        write(report_text.statuses_json(statuses), None)
    else:
        write(report_text.statuses_text(statuses, screen_width(), wants_color(sys.stdout)), None)
    return exit_code(statuses)


@command.command("mirror")
@click.argument("test", metavar="FILE::TEST")
@click.option("--gate", "gate_name", help="A configured gate, whose bind and expects are used.")
@click.option(
    "--inputs",
    "with_inputs",
    is_flag=True,
    help="Also say which changes of the rule the test's own inputs cannot tell.",
)
@click.option("--format", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--output-file", type=click.Path(path_type=Path), metavar="FILE")
@_root
def mirror(
    test: str,
    gate_name: str | None,
    with_inputs: bool,
    format: str,
    output_file: Path | None,
    root: Path | None,
) -> int:
    """Show how a test computes what it expects, and what each of its inputs is bound to.

    The test is read, not run. With --format json: the slice, for a machine without the test.
    """
    with _extra():
        from contract_guard.project.gate_mirrors import mirror_report

    check_writable(output_file)
    place = gate_root(root or Path())
    text, is_bound = mirror_report(place, test, gate_name, format, with_inputs)
    write(text, output_file)
    return EXIT_CLEAN if is_bound else EXIT_FAILED


@command.command("report")
@click.option(
    "--html",
    "html_file",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="One self-contained file.",
)
@_root
def report(html_file: Path, root: Path | None) -> int:
    """Write the ledger's latest run of each gate as a page."""
    from contract_guard.gates.report_html import render
    from contract_guard.project.gate_files import read_ledger

    check_writable(html_file)
    place = gate_root(root or Path())
    entries, unread = read_ledger(place)
    for line in unread:
        say(f"warning: contracts.evidence.jsonl: line {line} is no entry of this version")
    if not entries:
        raise UserError("there is no evidence yet: run `contract-guard gate run` first")
    write(render(entries), html_file)
    return EXIT_CLEAN
