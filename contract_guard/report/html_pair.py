"""A copy beside what it copies, as a table: next to each other on a wide page, one below the other
on a narrow one."""

from collections.abc import Sequence
from html import escape

from contract_guard.findings import Finding, Related
from contract_guard.report.pairing import Line, Row, block, shortened, sides
from contract_guard.text import plural, printable

_MOST_CHARACTERS = 400


def pair_table(finding: Finding, related: Related, rows: Sequence[Row]) -> list[str]:
    """The lines of a finding and of the place that it is aligned with."""
    left, right = sides(rows)
    headings = (
        f"{finding.path}:{finding.line}",
        f"{related.path}:{related.line} {related.qualname}".rstrip(),
    )
    shown = shortened(rows)
    columns = ([row.left for row in shown], [row.right for row in shown])
    lines = [f'<p class="dim">{_text(related.message)}</p>', '<div class="pair">']
    for heading, column, side in zip(headings, columns, (left, right), strict=True):
        digits = len(str(max((line.number for line in side), default=0)))
        beside = "\n".join(_shown(line, digits) for line in column)
        below = "\n".join(_shown(line, digits) for line in block(side))
        lines += [
            f'<section><p class="place">{_text(heading)}</p>',
            f'<pre class="beside">{beside}</pre>',
            f'<pre class="below">{below}</pre></section>',
        ]
    return [*lines, "</div>"]


def _shown(line: Line | int | None, digits: int) -> str:
    if isinstance(line, int):
        if not line:
            return _line(None, digits)
        return f'<span class="dim">{"":>{digits}} … {plural(line, "more line")}</span>'
    return _line(line, digits)


def _line(line: Line | None, digits: int) -> str:
    if line is None:
        return " "  # a line break alone would be lost at the start
    parts: list[str] = []
    at = 0
    for start, end in line.shared:
        if end > _MOST_CHARACTERS:
            break
        parts += [_text(line.text[at:start]), f'<b class="same">{_text(line.text[start:end])}</b>']
        at = end
    parts.append(_text(line.text[at:_MOST_CHARACTERS]))
    bar = "┃" if line.is_paired else "│"
    return f'<span class="dim">{line.number:>{digits}} {bar} </span>{"".join(parts)}'


def _text(text: str) -> str:
    return escape(printable(text), quote=True)
