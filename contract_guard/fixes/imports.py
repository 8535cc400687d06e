"""Import statements, narrowed, widened and written anew, with comments and layout kept."""

import ast
from collections.abc import Collection, Sequence

import libcst as cst

from contract_guard.facts.model import Span
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Edit


def without(statement: str, names: Collection[tuple[str, str | None]], width: int) -> str:
    """`from m import a, b` without some of its (name, as) pairs, "" where none is left.

    `width` is what a line may hold from where the statement begins. A list that was spread over
    lines because it did not fit comes together where it does now.
    """
    node = _import_from(statement)
    aliases = [*_aliases(node)]
    kept = [alias for alias in aliases if _pair(alias) not in names]
    if not kept:
        return ""
    if kept[-1] is not aliases[-1]:
        kept[-1] = kept[-1].with_changes(comma=_closing(kept[-1].comma, aliases[-1].comma))
    changed = node.with_changes(names=kept)
    if len(kept) == 1 and node.lpar is not None and "\n" not in _code(changed):
        changed = changed.with_changes(
            names=[kept[0].with_changes(comma=cst.MaybeSentinel.DEFAULT)], lpar=None, rpar=None
        )
    if len(_flat(statement)) > width and len(_flat(_code(changed))) <= width:
        return _flat(_code(changed)) if _is_plain(_code(changed)) else _code(changed)
    return _fitted(changed, width)


def renamed(
    statement: str, old: tuple[str, str | None], new: tuple[str, str | None], width: int
) -> str:
    """`from m import a` with one of its (name, as) pairs replaced, and in order if it was."""
    node = _import_from(statement)
    aliases = [*_aliases(node)]
    if new in map(_pair, aliases):
        return without(statement, {old}, width)
    was_sorted = _is_sorted(aliases)
    changed = [_named(alias, new) if _pair(alias) == old else alias for alias in aliases]
    if was_sorted and not _is_sorted(changed):
        places = sorted(changed, key=_key)
        changed = [
            alias.with_changes(comma=place.comma)
            for alias, place in zip(places, aliases, strict=True)
        ]
        if any(_has_comment(alias) for alias in aliases):
            changed = [_named(alias, new) if _pair(alias) == old else alias for alias in aliases]
    return _fitted(node.with_changes(names=changed), width)


def widened(statement: str, new: tuple[str, str | None], width: int) -> str:
    """`from m import a` with one more (name, as) pair: in order where the others are, else last."""
    node = _import_from(statement)
    aliases = [*_aliases(node)]
    if new in map(_pair, aliases):
        return statement
    added = _named(cst.ImportAlias(cst.Name("_")), new)
    at = len(aliases)
    if _is_sorted(aliases):
        at = next((i for i, alias in enumerate(aliases) if _key(alias) > _key(added)), at)
    between = cst.Comma(whitespace_after=_between(node, aliases))
    if at == len(aliases):
        last = aliases[-1]
        aliases[-1] = last.with_changes(comma=_closing(last.comma, between))
        added = added.with_changes(comma=_closing(between, last.comma))
    else:
        added = added.with_changes(comma=between)
    aliases.insert(at, added)
    return _fitted(node.with_changes(names=aliases), width)


def written(module: str, pair: tuple[str, str | None], width: int) -> str:
    """A new `from module import name`."""
    name, bound = pair
    text = f"from {module} import {name}" + (f" as {bound}" if bound else "")
    return _fitted(_import_from(text), width)


def adding(
    file: File,
    near: ast.stmt,
    module: str,
    pair: tuple[str, str | None],
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


_Whitespace = cst.BaseParenthesizableWhitespace
_MaybeComma = cst.Comma | cst.MaybeSentinel


def _between(node: cst.ImportFrom, aliases: Sequence[cst.ImportAlias]) -> _Whitespace:
    """What stands behind a comma inside of the list, without comments."""
    after: _Whitespace | None = None
    if len(aliases) > 1 and isinstance(aliases[0].comma, cst.Comma):
        after = aliases[0].comma.whitespace_after
    elif node.lpar is not None:
        after = node.lpar.whitespace_after
    return _bare(after) if after is not None else cst.SimpleWhitespace(" ")


def _bare(space: _Whitespace) -> _Whitespace:
    if isinstance(space, cst.ParenthesizedWhitespace):
        return space.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=())
    return cst.SimpleWhitespace(" ")


def _closing(own: _MaybeComma, place: _MaybeComma) -> _MaybeComma:
    """The comma of an alias that takes another place: with the layout of the place, and the
    comment that stood behind it before."""
    if not isinstance(own, cst.Comma) or not isinstance(
        own.whitespace_after, cst.ParenthesizedWhitespace
    ):
        if isinstance(place, cst.Comma):
            return place.with_changes(whitespace_after=_bare(place.whitespace_after))
        return place
    first_line = own.whitespace_after.first_line
    if isinstance(place, cst.Comma) and isinstance(
        place.whitespace_after, cst.ParenthesizedWhitespace
    ):
        after = place.whitespace_after.with_changes(first_line=first_line, empty_lines=())
        return place.with_changes(whitespace_after=after)
    if first_line.comment is not None:
        raise CannotFix("a comment stands where the list of imports would close")
    return place


def _import_from(statement: str) -> cst.ImportFrom:
    line = cst.parse_statement(statement)
    if isinstance(line, cst.SimpleStatementLine) and isinstance(line.body[0], cst.ImportFrom):
        return line.body[0]
    raise CannotFix("the statement is no `from ... import`")


def _aliases(node: cst.ImportFrom) -> Sequence[cst.ImportAlias]:
    if isinstance(node.names, cst.ImportStar):
        raise CannotFix("a star import brings the name")
    return node.names


def _code(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def _pair(alias: cst.ImportAlias) -> tuple[str, str | None]:
    return alias.evaluated_name, alias.evaluated_alias


def _named(alias: cst.ImportAlias, pair: tuple[str, str | None]) -> cst.ImportAlias:
    name, bound = pair
    asname = cst.AsName(cst.Name(bound)) if bound else None
    return alias.with_changes(name=cst.Name(name), asname=asname)


def _key(alias: cst.ImportAlias) -> tuple[int, str]:
    """The order of import sorters: constants, classes, then the rest."""
    name = alias.evaluated_name
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name


def _is_sorted(aliases: Sequence[cst.ImportAlias]) -> bool:
    keys = [_key(alias) for alias in aliases]
    return keys == sorted(keys)


def _has_comment(alias: cst.ImportAlias) -> bool:
    return "#" in _code(alias)


def _fitted(node: cst.ImportFrom, width: int) -> str:
    """The statement on one line, or in parentheses with a name a line where it does not fit."""
    text = _code(node)
    if "\n" in text:
        ends_with_comma = isinstance(_aliases(node)[-1].comma, cst.Comma)
        if ends_with_comma or not _is_plain(text) or len(_flat(text)) > width:
            return text
        return _flat(text)
    if len(text) <= width or node.lpar is not None:
        return text
    head, _, names = text.partition(" import ")
    lines = [f"    {name.strip()}," for name in names.split(",")]
    return "\n".join((f"{head} import (", *lines, ")"))


def _is_plain(text: str) -> bool:
    return "#" not in text and "\\" not in text


def _flat(text: str) -> str:
    """The statement on one line, without parentheses."""
    return " ".join(text.replace("(", " ").replace(")", " ").split()).rstrip(",")
