"""Decoded source text, and where its syntax nodes stand in it."""

import ast
import re
from bisect import bisect_left
from typing import NamedTuple, Protocol

from contract_guard.facts.model import Span

MAX_TEXT = 200
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


_COMPOUND = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.ExceptHandler,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
    ast.ClassDef,
)


class Positioned(Protocol):
    """What statements, expressions, aliases, arguments and keywords have in common."""

    @property
    def lineno(self) -> int: ...
    @property
    def col_offset(self) -> int: ...
    @property
    def end_lineno(self) -> int | None: ...
    @property
    def end_col_offset(self) -> int | None: ...


class _WideCharacters(NamedTuple):
    """The characters of a line that take more than one byte: the byte offset at which each ends,
    and the bytes in excess of one a character before each of them, and after the last."""

    ends: list[int]
    surplus: list[int]


_NONE_WIDE = _WideCharacters([], [0])


def _wide_characters(line: str) -> _WideCharacters:
    if line.isascii():
        return _NONE_WIDE
    ends: list[int] = []
    surplus = [0]
    for match in _NOT_ASCII.finditer(line):
        width = len(match[0].encode("utf-8", "surrogatepass"))
        ends.append(match.start() + surplus[-1] + width)
        surplus.append(surplus[-1] + width - 1)
    return _WideCharacters(ends, surplus)


class Source:
    """The text of a file with `\\n` line ends and no byte order mark."""

    __slots__ = ("_headers", "_wide", "ascii", "lines", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.ascii = text.isascii()
        self.lines = text.split("\n")
        self._wide: dict[int, _WideCharacters] = {}
        self._headers: dict[int, Span] = {}

    def column(self, line: int, offset: int) -> int:
        """The column, from 1 in code points, of a UTF-8 byte offset from 0 as `ast` counts."""
        if self.ascii:
            return offset + 1
        wide = self._wide.get(line)
        if wide is None:
            wide = self._wide[line] = _wide_characters(self.lines[line - 1])
        return offset - wide.surplus[bisect_left(wide.ends, offset + 1)] + 1

    def end(self, node: Positioned) -> tuple[int, int]:
        """The line that a node ends on, and the column behind it."""
        line = node.end_lineno or node.lineno
        offset = node.end_col_offset or 0
        return line, offset + 1 if self.ascii else self.column(line, offset)

    def span(self, node: Positioned) -> Span:
        line = node.lineno
        end_line = node.end_lineno or line
        end = node.end_col_offset or 0
        if self.ascii:
            return Span(line, node.col_offset + 1, end_line, end + 1)
        return Span(line, self.column(line, node.col_offset), end_line, self.column(end_line, end))

    def span_of_scope(self, node: ast.AST | None) -> Span:
        """The span of the node that makes a scope; of the whole text without one."""
        if isinstance(node, ast.stmt | ast.expr):
            return self.span(node)
        return Span(1, 1, len(self.lines), len(self.lines[-1]) + 1)

    def statement_span(self, node: Positioned) -> Span:
        """The span of a simple statement; of a compound one, its header up to the body."""
        known = self._headers.get(id(node))
        if known is None:
            known = self._headers[id(node)] = self._statement_span(node)
        return known

    def _statement_span(self, node: Positioned) -> Span:
        whole = self.span(node)
        first: ast.stmt | ast.pattern
        if isinstance(node, ast.Match):
            first = node.cases[0].pattern
        elif isinstance(node, _COMPOUND):
            first = node.body[0]
        else:
            return whole
        first_line = min([first.lineno, *_decorator_lines(first)])
        if first_line == whole.line:
            return Span(*whole[:2], first_line, self.column(first_line, first.col_offset))
        line = first_line - 1
        while line > whole.line and not _has_code(self.lines[line - 1]):
            line -= 1
        return Span(*whole[:2], line, len(self.lines[line - 1].rstrip()) + 1)

    def segment(self, node: Positioned) -> str:
        """The exact source text of a node."""
        start, end = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        first = self.column(start + 1, node.col_offset) - 1
        last = self.column(end + 1, node.end_col_offset or 0) - 1
        if start == end:
            return self.lines[start][first:last]
        return "\n".join(
            (self.lines[start][first:], *self.lines[start + 1 : end], self.lines[end][:last])
        )

    def short(self, node: Positioned) -> str:
        """Source text with white space folded, at most `MAX_TEXT` characters."""
        if (node.end_lineno or node.lineno) - node.lineno > MAX_TEXT:
            return " ".join(self.lines[node.lineno - 1].split())[:MAX_TEXT]
        return " ".join(self.segment(node).split())[:MAX_TEXT]


def _decorator_lines(node: ast.AST) -> list[int]:
    return [decorator.lineno for decorator in getattr(node, "decorator_list", ())]


def _has_code(line: str) -> bool:
    text = line.strip()
    return bool(text) and not text.startswith("#")


def dotted(node: ast.expr) -> str:
    """`a.b.c` of a name or an attribute chain on a name, else ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    parts.append(node.id)
    parts.reverse()
    return ".".join(parts)


def callee(node: ast.expr) -> str:
    """The dotted name of a decorator or base: `a.b` for `a.b` and for `a.b(...)`."""
    return dotted(node.func if isinstance(node, ast.Call) else node)
