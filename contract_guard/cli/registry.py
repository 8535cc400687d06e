"""`contract-guard registry`."""

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from contract_guard.cli import options
from contract_guard.cli.errors import UserError, say
from contract_guard.cli.progress import progress
from contract_guard.project.config import find_root, read_config
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
        click.echo(encode({"version": 1, "symbols": entries}), nl=False)
    else:
        click.echo("\n".join(map(_text, entries)), nl=False)


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
        click.echo(encode({"version": 1} | msgspec.to_builtins(risk)), nl=False)
        return
    if not risk.constants:
        click.echo("No test module imports a production constant at module level.")
        return
    width = max(len(f"{constant.tests:,}") for constant in risk.constants) + 1
    for constant in risk.constants:
        tests = f"{constant.tests:,}{'' if constant.exact else '+'}"
        click.echo(
            f"{tests:>{width}} {'test ' if constant.tests == 1 else 'tests'}  "
            f"{plural(len(constant.modules), 'module'):<10}  {printable(constant.producer.symbol)}"
        )
    click.echo(
        f"{plural(risk.modules, 'test module')}, {plural(risk.tests, 'test')} in all; "
        "'contract-guard registry who NAME' shows the places."
    )


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
