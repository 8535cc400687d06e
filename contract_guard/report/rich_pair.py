"""A copy beside what it copies, on a terminal: next to each other where there is room, one below
the other where there is not."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from contract_guard.findings import Finding, Related
from contract_guard.report.pairing import Gap, Line, Row, block, shortened, sides
from contract_guard.text import plural, printable

# Columns of text that each side needs for both to stand next to each other.
ROOM = 44
_INDENT = 4
_SHARED = "bold cyan"
_MOST_CHARACTERS = 400
_MIDDLE = {True: " = ", False: " │ "}


def write_pair(console: Console, finding: Finding, related: Related, rows: Sequence[Row]) -> None:
    """The lines of a finding and of the place that it is aligned with."""
    left, right = sides(rows)
    digits = len(str(max(line.number for line in (*left, *right))))
    room = (console.width - _INDENT - 3) // 2 - digits - 3
    heading = f"{printable(related.path)}:{related.line} {printable(related.qualname)}".rstrip()
    if room >= ROOM:
        width = room + digits + 3
        here = _cut(f"{printable(finding.path)}:{finding.line}", width)
        _print(console, Text.assemble((here, "bold"), "   ", (_cut(heading, width), "bold")))
        for row in shortened(rows):
            if isinstance(row, Gap):
                one, other = _left_out(row.left, digits), _left_out(row.right, digits)
                one.pad_right(width - one.cell_len)
                _print(console, Text.assemble(one, (_MIDDLE[False], "dim"), other))
            else:
                _write_row(console, row, digits, room)
    else:
        room = max(console.width - _INDENT - digits - 3, 10)
        _write_block(console, left, digits, room)
        see = Text.assemble(("see: ", "bold"), f"{heading}  {printable(related.message)}")
        for line in see.wrap(console, console.width - _INDENT, overflow="fold"):
            _print(console, line)
        _write_block(console, right, digits, room)


def _write_row(console: Console, row: Row, digits: int, room: int) -> None:
    ones = _lines(console, row.left, digits, room)
    others = _lines(console, row.right, digits, room)
    empty = Text(" " * (digits + 3 + room))
    for at in range(max(len(ones), len(others))):
        one = ones[at] if at < len(ones) else empty
        other = others[at] if at < len(others) else empty
        one.pad_right(digits + 3 + room - one.cell_len)
        _print(console, Text.assemble(one, (_MIDDLE[row.is_pair and not at], "dim"), other))


def _write_block(console: Console, lines: Sequence[Line], digits: int, room: int) -> None:
    for line in block(lines):
        if isinstance(line, int):
            _print(console, _left_out(line, digits))
        else:
            for text in _lines(console, line, digits, room):
                _print(console, text)


def _left_out(count: int, digits: int) -> Text:
    return Text(f"{'':>{digits}} … {plural(count, 'more line')}" if count else "", "dim")


def _lines(console: Console, line: Line | None, digits: int, room: int) -> list[Text]:
    """A line, folded to `room` columns; the bar at its side is double where it is paired."""
    if line is None:
        return []
    body = Text(printable(line.text[:_MOST_CHARACTERS]))
    if body.plain == line.text:
        for start, end in line.shared:
            body.stylize(_SHARED, start, end)
    bar = "┃ " if line.is_paired else "│ "
    found: list[Text] = []
    for number, part in enumerate(body.wrap(console, room, overflow="fold") or [Text()]):
        gutter = f"{'' if number else line.number:>{digits}} {bar}"
        part.rstrip()
        found.append(Text.assemble((gutter, "dim"), part))
    return found


def _cut(text: str, width: int) -> str:
    return set_cell_size(text if cell_len(text) <= width else f"{text[: width - 1]}…", width)


def _print(console: Console, text: Text) -> None:
    text.rstrip()
    console.print(Text(" " * _INDENT) + text, no_wrap=True, crop=False)
