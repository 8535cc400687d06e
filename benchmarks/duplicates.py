"""Baselines for copies of production in tests: runs of tokens, and pylint's duplicate-code."""

import ast
import io
import re
import subprocess
import tempfile
import tokenize
from collections.abc import Iterable, Mapping
from pathlib import Path

from contract_guard.mirrors.index import CALLEE
from contract_guard.mirrors.search import Search

CLONE_TOKENS = 24
_LINES = 4  # pylint's default
_BLOCK = re.compile(r"^==(?P<path>.*):\[(?P<start>\d+):(?P<end>\d+)\]$")
Tokens = dict[tuple[str, int], list[str]]


def longest_clone(
    search: Search, trees: Mapping[str, ast.Module], path: str, start: int, known: Tokens
) -> int:
    """The longest common run of tokens, names and numbers made alike, of a test (its file and
    first line) and a production function near it. `known` holds tokens from call to call."""
    own = _tokens_of(trees, path, start, known)
    best = 0
    for number in search.index.reach(path, ()):
        place, function = search.index.entries[number]
        best = _common_run(own, _tokens_of(trees, place, function.start, known), best)
    return best


def has_duplicate_lines(
    symilar: str, root: Path, search: Search, path: str, lines: range, calls: Iterable[str]
) -> bool:
    """True if `symilar` (pylint's duplicate-code on its own) finds a block of similar lines that
    touches `lines` of a test file and a production file with a function that the test calls, or
    that such a function calls."""
    reached = search.index.reach(path, calls)
    files = {search.index.entries[n].path for n, level in reached.items() if level >= CALLEE}
    if not files:
        return False
    command = [symilar, f"--duplicates={_LINES}", "--ignore-comments", "--ignore-docstrings"]
    command += ["--ignore-imports", path, *sorted(files)]
    with tempfile.TemporaryFile("w+") as output:
        subprocess.run(command, cwd=root, stdout=output, stderr=subprocess.DEVNULL, check=False)
        output.seek(0)
        group: list[tuple[str, range]] = []
        for line in output:
            block = _BLOCK.match(line.strip())
            if block:
                group.append((block["path"], range(int(block["start"]), int(block["end"]))))
            elif _joins(group, path, lines):
                return True
            else:
                group = []
    return _joins(group, path, lines)


def _joins(group: list[tuple[str, range]], path: str, lines: range) -> bool:
    touched = any(
        place == path and block.start < lines.stop and lines.start <= block.stop
        for place, block in group
    )
    return touched and any(place != path for place, _ in group)


def _tokens_of(trees: Mapping[str, ast.Module], path: str, start: int, known: Tokens) -> list[str]:
    if (path, start) not in known:
        for node in ast.walk(trees[path]):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                known[path, node.lineno] = _tokens(ast.unparse(node))
    return known[path, start]


def _tokens(source: str) -> list[str]:
    """Operators as they are, names and numbers all alike."""
    found: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.NUMBER):
            found.append(str(token.type))
        elif token.type == tokenize.OP:
            found.append(token.string)
    return found


def _common_run(a: list[str], b: list[str], least: int) -> int:
    """The length of the longest common run, if longer than `least`, else `least`."""
    length = least + 1
    while length <= min(len(a), len(b)):
        runs = {tuple(a[i : i + length]) for i in range(len(a) - length + 1)}
        if not any(tuple(b[i : i + length]) in runs for i in range(len(b) - length + 1)):
            break
        length += 1
    return length - 1
