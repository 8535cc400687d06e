"""Findings that a project has accepted: the baseline's text, what is new beside it, and CG902 for
the entries that nothing answers to any more.

Findings are told apart by fingerprint and counted, so that a copy of a known one is new. The text
is made for merging: a block a file, a line an entry, sorted, an empty line between blocks.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from contract_guard.findings import Finding, fingerprint
from contract_guard.text import is_newer, plural, printable

VERSION = 1
_HEADER_START = "# contract-guard baseline "
_HEADER = f"{_HEADER_START}{VERSION}: written by `contract-guard baseline update`, not by hand"
_REPAIR = "`contract-guard baseline update` writes it anew"
NO_BASELINE = "it is no baseline: name another file, or take it away"
_ENTRY = re.compile(
    r"  (?P<rule>\S+) (?P<fingerprint>[0-9a-f]{16})(?:\*(?P<count>[1-9][0-9]{0,8}))? (?P<symbol>.*)"
)


class BaselineError(Exception):
    """The text is no baseline that this version can read; the message says why and what to do."""


class Entry(NamedTuple):
    """What is known of an accepted finding; `symbol` is for people."""

    path: str
    rule: str
    symbol: str
    fingerprint: str


class Known(NamedTuple):
    """How often an entry was accepted, and the line of the text that says so."""

    times: int
    line: int


Baseline = Mapping[Entry, Known]


def entries(findings: Iterable[Finding]) -> Counter[Entry]:
    """The findings as entries, with their number."""
    return Counter(Entry(f.path, f.rule, printable(f.symbol), f.fingerprint) for f in findings)


def dump(counts: Mapping[Entry, int]) -> str:
    """The text of a baseline."""
    blocks = [_HEADER]
    path = None
    for entry in sorted(counts):
        if entry.path != path:
            path = entry.path
            blocks.append(_written_path(path))
        times = f"*{counts[entry]}" if counts[entry] > 1 else ""
        blocks[-1] += f"\n  {entry.rule} {entry.fingerprint}{times} {entry.symbol}"
    return "\n\n".join(blocks) + "\n"


def parse(text: str) -> dict[Entry, Known]:
    """The entries of a baseline, in any order, each with the highest number that stands there:
    a clean merge may move or repeat them. Raises BaselineError."""
    if not is_replaceable(text):
        raise BaselineError(NO_BASELINE)
    lines = text.removeprefix("\ufeff").split("\n")
    if any(line.startswith(("<<<<<<<", "=======", ">>>>>>>")) for line in lines):
        raise BaselineError(f"it has conflict markers: settle the code, then {_REPAIR}")
    if not lines[0].startswith(_HEADER_START):
        raise BaselineError(f"its first line is not `{_HEADER_START}...`: {_REPAIR}")
    version = lines[0].removeprefix(_HEADER_START).partition(":")[0]
    if version != str(VERSION):
        what = "upgrade it" if is_newer(version, VERSION) else _REPAIR
        raise BaselineError(
            f"it has version {printable(version[:20])}, and this program knows {VERSION}: {what}"
        )
    found: dict[Entry, Known] = {}
    path = ""
    unused = 0  # the line of a path below which no entry stands yet
    for number, line in enumerate((*lines[1:], ""), 2):
        match = _ENTRY.fullmatch(line)
        if match is not None and path:
            entry = Entry(path, match["rule"], match["symbol"], match["fingerprint"])
            known = Known(int(match["count"] or 1), number)
            found[entry] = max(known, found.get(entry, known))
            unused = 0
        elif match is not None or line.startswith(" "):
            raise BaselineError(f"line {number} is no entry of a file: {_REPAIR}")
        elif unused:
            raise BaselineError(f"line {unused} is neither an entry nor the path of any: {_REPAIR}")
        elif line:
            path, unused = _read_path(line, number), number
    return found


def is_replaceable(text: str) -> bool:
    """Whether nothing but a baseline is lost with a text: it is empty, or has a baseline's first
    line somewhere, however damaged the rest."""
    return not text.strip() or _HEADER_START in text


def _written_path(path: str) -> str:
    return path if path.isprintable() and path[0] not in ' "#<=>' else json.dumps(path)


def _read_path(line: str, number: int) -> str:
    if not line.startswith('"'):
        return line
    try:
        return str(json.loads(line))
    except ValueError:
        raise BaselineError(f"line {number} is no path: {_REPAIR}") from None


def beyond(findings: Iterable[Finding], known: Mapping[str, int]) -> list[Finding]:
    """The findings of which more are there than are known, `known` by fingerprint. Which of
    several alike is the new one nobody can tell: the last are taken for it."""
    left = Counter(known)
    new: list[Finding] = []
    for finding in findings:
        if left[finding.fingerprint] > 0:
            left[finding.fingerprint] -= 1
        else:
            new.append(finding)
    return new


def counts_of(baseline: Baseline) -> Counter[str]:
    """How often each fingerprint is known."""
    counts: Counter[str] = Counter()
    for entry, known in baseline.items():
        counts[entry.fingerprint] += known.times
    return counts


def stale(
    baseline: Baseline,
    findings: Iterable[Finding],
    where: str,
    is_judged: Callable[[Entry], bool],
) -> Iterator[Finding]:
    """CG902: entries that fewer findings answer to than they say, at their lines of the file
    `where`. `is_judged` tells entries of which the findings were looked for."""
    there = Counter(finding.fingerprint for finding in findings)
    for entry, known in baseline.items():
        left = there[entry.fingerprint]
        if left >= known.times or not is_judged(entry):
            continue
        what = f"{entry.rule} on `{entry.symbol}` in {printable(entry.path)}"
        of_several = f"{plural(known.times, 'finding')} {entry.rule}"
        yield Finding(
            rule="CG902",
            severity="warning",
            path=where,
            line=known.line,
            column=1,
            end_line=known.line,
            end_column=2,
            symbol=entry.symbol,
            message=f"the baseline holds {what}, which is no longer found"
            if not left
            else f"the baseline holds {of_several} on `{entry.symbol}` in "
            f"{printable(entry.path)}, and {left:,} {'is' if left == 1 else 'are'} found",
            help="take it out, so that it cannot hide the next one: "
            "contract-guard baseline update --prune",
            fingerprint=fingerprint("CG902", where, entry.path, entry.symbol, entry.fingerprint),
        )
