"""Options that several commands share."""

import difflib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from contract_guard.errors import UserError
from contract_guard.findings import SEVERITIES
from contract_guard.project.cache import default_directory
from contract_guard.project.config import is_selected, rule_ids, rules_near
from contract_guard.project.rules import load_rules
from contract_guard.report import FORMATS

json_or_text = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the output.",
)
format = click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="Form of the report. Without it: rich on a terminal, concise elsewhere.",
)
output_file = click.option(
    "--output-file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the report to FILE; the exit code stays what it is.",
)


class _Place(click.Path):
    """A path that is not empty: `--root "$UNSET"` is a mistake, and not the working directory."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        if not os.fspath(value):
            self.fail("an empty path", param, ctx)
        return super().convert(value, param, ctx)


root = click.option(
    "--root",
    type=_Place(path_type=Path),
    help="The project, if it is not the repository or configured directory around PATHS.",
)
jobs = click.option(
    "--jobs", type=click.IntRange(min=1), metavar="N", help="Processes to use; all cores if absent."
)
cache_dir = click.option(
    "--cache-dir",
    type=click.Path(path_type=Path),
    metavar="DIRECTORY",
    help="Where facts are kept between runs; the user's cache directory if absent.",
)
baseline = click.option(
    "--baseline",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file of accepted findings, instead of the configured one.",
)
fail_on = click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default="warning",
    show_default=True,
    help="The least severity that makes the exit code 1.",
)
no_cache = click.option("--no-cache", is_flag=True, help="Neither read nor keep anything.")


def parse_selectors(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Rule ids, prefixes of them, or names, in any case, separated by commas, as in
    `--select CG1,missing-name`: as ids and prefixes."""
    words = [word.strip() for value in values for word in value.split(",")]
    return tuple(_parse_selector(context, parameter, word) for word in words)


def _parse_selector(context: click.Context, parameter: click.Parameter, word: str) -> str:
    known = rule_ids()
    if any(is_selected(word.upper(), rule) for rule in known):
        return word.upper()
    # Reads what the rules say, which takes its time.
    names = {rule.name: rule.id for rule in load_rules().values()}
    if word.lower() in names:
        return names[word.lower()]
    close = difflib.get_close_matches(word.lower(), names, n=1)
    near = rules_near(word)
    hint = f"; there are {near}" if near else f"; did you mean {close[0]}?" if close else ""
    raise click.BadParameter(f"no rule fits {word!r}{hint}", context, parameter)


select = click.option(
    "--select",
    multiple=True,
    metavar="RULES",
    callback=parse_selectors,
    help="Only these rules (CG101, missing-name), or families (CG1): not the configured ones.",
)
ignore = click.option(
    "--ignore",
    multiple=True,
    metavar="RULES",
    callback=parse_selectors,
    help="Not these rules, beside the configured ones.",
)


def chosen_cache(cache_dir: Path | None, no_cache: bool) -> Path | None:
    """Where to keep facts; None where nothing is to be kept, or there is no place for it.

    Raises UserError where the two options contradict each other.
    """
    if no_cache:
        if cache_dir is not None:
            raise UserError("--cache-dir and --no-cache exclude each other")
        return None
    if cache_dir is not None:
        return cache_dir.absolute()
    return default_directory()
