"""Accuracy of the mirror rules on labelled tests.

    python benchmarks/mirrors.py LABELS REPOSITORIES [--json FILE]

LABELS is a file of one JSON object a line: `repo`, `file`, `function`, `line`, `label`
(`MIRROR_*` or another), `confidence`, `batch`, `mirrors` (production places). REPOSITORIES holds a
checkout of each repository under its name. Prints precision, recall (all, high confidence) and
the share of random tests that are flagged, with 95% Wilson intervals: for the weights as shipped,
for weights fitted on the other repositories alone (leave one out; the substance conditions of
`mirrors/verdict.py` stay as shipped), and for a token-clone baseline.
"""

import argparse
import ast
import gc
import io
import json
import math
import time
import tokenize
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from contract_guard.facts.model import FileFragments
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.index import IMPORTED
from contract_guard.mirrors.search import Resemblance, Search
from contract_guard.mirrors.verdict import (
    BIAS,
    MIRROR,
    WEIGHTS,
    features,
    has_substance,
)

_TESTS = frozenset({"tests", "test", "testing"})
_OTHER = frozenset({"benchmark", "benchmarks", "examples", "docs", "third_party"})
_CLONE_TOKENS = 24
Tokens = dict[tuple[str, int], list[str]]


@dataclass
class Row:
    """One labelled test with what was found. `clone` is the longest run of tokens, names and
    numbers made alike, that it shares with one production function."""

    repo: str
    is_mirror: bool
    is_high: bool
    is_random: bool
    candidates: list[tuple[tuple[float, ...], bool, bool]]  # features, substance, right place
    clone: int

    def probability(self, weights: Sequence[float], bias: float) -> float:
        return max(
            (sigmoid(bias + dot(weights, f)) for f, substance, _ in self.candidates if substance),
            default=0.0,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("labels", type=Path)
    parser.add_argument("repositories", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    labels = [json.loads(line) for line in arguments.labels.read_text().splitlines()]
    gc.disable()
    rows: list[Row] = []
    for repo in sorted({label["repo"] for label in labels}):
        started = time.perf_counter()
        search = open_repository(arguments.repositories / repo)
        own = [label for label in labels if label["repo"] == repo]
        known: Tokens = {}
        rows += [row_of(search, label, known) for label in own]
        print(f"{repo}: {len(own)} tests, {time.perf_counter() - started:.1f} s")
    results = {
        "as shipped": measures(rows, lambda row: row.probability(WEIGHTS, BIAS) >= MIRROR),
        "leave one repository out": measures(rows, left_out(rows)),
        f"token clones of {_CLONE_TOKENS}": measures(rows, lambda row: row.clone >= _CLONE_TOKENS),
    }
    for name, result in results.items():
        print(f"\n{name}")
        for key, (hits, total) in result.items():
            low, high = wilson(hits, total)
            share = hits / max(total, 1)
            print(f"  {key:24} {hits:3}/{total:<3} {share:.2f}  [{low:.2f}, {high:.2f}]")
    weights, bias = fit(rows)
    print("\nfitted on all:", [round(w, 3) for w in weights], round(bias, 3))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2))


def open_repository(root: Path) -> Search:
    files: dict[str, FileFragments] = {}
    trees: dict[str, ast.Module] = {}
    for path in sorted(root.rglob("*.py")):
        if path.is_file():
            try:
                tree = ast.parse(path.read_bytes())
            except (SyntaxError, ValueError):
                continue
            name = path.relative_to(root).as_posix()
            trees[name], files[name] = tree, file_fragments(tree)
    return Search(files, frozenset(filter(is_test, files)), trees.__getitem__)


def is_test(path: str) -> bool:
    *directories, name = path.split("/")
    return (
        not (_TESTS | _OTHER).isdisjoint(directories)
        or any(directory.startswith(".") for directory in directories)
        or name.startswith("test_")
        or name in ("conftest.py",)
        or name.endswith("_test.py")
    )


def row_of(search: Search, label: dict[str, object], known: Tokens) -> Row:
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

    def is_right(found: Resemblance) -> bool:
        name = found.entry.function.qualname.rsplit(".", 1)[-1]
        return any(f.endswith(found.entry.path) and n == name for f, n in places)

    found = [r for r in search.resemblances(path, test) if r.reach >= IMPORTED]
    return Row(
        str(label["repo"]),
        str(label["label"]).startswith("MIRROR"),
        label["confidence"] == "high",
        label["batch"] == "random",
        [(features(r.match, r.reach), has_substance(r.match, r.reach), is_right(r)) for r in found],
        longest_clone(search, path, test.start, known),
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


def left_out(rows: list[Row]) -> Callable[[Row], bool]:
    fitted = {
        repo: fit([row for row in rows if row.repo != repo]) for repo in {r.repo for r in rows}
    }
    return lambda row: row.probability(*fitted[row.repo]) >= MIRROR


def fit(
    rows: list[Row], steps: int = 4000, rate: float = 0.3, decay: float = 0.02
) -> tuple[list[float], float]:
    """Logistic regression on the best candidate of each test, weights not below 0."""
    examples: list[tuple[tuple[float, ...], float]] = []
    for row in rows:
        best = max((c[0] for c in row.candidates), key=lambda f: f[0], default=None)
        if best is not None:
            examples.append((best, float(row.is_mirror)))
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


def longest_clone(search: Search, path: str, start: int, known: Tokens) -> int:
    """The longest common run of tokens of a test and a production function near it."""
    own = tokens_of(search, path, start, known)
    best = 0
    for number in search.index.reach(path, ()):
        place, function = search.index.entries[number]
        best = common_run(own, tokens_of(search, place, function.start, known), best)
    return best


def tokens_of(search: Search, path: str, start: int, known: Tokens) -> list[str]:
    if (path, start) not in known:
        for node in ast.walk(search.parse(path)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                known[path, node.lineno] = tokens(ast.unparse(node))
    return known[path, start]


def tokens(source: str) -> list[str]:
    """Operators as they are, names and numbers all alike."""
    found: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type in (tokenize.NAME, tokenize.NUMBER):
            found.append(str(token.type))
        elif token.type == tokenize.OP:
            found.append(token.string)
    return found


def common_run(a: list[str], b: list[str], least: int) -> int:
    """The length of the longest common run, if longer than `least`, else `least`."""
    length = least + 1
    while length <= min(len(a), len(b)):
        runs = {tuple(a[i : i + length]) for i in range(len(a) - length + 1)}
        if not any(tuple(b[i : i + length]) in runs for i in range(len(b) - length + 1)):
            break
        length += 1
    return length - 1


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
