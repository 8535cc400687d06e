"""One line of source with a range marked, cut to the width that there is."""

import msgspec
from rich.cells import cell_len

from contract_guard.text import printable

_TAB = "    "
_CUT = "…"


class Excerpt(msgspec.Struct, frozen=True):
    """`text` as shown; the marked range is `text[start:end]` (code points), and stands under
    `offset` and `length` terminal cells."""

    text: str
    start: int
    end: int
    offset: int
    length: int


def excerpt(
    line: str, column: int, end_column: int, width: int, *, keep_indent: bool = False
) -> Excerpt:
    """`line` safe to print and at most `width` cells wide, the range from `column` to
    `end_column` (from 1, in code points, end exclusive) marked. Where the line is too long, what is
    shown begins at most a third of the width before the range. Indentation goes first, unless it is
    to be kept."""
    pieces = [_TAB if c == "\t" else printable(c) for c in line]
    first = min(max(column - 1, 0), len(pieces))
    last = min(max(end_column - 1, first), len(pieces))
    begin = 0 if keep_indent else len(line) - len(line.lstrip())
    begin = min(begin, first)
    widths = [cell_len(piece) for piece in pieces]
    if sum(widths[begin:]) > width:
        begin = _cut_before(widths, begin, first, width // 3)
    stop, used = begin, 0
    room = width - (begin > 0 and bool(line[:begin].strip())) - 1
    while stop < len(pieces) and used + widths[stop] <= room:
        used += widths[stop]
        stop += 1
    head = _CUT if line[:begin].strip() else ""
    tail = _CUT if stop < len(pieces) else ""
    before = head + "".join(pieces[begin : min(first, stop)])
    marked = "".join(pieces[min(first, stop) : min(last, stop)])
    after = "".join(pieces[min(last, stop) : stop]) + tail
    return Excerpt(
        text=before + marked + after,
        start=len(before),
        end=len(before) + len(marked),
        offset=cell_len(before),
        length=max(cell_len(marked), 1),
    )


def _cut_before(widths: list[int], begin: int, first: int, room: int) -> int:
    """The earliest piece from which no more than `room` cells stand before `first`."""
    start, used = first, 0
    while start > begin and used + widths[start - 1] <= room:
        start -= 1
        used += widths[start]
    return start
