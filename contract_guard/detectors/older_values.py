"""CG203 where a test gets an id that a constant of production had once, before this change."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.constants import production_modules
from contract_guard.detectors.former_texts import innermost_function
from contract_guard.facts.model import ModuleFacts, Span
from contract_guard.findings import Finding
from contract_guard.registry.contents import changed_paths

# What nobody writes by chance: a number of five digits or more, a digest (MD5 or a longer one).
_NUMBER = re.compile(r"\d{5,}")
_DIGEST = re.compile(r"\b(?=[a-f]*\d)[0-9a-f]{32,}\b")


class Former(NamedTuple):
    """A constant, by its file and qualified name, that lost a value, and the commit that took it:
    `1a2b3c4d5e (2026-03-02)`."""

    path: str
    qualname: str
    commit: str


History = Callable[[Collection[str], Collection[str]], Mapping[str, Former]]
"""Takes numbers and digests, and paths of production; gives those that were the value of a constant
in one of these files, before the oldest revision that is compared."""


class _New(NamedTuple):
    """A number or digest that a test has since the older revision, and the files of production
    that it leans on, with their modules."""

    path: str
    facts: ModuleFacts
    text: str
    span: Span
    leaning: Mapping[str, str]


def older_values(context: Context, old: Context, history: History) -> Iterable[Finding]:
    """Ids that tests write for the first time, and that a module imported there had as the value
    of a constant once, but does not name now."""
    found = list(_new_ids(context, old))
    if not found:
        return
    former = history({new.text for new in found}, {path for new in found for path in new.leaning})
    for new in found:
        was = former.get(new.text)
        if was is None or was.path not in new.leaning:
            continue
        symbol = f"{new.leaning[was.path]}:{was.qualname}"
        scope = innermost_function(new.facts, new.span.line)
        yield context.finding(
            "CG203",
            "warning",
            Site(new.path, new.facts, new.span, new.span, scope, -1),
            symbol,
            f"{new.text} is what `{symbol}` was before {was.commit}",
            "take the constant, or its value of today; or say in a comment that the old value is"
            " the contract",
            impact="silent",
            identity=new.text,
        )


def _new_ids(context: Context, old: Context) -> Iterator[_New]:
    registry = context.registry
    for path in sorted(changed_paths(old.registry.tree, registry.tree)):
        facts = registry.tree.files.get(path)
        if not isinstance(facts, ModuleFacts) or not registry.layout.is_test(path):
            continue
        before = old.text(path) if path in old.registry.tree.files else ""
        ids = [(t, span) for t, span in _ids(facts, context.text(path)) if t not in before]
        if not ids:
            continue
        modules = [m for m in production_modules(context, path, facts) if m.tree == 0 and m.facts]
        now = [context.text(module.path) for module in modules]
        leaning = {module.path: module.name for module in modules}
        for text, span in ids:
            if not any(text in each for each in now):
                yield _New(path, facts, text, span, leaning)


def _ids(facts: ModuleFacts, source: str) -> Iterator[tuple[str, Span]]:
    """Numbers that stand alone, and digests wherever they stand, in longer texts too."""
    for literal in facts.literals:
        if _NUMBER.fullmatch(literal.value):
            yield literal.value, literal.span
    for number, line in enumerate(source.split("\n"), 1):
        for match in _DIGEST.finditer(line):
            yield match[0], Span(number, match.start() + 1, number, match.end() + 1)
