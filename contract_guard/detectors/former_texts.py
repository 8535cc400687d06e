"""CG203 where a text inside of production changed: tests that still write the former one."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from contract_guard.detectors.base import Context, Site
from contract_guard.facts.literals import MAX_TEXT, is_distinctive_text
from contract_guard.facts.model import ModuleFacts, Span
from contract_guard.findings import Finding
from contract_guard.registry.contents import changed_paths
from contract_guard.registry.model import Change

# A string on one line, without escapes, placeholders, and pieces put in.
_LITERAL = re.compile(rf"""(?<![\w"'])(["'])([^"'\\{{}}%\n]{{8,{MAX_TEXT}}})\1(?!["'])""")
_KEY = re.compile(r"[A-Z][A-Z0-9]*_[A-Z0-9_]+")  # as of an environment variable
_FEWEST_SPACES = 2  # of prose
_ALIKE = 0.8
_MOST = 100  # texts of one file that are compared with others


class _Replaced(NamedTuple):
    """What took the place of a text, and the function or the module that has it."""

    text: str
    symbol: str


def former_texts(context: Context, old: Context, _changes: Iterable[Change]) -> Iterable[Finding]:
    """Literals in tests, each whole, that were a message or a key of production, that no file of
    production has any more, and for which the same file has one much like it now."""
    replaced = dict(_replaced(context, old))
    if not replaced:
        return
    registry = context.registry
    sought = re.compile(b"|".join(re.escape(text.encode()) for text in replaced))
    hits: list[tuple[str, ModuleFacts]] = []
    for path, facts in registry.facts():
        if registry.layout.is_test_module(path) and sought.search(context.read(path)):
            hits.append((path, facts))
    if not hits:
        return
    for path, _ in registry.whole.facts():
        if not registry.layout.is_test(path) and sought.search(context.read(path)):
            for text in _literals(context.text(path).split("\n")):
                replaced.pop(text, None)
    for path, facts in hits:
        yield from _in_file(context, path, facts, replaced)


def _replaced(context: Context, old: Context) -> Iterator[tuple[str, _Replaced]]:
    registry = context.registry
    for path in sorted(changed_paths(old.registry.tree, registry.tree)):
        before, after = old.registry.tree.files.get(path), registry.tree.files.get(path)
        if not isinstance(before, ModuleFacts) or not isinstance(after, ModuleFacts):
            continue
        if registry.layout.is_test(path):
            continue
        was, now = old.text(path).split("\n"), context.text(path).split("\n")
        kept = set(was) & set(now)
        gone = [t for t in _literals(line for line in was if line not in kept) if _is_telling(t)]
        came = list(_literals(line for line in now if line not in kept))
        if len(gone) <= _MOST and len(came) <= _MOST:
            for text in dict.fromkeys(gone):
                other = _nearest(text, came)
                if other is not None:
                    line = next(n for n, line in enumerate(now, 1) if other in line)
                    scope = after.scopes[innermost_function(after, line)]
                    module = registry.module(path).name
                    symbol = f"{module}:{scope.qualname}" if scope.qualname else module
                    yield text, _Replaced(other, symbol)


def _literals(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if not line.lstrip().startswith("#"):
            for match in _LITERAL.finditer(line):
                yield match[2]


def _is_telling(text: str) -> bool:
    """A sentence, a key in capitals, or an id."""
    is_prose = text.count(" ") >= _FEWEST_SPACES
    return is_prose or _KEY.fullmatch(text) is not None or is_distinctive_text(text)


def _nearest(text: str, others: Sequence[str]) -> str | None:
    """The text that took the place of one: the same with something more, or much like it."""
    if text in others:
        return None
    for other in others:
        if text in other and _is_telling(other):
            return other
    alike = [(SequenceMatcher(None, text, other).ratio(), other) for other in others]
    ratio, best = max(alike, default=(0.0, None))
    return best if ratio >= _ALIKE else None


def _in_file(
    context: Context, path: str, facts: ModuleFacts, replaced: Mapping[str, _Replaced]
) -> Iterator[Finding]:
    for number, line in enumerate(context.text(path).split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        for match in _LITERAL.finditer(line):
            now = replaced.get(match[2])
            if now is None:
                continue
            span = Span(number, match.start() + 1, number, match.end() + 1)
            yield context.finding(
                "CG203",
                "warning",
                Site(path, facts, span, span, innermost_function(facts, number), -1),
                now.symbol,
                f"{match[2]!r} is what `{now.symbol}` had before this change; it has "
                f"{now.text!r} now",
                "write the new text; or say in a comment that the old one is the contract",
                impact="silent",
                identity=match[2],
            )


def innermost_function(facts: ModuleFacts, line: int) -> int:
    """The scope of the innermost function around a line, 0 for the module."""
    around = (
        index
        for index, scope in enumerate(facts.scopes)
        if scope.kind == "function" and scope.span.line <= line <= scope.span.end_line
    )
    return max(around, default=0)
