"""A statement without comments and layout: what a finding's fingerprint is made of."""

import io
import tokenize

from contract_guard.facts.model import Span

_LAYOUT = frozenset(
    {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
)
_NAMES = tokenize.tok_name


def decode(source: bytes) -> str:
    """Text of a source file that has facts, line ends as "\\n", without a byte order mark."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    text = source.decode(encoding, "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def cut(text: str, span: Span) -> str:
    """The part of `text` that `span` covers."""
    lines = text.split("\n")[span.line - 1 : span.end_line]
    if not lines:
        return ""
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def normalise(statement: str) -> str:
    """Tokens of `statement` with one space between them; the same for every Python version.

    Python 3.12 splits f-strings into parts where 3.11 gives one token: they are put together
    again. A piece that cannot be tokenized keeps its text, with white space folded.
    """
    tokens: list[str] = []
    lines = statement.split("\n")
    opened: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(statement).readline):
            name = _NAMES[token.type]
            if name.endswith("STRING_START"):
                opened.append(token.start)
            elif name.endswith("STRING_END"):
                start = opened.pop()
                if not opened:
                    tokens.append(_between(lines, start, token.end))
            elif not opened and token.type not in _LAYOUT:
                tokens.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        return " ".join(statement.split())
    return " ".join(tokens)


def _between(lines: list[str], start: tuple[int, int], end: tuple[int, int]) -> str:
    span = Span(start[0], start[1] + 1, end[0], end[1] + 1)
    return cut("\n".join(lines), span)
