"""A copy and what it copies, line by line: which lines stand next to each other, and what both
sides of such a pair have in common."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeVar

from contract_guard.findings import Finding, Related

# Words that say what a line computes: names of some length, and numbers of several digits.
_WORD = re.compile(r"[A-Za-z_]\w{2,}|\d[\d_.]+")
_NO_WORDS = frozenset(
    {"self", "torch", "numpy", "return", "None", "True", "False", "assert", "not", "and", "for"}
)
_LONG = 6  # a run of more lines than this without a pair is left out, but for its ends
_CONTEXT = 1  # lines of each end that are kept
_MOST_PAIRS = 300


class Line(NamedTuple):
    """A line of one side, without the indent of the whole. `shared` are ranges of `text` that the
    other side of its pair has too; `is_paired` says that there is one, next to it or elsewhere."""

    number: int
    text: str
    is_paired: bool
    shared: tuple[tuple[int, int], ...] = ()


class Row(NamedTuple):
    """Lines next to each other; with `is_pair` they do the same."""

    left: Line | None
    right: Line | None
    is_pair: bool = False


class Gap(NamedTuple):
    """How many lines of each side are left out."""

    left: int
    right: int


def paired(
    finding: Finding, related: Related, here: Sequence[str], there: Sequence[str]
) -> list[Row]:
    """The lines of a finding beside those of the related place, `here` and `there` being the lines
    of both files; [] where the place has no aligned lines. All aligned lines are in it."""
    aligned = [
        (left, right)
        for left, right in related.aligned[:_MOST_PAIRS]
        if left <= len(here) and right <= len(there)
    ]
    if not aligned:
        return []
    lefts = _numbers(finding.line, finding.end_line + 1, (left for left, _ in aligned), here)
    rights = _numbers(related.line, related.end_line, (right for _, right in aligned), there)
    left_lines = _lines(lefts, here, there, aligned)
    right_lines = _lines(rights, there, here, [(right, left) for left, right in aligned])
    rows: list[Row] = []
    at_left = at_right = 0
    for left, right in [*_chain(aligned, here, there), (None, None)]:
        end_left = lefts.index(left) if left is not None else len(lefts)
        end_right = rights.index(right) if right is not None else len(rights)
        between = max(end_left - at_left, end_right - at_right)
        for step in range(between):
            one, other = at_left + step, at_right + step
            rows.append(
                Row(
                    left_lines[one] if one < end_left else None,
                    right_lines[other] if other < end_right else None,
                )
            )
        if left is not None:
            rows.append(Row(left_lines[end_left], right_lines[end_right], is_pair=True))
        at_left, at_right = end_left + 1, end_right + 1
    return rows


def shortened(rows: Sequence[Row]) -> list[Row | Gap]:
    """The rows, with gaps in place of long runs that have no paired line."""
    marks = [any(line and line.is_paired for line in row[:2]) for row in rows]
    return [
        Gap(*map(len, sides(item))) if isinstance(item, list) else item
        for item in _without_runs(rows, marks)
    ]


def block(lines: Sequence[Line]) -> list[Line | int]:
    """One side alone, shortened likewise."""
    found = _without_runs(lines, [line.is_paired for line in lines])
    return [len(item) if isinstance(item, list) else item for item in found]


def sides(rows: Sequence[Row]) -> tuple[list[Line], list[Line]]:
    """The lines of each side by itself, in their order."""
    return (
        [row.left for row in rows if row.left is not None],
        [row.right for row in rows if row.right is not None],
    )


def _numbers(first: int, end: int, aligned: Iterable[int], lines: Sequence[str]) -> list[int]:
    wanted = {n for n in range(first, end) if n <= len(lines)}
    wanted.update(aligned)
    return sorted(wanted)


def _lines(
    numbers: Sequence[int],
    here: Sequence[str],
    there: Sequence[str],
    aligned: Sequence[tuple[int, int]],
) -> list[Line]:
    texts = [here[number - 1].expandtabs(4).rstrip() for number in numbers]
    indents = [len(text) - len(text.lstrip()) for text in texts if text]
    indent = min(indents, default=0)
    found: list[Line] = []
    for number, text in zip(numbers, texts, strict=True):
        others = [there[other - 1] for one, other in aligned if one == number]
        words = {word for other in others for word in _WORD.findall(other)} - _NO_WORDS
        text = text[indent:]
        shared = tuple(m.span() for m in _WORD.finditer(text) if m.group() in words)
        found.append(Line(number, text, bool(others), shared))
    return found


def _chain(
    aligned: Sequence[tuple[int, int]], here: Sequence[str], there: Sequence[str]
) -> list[tuple[int, int]]:
    """The longest run of pairs that go down on both sides; of two, the one with more words in
    common."""
    ordered = sorted(set(aligned))
    best: list[tuple[float, int]] = []  # worth of the chain that ends here, and what is before it
    for at, (left, right) in enumerate(ordered):
        words = set(_WORD.findall(here[left - 1])) & set(_WORD.findall(there[right - 1]))
        before = [
            (best[i][0], i) for i in range(at) if ordered[i][0] < left and ordered[i][1] < right
        ]
        worth, previous = max(before, default=(0.0, -1))
        best.append((worth + 1 + min(len(words), 9) / 1000, previous))
    at = max(range(len(best)), key=lambda i: best[i][0], default=-1)
    chain: list[tuple[int, int]] = []
    while at >= 0:
        chain.append(ordered[at])
        at = best[at][1]
    return chain[::-1]


_T = TypeVar("_T")


def _without_runs(items: Sequence[_T], marks: Sequence[bool]) -> list[_T | list[_T]]:
    """The items, with a list in place of what is left out."""
    found: list[_T | list[_T]] = []
    at = 0
    while at < len(items):
        end = at
        while end < len(items) and not marks[end]:
            end += 1
        if end - at > _LONG:
            head = _CONTEXT if at else 0
            tail = _CONTEXT if end < len(items) else 0
            found += items[at : at + head]
            found.append(list(items[at + head : end - tail]))
            found += items[end - tail : end]
        else:
            found += items[at:end]
        found += items[end : end + 1]
        at = end + 1
    return found
