"""`--format rich`: for people at a terminal. Grouped by file, the worst first; what it costs
before what it is; the source line with the range underlined; the verdict last."""

import io
import textwrap
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from contract_guard.findings import Finding, Related, Severity
from contract_guard.report import Report, Screen
from contract_guard.report.excerpt import excerpt
from contract_guard.report.listing import (
    by_file,
    cost,
    counted,
    last_lines,
    listed,
    verdict,
    worst_first,
)
from contract_guard.report.pairing import paired
from contract_guard.report.rich_pair import write_pair
from contract_guard.text import line_start, plural, printable

# What is longer than this is cut: a reader goes to the file for it.
_BLOCK_LINES = 12
# More than this nobody reads, and laying it out takes a millisecond each.
LIMIT = 1_000
_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "yellow", "note": "cyan"}


def render(report: Report, screen: Screen) -> str:
    console = Console(
        file=io.StringIO(),
        width=max(screen.width, 20),
        force_terminal=screen.color,
        color_system="standard" if screen.color else None,
        # An environment variable must not change what the caller has decided.
        no_color=not screen.color,
        highlight=False,
        legacy_windows=False,
        _environ={},
    )
    shown = worst_first(listed(report.findings, screen))
    for path, findings in by_file(shown[:LIMIT]):
        _write(console, Text.assemble((line_start(path), "bold"), f"  {counted(findings)}"))
        for finding in findings:
            _write_finding(console, finding, report)
    if left_out := shown[LIMIT:]:
        count = plural(len(left_out), "more finding")
        _write(console, Text(f"{count} not shown here; --format concise lists them all."))
    severities = {finding.severity for finding in report.findings}
    style = next((_STYLES[s] for s in ("error", "warning") if s in severities), "green")
    for line in last_lines(report, screen):
        _write(console, Text(line, style if line == verdict(report, screen) else ""))
    output = console.file
    assert isinstance(output, io.StringIO)
    return output.getvalue()


def _write(console: Console, text: Text, indent: int = 0) -> None:
    for line in text.wrap(console, console.width - indent, overflow="fold"):
        line.rstrip()
        console.print(Text(" " * indent) + line, no_wrap=True, crop=False)


def _write_finding(console: Console, finding: Finding, report: Report) -> None:
    style = _STYLES[finding.severity]
    name = f"{finding.rule} {report.rules[finding.rule].name}"
    costs = f"{cost(finding)}  " if cost(finding) else ""
    title = Text.assemble((f"{finding.line}:{finding.column}  ", "dim"), (costs + name, style))
    _write(console, title, indent=2)
    _write(console, Text(printable(finding.message)), indent=4)
    here = report.sources.get(finding.path, ())
    pairs = [
        (related, paired(finding, related, here, report.sources.get(related.path, ())))
        for related in finding.related
    ]
    if not any(rows for _, rows in pairs):
        _write_source(console, finding, report)
    for related, rows in pairs:
        if rows:
            write_pair(console, finding, related, rows)
            continue
        _write(console, _place(related), indent=4)
        lines = report.sources.get(related.path, ())
        if related.end_line > related.line and related.end_line <= len(lines):
            _write_block(console, lines, related.line, related.end_line, "dim")
    if finding.help:
        _write(console, Text.assemble(("help: ", "bold"), printable(finding.help)), indent=4)
    console.print()


def _write_source(console: Console, finding: Finding, report: Report) -> None:
    lines = report.sources.get(finding.path, ())
    if not 0 < finding.line <= len(lines):
        return
    style = _STYLES[finding.severity]
    if finding.end_line > finding.line and finding.end_column > 1:
        _write_block(console, lines, finding.line, finding.end_line, style)
        return
    line = lines[finding.line - 1]
    number = f"{finding.line} │ "
    end_column = finding.end_column if finding.end_line == finding.line else len(line) + 1
    room = console.width - 4 - len(number)
    shown = excerpt(line, finding.column, end_column, max(room, 10))
    source = Text.assemble((number, "dim"), shown.text)
    source.stylize(style, len(number) + shown.start, len(number) + shown.end)
    gutter = " " * (len(number) - 2) + "│ "
    marks = Text.assemble((gutter, "dim"), " " * shown.offset, ("^" * shown.length, style))
    _write(console, source, indent=4)
    _write(console, marks, indent=4)


def _write_block(console: Console, lines: Sequence[str], first: int, last: int, style: str) -> None:
    """Lines `first` to `last` (from 1, both included) with a bar at their side."""
    block = textwrap.dedent("\n".join(lines[first - 1 : last])).rstrip().split("\n")
    shown = block if len(block) <= _BLOCK_LINES else block[: _BLOCK_LINES - 1]
    digits = len(str(last))
    room = max(console.width - 4 - digits - 3, 10)
    for number, line in enumerate(shown, first):
        text = excerpt(line, 1, 1, room, keep_indent=True).text
        _write(console, Text.assemble((f"{number:>{digits}} ", "dim"), ("┃ ", style), text), 4)
    if left_out := len(block) - len(shown):
        _write(console, Text(f"{'':>{digits}} … {plural(left_out, 'more line')}", "dim"), indent=4)


def _place(related: Related) -> Text:
    where = f"{printable(related.path)}:{related.line}"
    name = f" {printable(related.qualname)}" if related.qualname else ""
    return Text.assemble(("see: ", "bold"), f"{where}{name}  {printable(related.message)}".rstrip())
