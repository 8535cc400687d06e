"""Accuracy of the mirror rules (CG301, CG302, CG304) on labelled tests.

    python benchmarks/mirrors.py LABELS REPOSITORIES [--fit] [--symilar PATH] [--json FILE]

LABELS is a file of one JSON object a line: `repo`, `file`, `function`, `line`, `label`
(`MIRROR_*` or another), `confidence`, `batch`, `mirrors` (production places). REPOSITORIES holds a
checkout of each repository under its name.

Prints precision, recall (all, high confidence) and the share of random tests that are flagged,
with 95% Wilson intervals, for all rows and for targeted and random rows apart: with the weights as
shipped (warnings alone, and with notes), with weights fitted on the other repositories alone
(leave one out; the conditions of `mirrors/verdict.py` stay as shipped), and for two baselines:
runs of tokens, and pylint's duplicate-code where `--symilar` names its program. Then the
calibration of the score, and with --fit the weights fitted on all rows.
"""

import argparse
import ast
import gc
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from duplicates import CLONE_TOKENS, Tokens, has_duplicate_lines, longest_clone

from contract_guard.facts.model import FileFragments, Unreadable
from contract_guard.facts.reader import read
from contract_guard.mirrors.copies import copy_of, is_note
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.search import Search
from contract_guard.mirrors.verdict import BIAS, MIRROR, WEIGHTS, features

_TESTS = frozenset({"tests", "test", "testing"})
_OTHER = frozenset({"benchmark", "benchmarks", "examples", "docs", "third_party"})
_BINS = (0.0, 0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.01)


@dataclass(frozen=True)
class Candidate:
    """A resemblance that meets every condition but that of the score: its signals, and whether it
    would be a note, a warning whatever its score (a twin, a shadow copy), or at the right place."""

    signals: tuple[float, ...]
    is_note: bool
    is_certain: bool
    is_right: bool


@dataclass
class Row:
    """One labelled test with what was found. `best` are the signals of its best resemblance,
    conditions met or not; `clone` is the longest run of tokens that it shares with one production
    function; `duplicate` is pylint's verdict, None if it was not asked."""

    repo: str
    is_mirror: bool
    is_high: bool
    is_random: bool
    candidates: list[Candidate]
    best: tuple[float, ...] | None
    clone: int
    duplicate: bool | None

    def probability(self, weights: Sequence[float], bias: float, notes: bool = True) -> float:
        return max(
            (
                1.0 if c.is_certain else sigmoid(bias + dot(weights, c.signals))
                for c in self.candidates
                if notes or not c.is_note
            ),
            default=0.0,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("labels", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("--fit", action="store_true", help="print weights fitted on all rows")
    parser.add_argument("--symilar", help="pylint's symilar, for the second baseline")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    labels = [json.loads(line) for line in arguments.labels.read_text().splitlines()]
    gc.disable()
    rows: list[Row] = []
    for repo in sorted({label["repo"] for label in labels}):
        started = time.process_time()
        root = arguments.repositories / repo
        search, trees = open_repository(root)
        own = [label for label in labels if label["repo"] == repo]
        known: Tokens = {}
        rows += [row_of(search, trees, label, known, root, arguments.symilar) for label in own]
        print(f"{repo}: {len(own)} tests, {time.process_time() - started:.1f} s of processor time")
    fitted = {repo: fit([r for r in rows if r.repo != repo]) for repo in {r.repo for r in rows}}
    flags: dict[str, Callable[[Row], bool]] = {
        "as shipped, warnings and notes": lambda r: r.probability(WEIGHTS, BIAS) >= MIRROR,
        "as shipped, warnings alone": lambda r: r.probability(WEIGHTS, BIAS, False) >= MIRROR,
        "leave one repository out": lambda r: r.probability(*fitted[r.repo]) >= MIRROR,
        f"baseline: {CLONE_TOKENS} tokens alike": lambda r: r.clone >= CLONE_TOKENS,
    }
    if arguments.symilar:
        flags["baseline: pylint's duplicate-code"] = lambda r: bool(r.duplicate)
    else:
        print("pylint's duplicate-code was not run: no --symilar")
    results = {
        f"{name}, {part}": measures([r for r in rows if chosen(r)], flag)
        for name, flag in flags.items()
        for part, chosen in {
            "all rows": lambda _: True,
            "targeted": lambda r: not r.is_random,
            "random": lambda r: r.is_random,
        }.items()
    }
    for name, result in results.items():
        print(f"\n{name}")
        for key, (hits, total) in result.items():
            low, high = wilson(hits, total)
            share = f"{hits / total:.2f}" if total else "   -"
            print(f"  {key:24} {hits:3}/{total:<3} {share}  [{low:.2f}, {high:.2f}]")
    right = [any(c.is_right for c in r.candidates) for r in rows if r.is_mirror and r.candidates]
    print(f"\nthe place named by the label is among those found: {sum(right)}/{len(right)}")
    print("\ncalibration, leave one repository out: score, tests, of these mirrors")
    for low, high, count, mirrors in calibration(rows, fitted):
        print(f"  {low:.1f} to {min(high, 1):.1f}  {count:3}  {mirrors:3}")
    if arguments.fit:
        weights, bias = fit(rows)
        print("\nfitted on all:", [round(w, 3) for w in weights], round(bias, 3))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))


