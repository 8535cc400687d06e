"""Import statements, narrowed, widened and written anew, with comments and layout kept."""

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from contract_guard.facts.model import Span
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit
from contract_guard.fixes.name_list import Pair, fitted, is_sorted, place_for, sort_key

# As formatters write them, on one line or with a name a line. What looks otherwise is opened by
# libcst, whose import takes longer than most edits.
_ALIAS = r"\w+(?: as \w+)?"
_LINE = re.compile(rf"(?P<head>from [.\w]+) import (?P<names>{_ALIAS}(?:, {_ALIAS})*)")
_ROWS = re.compile(
    rf"(?P<head>from [.\w]+) import \(\n(?P<indent>[ \t]+)"
    rf"(?P<names>{_ALIAS}(?:,\n(?P=indent){_ALIAS})*),\n(?P<end>[ \t]*)\)"
)


def without(statement: str, names: Collection[Pair], width: int) -> str:
    """`from m import a, b` without some of its (name, as) pairs, "" where none is left.

    `width` is what a line may hold from where the statement begins. A list that was spread over
    lines because it did not fit comes together where it does now.
    """
    plain = _plain(statement)
    if plain is None:
        from contract_guard.fixes import layout

        return layout.without(statement, names, width)
    kept = [pair for pair in plain.pairs if pair not in names]
    if not kept:
        return ""
    line = plain.line(kept)
    if len(plain.line(plain.pairs)) > width >= len(line):
        return line
    return plain.written(kept, width)


def renamed(statement: str, old: Pair, new: Pair, width: int) -> str:
    """`from m import a` with one of its (name, as) pairs replaced, and in order if it was."""
    plain = _plain(statement)
    if plain is None:
        from contract_guard.fixes import layout

        return layout.renamed(statement, old, new, width)
    if new in plain.pairs:
        return without(statement, {old}, width)
    changed = [new if pair == old else pair for pair in plain.pairs]
    if is_sorted(plain.pairs):
        changed.sort(key=sort_key)
    return plain.written(changed, width)


def widened(statement: str, new: Pair, width: int) -> str:
    """`from m import a` with one more (name, as) pair: in order where the others are, else last."""
    plain = _plain(statement)
    if plain is None:
        from contract_guard.fixes import layout

        return layout.widened(statement, new, width)
    if new in plain.pairs:
        return statement
    changed = [*plain.pairs]
    changed.insert(place_for(new, changed), new)
    return plain.written(changed, width)


def written(module: str, pair: Pair, width: int) -> str:
    """A new `from module import name`."""
    return _Plain(f"from {module}", [pair], "", "").written([pair], width)


class _Plain(NamedTuple):
    """A statement of one line, or, with an `indent`, of a line for each name and `end` before the
    parenthesis."""

    head: str
    pairs: list[Pair]
    indent: str
    end: str

    def line(self, pairs: Iterable[Pair]) -> str:
        return f"{self.head} import {', '.join(map(_alias, pairs))}"

    def written(self, pairs: Iterable[Pair], width: int) -> str:
        if not self.indent:
            return fitted(self.line(pairs), width)
        rows = "".join(f"{self.indent}{_alias(pair)},\n" for pair in pairs)
        return f"{self.head} import (\n{rows}{self.end})"


def _plain(statement: str) -> _Plain | None:
    match = _LINE.fullmatch(statement) or _ROWS.fullmatch(statement)
    if match is None:
        return None
    found = match.groupdict(default="")
    parts = (each.strip().partition(" as ") for each in found["names"].split(","))
    pairs = [(name, bound or None) for name, _, bound in parts]
    return _Plain(found["head"], pairs, found.get("indent", ""), found.get("end", ""))


def _alias(pair: Pair) -> str:
    name, bound = pair
    return f"{name} as {bound}" if bound else name


def adding(
    file: File,
    near: ast.stmt,
    module: str,
    pair: Pair,
    line_length: int,
    *,
    instead: bool = False,
    comment: str = "",
    is_alone: bool = False,
) -> Edit:
    """The edit that imports a name from `module` beside the import `near`: into a statement of
    the same block that already imports from it, else on a line of its own, in order among its
    neighbours where these are. With `instead` it takes the place of `near`. With a `comment`
    behind it, or with `is_alone`, it is a statement of its own."""
    block = file.block(near)
    width = line_length - len(file.indent(near))
    for other in block if not comment and not is_alone else ():
        if (
            isinstance(other, ast.ImportFrom)
            and module_of(other) == module
            and other.names[0].name != "*"
        ):
            return file.edit(other, widened(file.source.segment(other), pair, width))
    text = written(module, pair, width)
    indent = file.indent(near)
    if comment:
        if instead and not file.ends_its_line(near):
            raise CannotFix("a comment stands in an import that shares its line")
        text = f"{text}  {comment}"
    if instead:
        return file.edit(near, text)
    after = _neighbour(block, near, module)
    if file.line_range(after)[1] != 1:
        raise CannotFix("the import shares its line with another statement")
    span = file.line_range(after)
    if _sorts_before(module, after):
        return file.edit(Span(span.line, 1, span.line, 1), _indented(text, indent) + "\n")
    if span.end_column != 1:
        return file.edit(Span(*span[2:], *span[2:]), "\n" + _indented(text, indent))
    return file.edit(Span(*span[2:], *span[2:]), _indented(text, indent) + "\n")


def comments(statement: str) -> list[str]:
    """The comments inside of an import statement, which is free of texts."""
    return [f"#{line.partition('#')[2]}".rstrip() for line in statement.split("\n") if "#" in line]


def relative(file_module: str, is_package: bool, level: int, module: str) -> str:
    """`module` as a relative import of `level` dots names it, absolute where it cannot."""
    parts = file_module.split(".")
    base = parts[: len(parts) - level + (1 if is_package else 0)]
    if level and base and module.split(".")[: len(base)] == base:
        return "." * level + ".".join(module.split(".")[len(base) :])
    return module


def _neighbour(block: Sequence[ast.stmt], near: ast.stmt, module: str) -> ast.stmt:
    """The import of the run of `from` imports around `near` after which `module` is in order (or
    the first, before which it is); `near` where they are in no order."""
    at = block.index(near)
    first = last = at
    while first > 0 and _follows(block[first - 1], block[first]):
        first -= 1
    while last + 1 < len(block) and _follows(block[last], block[last + 1]):
        last += 1
    run = block[first : last + 1]
    keys = [module_of(each) for each in run if isinstance(each, ast.ImportFrom)]
    if keys != sorted(keys, key=_module_key):
        return near
    before = [each for each in run if not _sorts_before(module, each)]
    return before[-1] if before else run[0]


def _follows(one: ast.stmt, other: ast.stmt) -> bool:
    both = isinstance(one, ast.ImportFrom) and isinstance(other, ast.ImportFrom)
    return both and other.lineno == (one.end_lineno or one.lineno) + 1


def _sorts_before(module: str, other: ast.stmt) -> bool:
    return isinstance(other, ast.ImportFrom) and _module_key(module) < _module_key(module_of(other))


def _module_key(module: str) -> tuple[bool, str]:
    return (module.startswith("."), module.lower())


def module_of(node: ast.ImportFrom) -> str:
    return "." * node.level + (node.module or "")


def _indented(text: str, indent: str) -> str:
    return "\n".join(indent + line for line in text.split("\n"))
