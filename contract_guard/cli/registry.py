"""`contract-guard registry`."""

import difflib
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from contract_guard.cli import options
from contract_guard.cli.errors import EXIT_CLEAN, EXIT_FINDINGS, UserError, say
from contract_guard.cli.output import check_writable, screen_width, wants_color, write
from contract_guard.cli.progress import progress
from contract_guard.project.config import find_root, read_config
from contract_guard.report import Format
from contract_guard.report.json_format import encode
from contract_guard.text import line_start, plural, printable

if TYPE_CHECKING:
    from contract_guard.registry.consumers import Consumption
    from contract_guard.registry.index import Registry
    from contract_guard.registry.model import Producer


@click.group("registry")
def command() -> None:
    """Show who produces and who consumes each contract."""


@command.command("who")
@click.argument("name")
@options.json_or_text
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
def who(
    name: str,
    format: str,
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
) -> None:
    """Show where NAME is defined and who leans on it, in tests and in production.

    NAME is a symbol (package.module:NAME), a dotted name (package.NAME), or the end of one (NAME,
    Class.attr).
    """
    registry = _load(root, jobs, cache_dir, no_cache)
    from contract_guard.registry.consumers import consumers
    from contract_guard.registry.definitions import defined_names, definitions

    found = definitions(registry, name)
    if not found:
        last = name.replace(":", ".").rpartition(".")[2]
        close = difflib.get_close_matches(last, sorted(defined_names(registry)), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UserError(f"nothing named {name!r} is defined in this project{hint}")
    places: dict[str, list[Consumption]] = {producer.symbol: [] for producer in found}
    for own_name in {symbol.partition(":")[2].rpartition(".")[2] for symbol in places}:
        for consumption in consumers(registry, own_name):
            if consumption.producer.symbol in places:
                places[consumption.producer.symbol].append(consumption)
    entries = [_entry(registry, producer, places[producer.symbol]) for producer in found]
    if format == "json":
        write(encode({"version": 1, "symbols": entries}), None)
    else:
        write("\n".join(map(_text, entries)), None)


@command.command("show")
@click.option(
    "--by",
    type=click.Choice(["tests-at-risk"]),
    default="tests-at-risk",
    show_default=True,
    help="What to rank by.",
)
@options.json_or_text
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
def show(
    by: str,
    format: str,
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
) -> None:
    """Rank production constants by the tests that would vanish if they went.

    Counted are the tests of modules that name the constant while they are imported: without it
    pytest collects none of them.
    """
    registry = _load(root, jobs, cache_dir, no_cache)
    from contract_guard.registry.risk import tests_at_risk

    risk = tests_at_risk(registry)
    if format == "json":
        write(encode({"version": 1} | msgspec.to_builtins(risk)), None)
        return
    if not risk.constants:
        write("No test module imports a production constant at module level.\n", None)
        return
    width = max(len(f"{constant.tests:,}") for constant in risk.constants) + 1
    lines: list[str] = []
    for constant in risk.constants:
        tests = f"{constant.tests:,}{'' if constant.exact else '+'}"
        lines.append(
            f"{tests:>{width}} {'test ' if constant.tests == 1 else 'tests'}  "
            f"{plural(len(constant.modules), 'module'):<10}  {printable(constant.producer.symbol)}"
        )
    if not all(constant.exact for constant in risk.constants):
        lines.append("+: or more, where a parametrization is not written out.")
    lines.append(
        f"{plural(risk.modules, 'test module')}, {plural(risk.tests, 'test')} in all; "
        "'contract-guard registry who NAME' shows the places."
    )
    write("\n".join(lines) + "\n", None)


@command.command("update")
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
def update(root: Path | None, jobs: int | None, cache_dir: Path | None, no_cache: bool) -> None:
    """Write contracts.lock anew from the code as it is.

    It holds what the configuration's `lock` names: by default public constants that tests, or
    other top-level packages, lean on, with their values and consumers.
    """
    registry = _load(root, jobs, cache_dir, no_cache)
    from contract_guard.project.lock_file import write_lock
    from contract_guard.registry.lock import contracts

    place = root or find_root(Path())
    found = contracts(registry, read_config(place).lock)
    is_new = write_lock(place, found)
    count = plural(len(found), "contract")
    click.echo(f"contracts.lock: {count}{'' if is_new else ', as before'}.")


@command.command("verify")
@options.format
@options.output_file
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
@click.option("--exit-zero", is_flag=True, help="Exit 0 with findings too.")
def verify(
    format: Format | None,
    output_file: Path | None,
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
    exit_zero: bool,
) -> int:
    """Report where the code and contracts.lock differ (CG501 to CG504).

    Exit codes: 0 they agree, 1 they do not, 2 there is no lock that can be read.
    """
    check_writable(output_file)
    place = root or find_root(Path())
    from contract_guard.project.lock_file import read_lock

    locked, text = read_lock(place)
    registry = _load(root, jobs, cache_dir, no_cache)
    from contract_guard.detectors.locks import lock_findings
    from contract_guard.project.check import source_lines
    from contract_guard.project.rules import load_rules
    from contract_guard.report import Cache, Report, Screen, Summary, render

    findings = lock_findings(registry, locked, text, read_config(place).lock)
    summary = Summary(
        files=len(registry.tree.files),
        lines=0,
        tests=sum(
            test.cases
            for path, facts in registry.facts()
            if registry.layout.is_test_module(path)
            for test in facts.pytest.tests
        ),
        findings=dict(Counter(finding.rule for finding in findings)),
        tests_at_risk=0,
        unresolved={},
        seconds=0.0,
        cache=Cache(),
    )
    report = Report(
        findings=tuple(findings),
        summary=summary,
        closing=f"{plural(len(locked), 'contract')} in contracts.lock.",
        sources=source_lines(place, {finding.path for finding in findings}),
        rules=load_rules(),
    )
    to_terminal = output_file is None and sys.stdout.isatty()
    screen = Screen(width=screen_width(), color=output_file is None and wants_color(sys.stdout))
    write(render(report, format or ("rich" if to_terminal else "concise"), screen), output_file)
    return EXIT_FINDINGS if findings and not exit_zero else EXIT_CLEAN


@command.command("export")
@options.output_file
@options.root
@options.jobs
@options.cache_dir
@options.no_cache
def export(
    output_file: Path | None,
    root: Path | None,
    jobs: int | None,
    cache_dir: Path | None,
    no_cache: bool,
) -> None:
    """Write what contracts.lock would hold as JSON, with the place of each consumer."""
    check_writable(output_file)
    registry = _load(root, jobs, cache_dir, no_cache)
    from contract_guard.registry.lock import contracts, places

    patterns = read_config(root or find_root(Path())).lock
    found = places(registry, patterns)
    entries = [
        _entry(registry, producer, found[symbol])
        for symbol in contracts(registry, patterns)
        if (producer := registry.producer(symbol)) is not None
    ]
    write(encode({"version": 1, "symbols": entries}), output_file)


def _load(
    root: Path | None, jobs: int | None, cache_dir: Path | None, no_cache: bool
) -> "Registry":
    from contract_guard.project.snapshot import load
    from contract_guard.registry.index import build

    place = root or find_root(Path())
    cache = options.chosen_cache(cache_dir, no_cache)
    with progress("contract-guard: reading"):
        snapshot = load(place, read_config(place), jobs=jobs, cache_dir=cache)
    for warning in snapshot.warnings:
        say(f"warning: {warning}")
    return build(snapshot.tree)


class _Place(msgspec.Struct, frozen=True):
    path: str
    line: int
    column: int
    form: str
    in_test: bool
    module_level: bool
    test: str | None
    tests: tuple[str, ...]
    cases: int
    exact: bool


class _Entry(msgspec.Struct, frozen=True):
    symbol: str
    path: str
    line: int
    kind: str
    value: str | None
    consumers: tuple[_Place, ...]


def _entry(registry: "Registry", producer: "Producer", found: Sequence["Consumption"]) -> _Entry:
    from contract_guard.facts.fold import NotFoldable

    try:
        value = repr(registry.value_of(producer.symbol))
    except NotFoldable:
        value = None
    return _Entry(
        producer.symbol,
        producer.path,
        producer.span.line,
        producer.kind,
        value,
        tuple(
            _Place(
                c.path, c.span.line, c.span.column, c.form, c.in_test, c.at_module_level,
                c.test, c.tests, c.cases, c.exact,
            )
            for c in found
        ),
    )  # fmt: skip


def _text(entry: _Entry) -> str:
    value = f" = {printable(entry.value)}" if entry.value else ""
    lines = [f"{printable(entry.symbol)}{value}", f"  defined at {_at(entry.path, entry.line)}"]
    in_tests = [place for place in entry.consumers if place.in_test]
    in_production = [place for place in entry.consumers if not place.in_test]
    for title, places in (("tests", in_tests), ("production", in_production)):
        if places:
            lines.append(f"  in {title}: {plural(len(places), 'place')}")
            lines += [f"    {_line(place)}" for place in places]
    if not entry.consumers:
        lines.append("  no other module names it")
    return "".join(f"{line}\n" for line in lines)


def _line(place: _Place) -> str:
    where = f"{_at(place.path, place.line)}:{place.column}  {place.form}"
    if not place.cases:
        return where
    count = f"{'' if place.exact else 'at least '}{plural(place.cases, 'test')}"
    if place.module_level:
        return f"{where}, at module level: {count} would vanish without it"
    return f"{where}: {count} would fail without it"


def _at(path: str, line: int) -> str:
    return f"{line_start(path)}:{line}"
