"""Import statements, narrowed, widened and written anew, with comments and layout kept."""

import ast
import re
from collections.abc import Collection, Iterable, Sequence

from contract_guard.facts.model import Span
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit
from contract_guard.fixes.name_list import Pair, fitted, is_sorted, place_for, sort_key

# As formatters write a statement of one line. What looks otherwise is opened by libcst, whose
# import takes longer than most edits.
_PLAIN = re.compile(r"from [.\w]+ import (\w+(?: as \w+)?(?:, \w+(?: as \w+)?)*)")


def without(statement: str, names: Collection[Pair], width: int) -> str:
    """`from m import a, b` without some of its (name, as) pairs, "" where none is left.

    `width` is what a line may hold from where the statement begins. A list that was spread over
    lines because it did not fit comes together where it does now.
    """
    pairs = _plain_pairs(statement)
    if pairs is None:
        from contract_guard.fixes import layout

        return layout.without(statement, names, width)
    kept = [pair for pair in pairs if pair not in names]
    return _with_pairs(statement, kept, width) if kept else ""


def renamed(statement: str, old: Pair, new: Pair, width: int) -> str:
    """`from m import a` with one of its (name, as) pairs replaced, and in order if it was."""
    pairs = _plain_pairs(statement)
    if pairs is None:
        from contract_guard.fixes import layout

        return layout.renamed(statement, old, new, width)
    if new in pairs:
        return without(statement, {old}, width)
    changed = [new if pair == old else pair for pair in pairs]
    if is_sorted(pairs):
        changed.sort(key=sort_key)
    return _with_pairs(statement, changed, width)


def widened(statement: str, new: Pair, width: int) -> str:
    """`from m import a` with one more (name, as) pair: in order where the others are, else last."""
    pairs = _plain_pairs(statement)
    if pairs is None:
        from contract_guard.fixes import layout

        return layout.widened(statement, new, width)
    if new in pairs:
        return statement
    pairs.insert(place_for(new, pairs), new)
    return _with_pairs(statement, pairs, width)


def written(module: str, pair: Pair, width: int) -> str:
    """A new `from module import name`."""
    return _with_pairs(f"from {module} import ", [pair], width)


def _plain_pairs(statement: str) -> list[Pair] | None:
    match = _PLAIN.fullmatch(statement)
    if match is None:
        return None
    parts = (each.partition(" as ") for each in match[1].split(", "))
    return [(name, bound or None) for name, _, bound in parts]


def _with_pairs(statement: str, pairs: Iterable[Pair], width: int) -> str:
    head = statement.partition(" import ")[0]
    names = (f"{name} as {bound}" if bound else name for name, bound in pairs)
    return fitted(f"{head} import {', '.join(names)}", width)


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
