"""Options that several commands share."""

import difflib
from collections.abc import Sequence
from pathlib import Path

import click

from contract_guard.project.config import is_selected, rule_ids

json_or_text = click.option(
    "--format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the output.",
)
root = click.option(
    "--root",
    type=click.Path(path_type=Path),
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
no_cache = click.option("--no-cache", is_flag=True, help="Neither read nor keep anything.")


def parse_selectors(
    context: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> tuple[str, ...]:
    """Rule ids or prefixes of them, separated by commas, as in `--select CG1,CG201`."""
    known = rule_ids()
    selectors = [word.strip() for value in values for word in value.split(",")]
    for selector in selectors:
        if not any(is_selected(selector, rule) for rule in known):
            close = difflib.get_close_matches(selector.upper(), sorted(known), n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise click.BadParameter(f"no rule fits {selector!r}{hint}", context, parameter)
    return tuple(selectors)
