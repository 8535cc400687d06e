"""A file's text under edits: positions as findings give them, line ends and encoding kept."""

import codecs
import io
import re
import tokenize
from collections.abc import Iterable

from contract_guard.facts.model import Span
from contract_guard.fixes.model import Edit

_LINE_END = re.compile(r"\r\n|\r|\n")


def overlaps(one: Span, other: Span) -> bool:
    """Whether two ranges share a character, or begin at the same place."""
    return one[:2] == other[:2] or (one[:2] < other[2:] and other[:2] < one[2:])


def edited(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes of a file that Python accepts, with the edits made: new lines end as the others
    do, and everything outside of the edits is the same bytes.

    Raises ValueError for edits that overlap, UnicodeEncodeError for text that the file's encoding
    does not have.
    """
    mark = codecs.BOM_UTF8 if source.startswith(codecs.BOM_UTF8) else b""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    encoding = "utf-8" if encoding == "utf-8-sig" else encoding
    text = source[len(mark) :].decode(encoding)
    ends = [match.end() for match in _LINE_END.finditer(text)]
    starts = [0, *ends]
    first_end = _LINE_END.search(text)
    newline = first_end[0] if first_end else "\n"
    pieces: list[str] = []
    at = 0
    for span, new in sorted({(edit.span, edit.text) for edit in edits}):
        start = starts[span.line - 1] + span.column - 1
        end = starts[span.end_line - 1] + span.end_column - 1
        if start < at:
            raise ValueError("edits overlap")
        pieces += (text[at:start], new.replace("\n", newline))
        at = end
    pieces.append(text[at:])
    return mark + "".join(pieces).encode(encoding)
