"""Import statements that have a layout of their own (parentheses, comments, line ends): narrowed,
widened and renamed by libcst, with all of that kept. `imports` has the plain ones."""

from collections.abc import Collection, Sequence

import libcst as cst

from contract_guard.fixes.model import CannotFix
from contract_guard.fixes.name_list import Pair, fitted, is_sorted, place_for, sort_key


def without(statement: str, names: Collection[Pair], width: int) -> str:
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


def renamed(statement: str, old: Pair, new: Pair, width: int) -> str:
    """`from m import a` with one of its (name, as) pairs replaced, and in order if it was."""
    node = _import_from(statement)
    aliases = [*_aliases(node)]
    if new in map(_pair, aliases):
        return without(statement, {old}, width)
    was_sorted = is_sorted(map(_pair, aliases))
    changed = [_named(alias, new) if _pair(alias) == old else alias for alias in aliases]
    if was_sorted and not is_sorted(map(_pair, changed)):
        places = sorted(changed, key=lambda alias: sort_key(_pair(alias)))
        changed = [
            alias.with_changes(comma=place.comma)
            for alias, place in zip(places, aliases, strict=True)
        ]
        if any(_has_comment(alias) for alias in aliases):
            changed = [_named(alias, new) if _pair(alias) == old else alias for alias in aliases]
    return _fitted(node.with_changes(names=changed), width)


def widened(statement: str, new: Pair, width: int) -> str:
    """`from m import a` with one more (name, as) pair: in order where the others are, else last."""
    node = _import_from(statement)
    aliases = [*_aliases(node)]
    if new in map(_pair, aliases):
        return statement
    added = _named(cst.ImportAlias(cst.Name("_")), new)
    at = place_for(new, [*map(_pair, aliases)])
    between = cst.Comma(whitespace_after=_between(node, aliases))
    if at == len(aliases):
        last = aliases[-1]
        aliases[-1] = last.with_changes(comma=_closing(last.comma, between))
        added = added.with_changes(comma=_closing(between, last.comma))
    else:
        added = added.with_changes(comma=between)
    aliases.insert(at, added)
    return _fitted(node.with_changes(names=aliases), width)


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
    return text if node.lpar is not None else fitted(text, width)


def _is_plain(text: str) -> bool:
    return "#" not in text and "\\" not in text


def _flat(text: str) -> str:
    """The statement on one line, without parentheses."""
    return " ".join(text.replace("(", " ").replace(")", " ").split()).rstrip(",")
