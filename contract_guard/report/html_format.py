"""`--format html`: one page with everything in it, to be opened from a file.

Works without its script too: the script only filters.
"""

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from contract_guard import __version__
from contract_guard.findings import SEVERITIES, Finding, Severity
from contract_guard.report import Report, Screen
from contract_guard.report.html_pair import pair_table
from contract_guard.report.listing import by_file, cost, counted, listed, verdict, worst_first
from contract_guard.report.pairing import paired
from contract_guard.text import plural, printable

# More than this, and browsers take seconds to show the page.
LIMIT = 5_000
_GRAPH_SYMBOLS = 40
_ROW = 22
_MOST_CHARACTERS = 400
_BLOCK_LINES = 40


def render(report: Report, screen: Screen) -> str:
    findings = worst_first(listed(report.findings, screen))
    kept, left_out = findings[:LIMIT], len(findings[LIMIT:])
    here = Path(__file__)
    style = here.with_name("page.css").read_text("utf-8")
    script = here.with_name("page.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    lines = [
        "<!doctype html>",
        '<html lang="en">',
        "<head>",
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<title>contract-guard</title>",
        f"<style>\n{style}</style>",
        "</head>",
        "<body>",
        "<h1>contract-guard</h1>",
        f"<p>{_text(verdict(report, screen))}</p>",
    ]
    lines += [f"<p>{_text(line)}</p>" for line in [report.closing] if line]
    if left_out:
        lines.append(f"<p>{plural(left_out, 'more finding')} left out of this page.</p>")
    lines += _filters(kept)
    for path, group in by_file(kept):
        lines += _file(path, group, report)
    lines += _graph(kept)
    lines += [
        f'<p class="dim">contract-guard {__version__}, '
        f"{plural(report.summary.lines, 'line')} in {report.summary.seconds:.1f} s</p>",
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(lines) + "\n"


def _text(text: str) -> str:
    return escape(printable(text), quote=True)


def _filters(findings: Sequence[Finding]) -> list[str]:
    rules = Counter(finding.rule for finding in findings)
    impacts = Counter(finding.impact or "none" for finding in findings)
    return [
        "<form>",
        f"<label>rule {_select('rule', rules)}</label>",
        f"<label>impact {_select('impact', impacts)}</label>",
        '<label>path <input name="path" type="search" autocomplete="off"></label>',
        f"<output>{len(findings)} shown</output>",
        "</form>",
    ]


def _select(name: str, counts: Counter[str]) -> str:
    options = "".join(
        f'<option value="{_text(value)}">{_text(value)} ({count})</option>'
        for value, count in sorted(counts.items())
    )
    return f'<select name="{name}"><option value="">all</option>{options}</select>'


def _file(path: str, findings: Sequence[Finding], report: Report) -> list[str]:
    lines = ['<section class="file">', f"<h2>{_text(path)} <small>{counted(findings)}</small></h2>"]
    for finding in findings:
        lines += _finding(finding, report)
    return [*lines, "</section>"]


def _finding(finding: Finding, report: Report) -> list[str]:
    place = f"{_text(finding.path)}:{finding.line}:{finding.column}"
    costs = f"{cost(finding)} · " if cost(finding) else ""
    rule = report.rules[finding.rule]
    here = report.sources.get(finding.path, ())
    pairs = [
        (related, paired(finding, related, here, report.sources.get(related.path, ())))
        for related in finding.related
    ]
    lines = [
        f'<article data-rule="{_text(finding.rule)}" data-impact="{finding.impact or "none"}" '
        f'data-path="{_text(finding.path)}">',
        f'<p class="title {finding.severity}">{costs}{_text(f"{rule.id} {rule.name}")}</p>',
        f"<p>{_text(finding.message)}</p>",
        *([] if any(rows for _, rows in pairs) else _source(finding, report)),
        f'<p class="place dim">{place}</p>',
    ]
    if finding.help:
        lines.append(f"<p><b>help:</b> {_text(finding.help)}</p>")
    for related, rows in pairs:
        if rows:
            lines += pair_table(finding, related, rows)
            continue
        lines.append(
            f'<p><b>see:</b> <span class="place">{_text(related.path)}:{related.line} '
            f"{_text(related.qualname)}</span> {_text(related.message)}</p>"
        )
        if related.end_line > related.line:
            lines += _block(report, related.path, related.line, related.end_line)
    if finding.tests_lost:
        tests = "".join(f"<li><code>{_text(test)}</code></li>" for test in finding.tests_lost.ids)
        lines.append(f"<details><summary>tests lost</summary><ul>{tests}</ul></details>")
    return [*lines, "</article>"]


def _source(finding: Finding, report: Report) -> list[str]:
    source = report.sources.get(finding.path, ())
    if not 0 < finding.line <= len(source):
        return []
    if finding.end_line > finding.line and finding.end_column > 1:
        return _block(report, finding.path, finding.line, finding.end_line)
    line = source[finding.line - 1]
    first = finding.column - 1
    last = finding.end_column - 1 if finding.end_line == finding.line else len(line)
    before, marked, after = line[:first], line[first:last], line[last:]
    if len(before) > _MOST_CHARACTERS:
        before = "…" + before[-_MOST_CHARACTERS:]
    if len(after) > _MOST_CHARACTERS:
        after = after[:_MOST_CHARACTERS] + "…"
    shown = f'{_code(before)}<mark class="{finding.severity}">{_code(marked)}</mark>{_code(after)}'
    return [f'<pre><span class="dim">{finding.line} │ </span>{shown}</pre>']


def _block(report: Report, path: str, first: int, last: int) -> list[str]:
    """Lines `first` to `last` (from 1, both included), cut where they are many."""
    lines = report.sources.get(path, ())[first - 1 : last][:_BLOCK_LINES]
    numbered = (
        f'<span class="dim">{number} ┃ </span>{_code(line[:_MOST_CHARACTERS])}'
        for number, line in enumerate(lines, first)
    )
    return [f"<pre>{'<br>'.join(numbered)}</pre>"] if lines else []


def _code(text: str) -> str:
    return _text(text.replace("\t", "    "))


def _graph(findings: Iterable[Finding]) -> list[str]:
    """Who leans on what: symbols at the left, the files that name them at the right."""
    edges: dict[tuple[str, str], Severity] = {}
    for finding in findings:
        edge = (finding.symbol, finding.path)
        known = edges.get(edge, "note")
        worse = SEVERITIES.index(finding.severity) < SEVERITIES.index(known)
        edges[edge] = finding.severity if worse else known
    symbols = [symbol for symbol, _ in Counter(s for s, _ in edges).most_common(_GRAPH_SYMBOLS)]
    edges = {edge: severity for edge, severity in edges.items() if edge[0] in symbols}
    if not edges:
        return []
    paths = list(dict.fromkeys(path for symbol in symbols for s, path in edges if s == symbol))
    height = _ROW * max(len(symbols), len(paths)) + _ROW
    lines = [
        "<h2>Producers and their consumers</h2>",
        f'<div class="graph"><svg viewBox="0 0 1000 {height}" role="img" '
        'aria-label="Symbols and the files that name them">',
    ]
    for (symbol, path), severity in edges.items():
        left, right = _height(symbols, symbol, height), _height(paths, path, height)
        lines.append(
            f'<path class="{severity}" d="M 440 {left} C 520 {left} 520 {right} 600 {right}">'
            f"<title>{_text(symbol)} in {_text(path)}</title></path>"
        )
    lines += [
        f'<text x="430" y="{_height(symbols, symbol, height) + 4}" text-anchor="end">'
        f"{_text(_short(symbol))}</text>"
        for symbol in symbols
    ]
    lines += [
        f'<text x="610" y="{_height(paths, path, height) + 4}">{_text(_short(path))}</text>'
        for path in paths
    ]
    return [*lines, "</svg></div>"]


def _height(column: Sequence[str], entry: str, height: int) -> int:
    """The middle of the entry's row, the rows of both columns spread over the same height."""
    return round((column.index(entry) + 0.5) * height / len(column))


def _short(text: str) -> str:
    return text if len(text) <= 52 else "…" + text[-51:]
