"""Renderings of the same findings, one file a format: values in, text out.

`render` imports only the module of the format that is asked for.
"""

import importlib
from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from contract_guard.findings import Finding
from contract_guard.project.rules import Rule

Format = Literal["rich", "concise", "json", "sarif", "github", "gitlab", "junit", "html", "nodeids"]
FORMATS: tuple[Format, ...] = get_args(Format)


class Cache(msgspec.Struct, frozen=True):
    hits: int = 0
    misses: int = 0


class ReadAgainst(msgspec.Struct, frozen=True):
    """A release or an environment that the project was checked against: what the user wrote, the
    top-level packages that were read, and how many files."""

    origin: str
    packages: tuple[str, ...]
    files: int


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """The `summary` of `check --format json`. `unresolved` counts unknown names by reason, `known`
    the findings that are left out because a baseline or an older revision has them."""

    files: int
    lines: int
    tests: int
    findings: Mapping[str, int]
    tests_at_risk: int
    unresolved: Mapping[str, int]
    seconds: float
    cache: Cache
    known: int = 0
    against: tuple[ReadAgainst, ...] = ()


class Anchor(msgspec.Struct, frozen=True):
    """A whole line of a change, at which a finding is shown; `end_column` is exclusive."""

    path: str
    line: int
    end_column: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a format may show. `closing` is the line on tests at risk, `mending` that on
    what `--fix` would mend, `verdict` the last line, "" to count the findings for it.

    `sources` holds the lines of files of which lines are shown, for formats that show them.
    `rules` are the rules by id, for their names and what they say of themselves. `anchors` are
    places in a change that stand for those of findings on lines that did not change. `prefix` comes
    before each path in formats that a code host reads: it knows paths from the repository's top.
    """

    findings: tuple[Finding, ...]
    summary: Summary
    closing: str
    sources: Mapping[str, tuple[str, ...]]
    rules: Mapping[str, Rule]
    prefix: str = ""
    anchors: Mapping[Finding, Anchor] = msgspec.field(default_factory=dict[Finding, Anchor])
    mending: str = ""
    verdict: str = ""


class Screen(msgspec.Struct, frozen=True):
    """What the reader can see and wants to: `width` in columns, whether colour can be shown,
    whether notes are listed one by one or only counted, and whether anything is said beyond the
    findings."""

    width: int = 100
    color: bool = False
    notes: bool = True
    summary: bool = True


def render(report: Report, format: Format, screen: Screen) -> str:
    """The report as text in the given format, ending with a newline unless empty."""
    module = importlib.import_module(f"contract_guard.report.{format}_format")
    return module.render(report, screen)
