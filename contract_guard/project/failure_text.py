"""What an error text of Python, or a log of pytest, says is missing."""

import re
from collections.abc import Iterator
from typing import NamedTuple

_NAME = r"[A-Za-z_][\w.]*"
_IMPORT = re.compile(
    rf"cannot import name '({_NAME})' from (?:partially initialized module )?'({_NAME})'"
)
_MODULE = re.compile(rf"No module named '({_NAME})'")
_ATTRIBUTE = re.compile(
    rf"(?:partially initialized )?module '({_NAME})' has no attribute '([A-Za-z_]\w*)'"
)
_PATCHED = re.compile(
    rf"<(module|class) '({_NAME})'[^>]*> does not have the attribute '([A-Za-z_]\w*)'"
)
_MOST = 50


class Missing(NamedTuple):
    """A symbol that the text says is missing, and the line that says so."""

    symbol: str
    said: str


def missing_symbols(text: str) -> list[Missing]:
    """The symbols in order of appearance, each once; `pkg.mod` for a module."""
    found: dict[str, Missing] = {}
    for line in text.splitlines():
        for symbol in _in_line(line):
            if len(found) < _MOST:
                found.setdefault(symbol, Missing(symbol, line.strip().removeprefix("E").strip()))
    return list(found.values())


def _in_line(line: str) -> Iterator[str]:
    for match in _IMPORT.finditer(line):
        yield f"{match[2]}:{match[1]}"
    for match in _MODULE.finditer(line):
        yield match[1]
    for match in _ATTRIBUTE.finditer(line):
        yield f"{match[1]}:{match[2]}"
    for match in _PATCHED.finditer(line):
        module, _, last = match[2].rpartition(".")
        is_class = match[1] == "class"
        yield f"{module}:{last}.{match[3]}" if is_class else f"{match[2]}:{match[3]}"