def open_repository(root: Path) -> tuple[Search, dict[str, ast.Module]]:
    files: dict[str, FileFragments] = {}
    trees: dict[str, ast.Module] = {}
    texts: dict[str, str] = {}
    for path in sorted(root.rglob("*.py")):
        if path.is_file():
            found = read(path.read_bytes())
            if isinstance(found, Unreadable):
                continue
            name = path.relative_to(root).as_posix()
            texts[name], trees[name] = found[0].text, found[1]
            files[name] = file_fragments(trees[name])
    return Search(files, frozenset(filter(is_test, files)), texts.__getitem__), trees


def is_test(path: str) -> bool:
    *directories, name = path.split("/")
    return (
        not (_TESTS | _OTHER).isdisjoint(directories)
        or any(directory.startswith(".") for directory in directories)
        or name.startswith("test_")
        or name in ("conftest.py",)
        or name.endswith("_test.py")
    )


def row_of(
    search: Search,
    trees: dict[str, ast.Module],
    label: dict[str, object],
    known: Tokens,
    root: Path,
    symilar: str | None,
) -> Row:
    path = str(label["file"])
    if path not in search.index.files:
        path = path.partition("/")[2]
    test = min(
        (f for f in search.index.files[path].functions if f.qualname == label["function"]),
        key=lambda f: abs(f.start - int(str(label["line"]))),
    )
    places = {
        (str(place["file"]), str(place["qualname"]).rsplit(".", 1)[-1])
        for place in label["mirrors"]  # type: ignore[attr-defined]
    }
    candidates: list[Candidate] = []
    signals: list[tuple[float, ...]] = []
    for found in search.resemblances(path, test):
        own = features(found.match, found.reach)
        signals.append(own)
        copy = copy_of(found, threshold=0.0)
        if copy is not None:
            name = copy.production.qualname.rsplit(".", 1)[-1]
            is_right = any(f.endswith(copy.production.path) and n == name for f, n in places)
            certain = copy.is_shadow or copy.is_twin
            candidates.append(Candidate(own, is_note(copy), certain, is_right))
    duplicate = None
    if symilar:
        lines = range(test.start, test.end + 1)
        duplicate = has_duplicate_lines(symilar, root, search, path, lines, test.calls)
    return Row(
        str(label["repo"]),
        str(label["label"]).startswith("MIRROR"),
        label["confidence"] == "high",
        label["batch"] == "random",
        candidates,
        max(signals, key=lambda f: f[0], default=None),
        longest_clone(search, trees, path, test.start, known),
        duplicate,
    )


def measures(rows: list[Row], flags: Callable[[Row], bool]) -> dict[str, tuple[int, int]]:
    flagged = [row for row in rows if flags(row)]
    right = sum(row.is_mirror for row in flagged)
    high = [row for row in rows if row.is_mirror and row.is_high]
    random = [row for row in rows if row.is_random]
    return {
        "precision": (right, len(flagged)),
        "recall": (right, sum(row.is_mirror for row in rows)),
        "recall, high confidence": (sum(map(flags, high)), len(high)),
        "random tests flagged": (sum(map(flags, random)), len(random)),
    }


def calibration(
    rows: list[Row], fitted: dict[str, tuple[list[float], float]]
) -> Iterable[tuple[float, float, int, int]]:
    """Of the tests whose best resemblance has a score within each bin, how many are mirrors."""
    scored = [
        (sigmoid(fitted[r.repo][1] + dot(fitted[r.repo][0], r.best)), r.is_mirror)
        for r in rows
        if r.best is not None
    ]
    for low, high in itertools.pairwise(_BINS):
        inside = [is_mirror for score, is_mirror in scored if low <= score < high]
        yield low, high, len(inside), sum(inside)


def fit(
    rows: list[Row], steps: int = 4000, rate: float = 0.3, decay: float = 0.02
) -> tuple[list[float], float]:
    """Logistic regression on the best resemblance of each test, weights not below 0. A test that
    resembles nothing has no signals, and says how likely a mirror is without any."""
    none = (0.0,) * len(WEIGHTS)
    examples = [(row.best or none, float(row.is_mirror)) for row in rows]
    weights, bias = [0.0] * len(WEIGHTS), 0.0
    for _ in range(steps):
        slopes, slope = [decay * w for w in weights], 0.0
        for signals, truth in examples:
            error = (sigmoid(bias + dot(weights, signals)) - truth) / len(examples)
            slope += error
            slopes = [s + error * x for s, x in zip(slopes, signals, strict=True)]
        bias -= rate * slope
        weights = [max(0.0, w - rate * s) for w, s in zip(weights, slopes, strict=True)]
    return weights, bias


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95% interval of a share."""
    if not total:
        return 0.0, 1.0
    share, scale = hits / total, 1 + z * z / total
    middle = share + z * z / (2 * total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return (middle - spread) / scale, (middle + spread) / scale


def dot(weights: Iterable[float], signals: Iterable[float]) -> float:
    return sum(w * s for w, s in zip(weights, signals, strict=True))


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, value))))


if __name__ == "__main__":
    main()
