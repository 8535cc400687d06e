"""Documents and configuration that name a symbol in full, where it has gone or moved."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from contract_guard.project.git_objects import Repository
from contract_guard.registry.compare import GOING
from contract_guard.registry.model import Change, Consumer

PATTERNS = (
    "*.md", "*.rst", "*.txt", "*.toml", "*.cfg", "*.ini", "*.yaml", "*.yml", "*.json", "*.ipynb",
)  # fmt: skip
_MOST_SYMBOLS = 400
_MOST_PLACES = 50


def with_documents(repository: Repository, commit: str, changes: Iterable[Change]) -> list[Change]:
    """The changes with the lines of the commit's documents that still name what is gone: as
    `package.module.NAME`, or as an entry point does, `package.module:NAME`."""
    changes = list(changes)
    gone = [c for c in changes if c.kind in GOING and "." in c.symbol and _is_gone(c)]
    spellings = {
        text: change.symbol
        for change in gone[:_MOST_SYMBOLS]
        for text in (change.symbol, change.symbol.replace(":", "."))
    }
    places: dict[str, list[Consumer]] = {}
    if spellings:
        word = re.compile("|".join(map(re.escape, sorted(spellings, key=len, reverse=True))))
        for path, line, text in repository.grep(commit, sorted(spellings), PATTERNS):
            for symbol in {spellings[found] for found in word.findall(text)}:
                places.setdefault(symbol, []).append(
                    Consumer(path=path, line=line, form="document", impact="silent")
                )
    return [_with(change, places.get(change.symbol, ())) for change in changes]


def _is_gone(change: Change) -> bool:
    """Not where the name stays as a way to what moved."""
    return change.replacement != change.symbol and any(
        c.updated or c.impact != "silent" for c in change.consumers
    )


def _with(change: Change, places: Sequence[Consumer]) -> Change:
    if not places or change.kind not in GOING:
        return change
    return msgspec.structs.replace(change, consumers=(*change.consumers, *places[:_MOST_PLACES]))
