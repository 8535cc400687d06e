"""One file while it is mended: its bytes, text, tree and names, each made when first asked."""

import ast
from functools import cached_property

from contract_guard.facts.model import Import, ModuleFacts, Span, Unreadable
from contract_guard.facts.reader import read
from contract_guard.facts.source import Source
from contract_guard.fixes.model import CannotFix, Edit
from contract_guard.fixes.names import Names


class File:
    """A file whose facts were read from these bytes. Raises CannotFix where they do not parse."""

    def __init__(self, path: str, source: bytes, facts: ModuleFacts) -> None:
        self.path = path
        self.facts = facts
        parsed = read(source)
        if isinstance(parsed, Unreadable):
            raise CannotFix(f"the file cannot be read: {parsed.detail}")
        self.source, self.tree = parsed

    @cached_property
    def names(self) -> Names:
        return Names(self.tree)

    @property
    def text(self) -> Source:
        return self.source

    def edit(self, where: Span | ast.expr | ast.stmt | ast.alias | ast.arg, text: str) -> Edit:
        span = where if isinstance(where, Span) else self.source.span(where)
        return Edit(self.path, span, text)

    def cut(self, span: Span) -> str:
        lines = self.source.lines[span.line - 1 : span.end_line]
        lines[-1] = lines[-1][: span.end_column - 1]
        lines[0] = lines[0][span.column - 1 :]
        return "\n".join(lines)

    @cached_property
    def imports(self) -> dict[tuple[int, int], ast.Import | ast.ImportFrom]:
        """Import statements by the line and column where they begin."""
        return {
            self.source.span(node)[:2]: node
            for node in self._blocks
            if isinstance(node, ast.Import | ast.ImportFrom)
        }

    def statement(self, imp: Import) -> ast.Import | ast.ImportFrom:
        """The statement of an import of `facts`."""
        return self.imports[imp.statement[:2]]

    def import_at(self, line: int, column: int) -> Import:
        """The import of `facts` that a finding marks."""
        for imp in self.facts.imports:
            if imp.span[:2] == (line, column):
                return imp
        raise CannotFix("the import could not be found again")

    def line_range(self, node: ast.stmt) -> Span:
        """The whole lines of a statement that has them for itself, else the statement alone."""
        span = self.source.span(node)
        before = self.source.lines[span.line - 1][: span.column - 1]
        after = self.source.lines[span.end_line - 1][span.end_column - 1 :].strip()
        if before.strip() or (after and not after.startswith("#")):
            return span
        if span.end_line < len(self.source.lines):
            return Span(span.line, 1, span.end_line + 1, 1)
        return Span(span.line, 1, span.end_line, len(self.source.lines[span.end_line - 1]) + 1)

    def has_comment_behind(self, node: ast.stmt) -> bool:
        """Whether a comment follows the statement on its last line."""
        return self._behind(node).startswith("#")

    def ends_its_line(self, node: ast.stmt) -> bool:
        """Whether at most a comment follows the statement on its last line."""
        return not self._behind(node) or self.has_comment_behind(node)

    def _behind(self, node: ast.stmt) -> str:
        span = self.source.span(node)
        return self.source.lines[span.end_line - 1][span.end_column - 1 :].strip()

    def indent(self, node: ast.stmt) -> str:
        line = self.source.lines[node.lineno - 1]
        return line[: len(line) - len(line.lstrip())]

    def block(self, node: ast.stmt) -> list[ast.stmt]:
        """The statements among which `node` stands."""
        return self._blocks[node]

    @cached_property
    def _blocks(self) -> dict[ast.stmt, list[ast.stmt]]:
        found: dict[ast.stmt, list[ast.stmt]] = {}
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                inner: list[ast.AST] = getattr(node, name, None) or []
                statements = [each for each in inner if isinstance(each, ast.stmt)]
                found |= dict.fromkeys(statements, statements)
                stack += inner
        return found
