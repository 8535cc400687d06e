"""The index of production: which functions share rare fragments with a test, and which of them
the test can reach."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from heapq import nlargest
from itertools import chain
from typing import NamedTuple

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.background import FREQUENCIES, PER
from contract_guard.mirrors.exports import Exports
from contract_guard.mirrors.operations import COMPUTING, words

# Fragments in a larger share of functions than this say nothing.
COMMON = 0.15
_POSTED = 0.03
# Say how values are held or passed on; a computation is told by what is inside.
STRUCTURE = words("slice element list tuple set dict star format format_spec call")
_KEYWORD = 0.5  # greatest weight of a keyword argument
_BACKGROUND = 2000  # functions that the general frequencies count for
_UNSEEN = 4.0  # weight of a fragment that production does not have
_TOTAL = 64  # functions by which their number counts
_STEPS = 256  # of a weight in 1: sums of such weights are exact in any order

# Reach of a production function from a test.
CALLED = 1.0
CALLEE = 0.85
NEARBY = 0.7  # second hop, or member of a class that the test names
IMPORTED = 0.5  # its module is imported, patched, or named by the test file
PACKAGE = 0.25
NONE = 0.0
_FAR = 0.4  # what a score counts for without reach


class Entry(NamedTuple):
    path: str
    function: FunctionFragments


class Candidate(NamedTuple):
    entry: int
    score: float
    reach: float


def is_trivial(op: str) -> bool:
    """True for operations that nearly every function has, and for those that only pass values on
    (layout, lookups, calls of other functions): they count a third."""
    return op in ("add", "sub", "neg") or op not in COMPUTING


class Rarity:
    """How rare a fragment is among production functions, 0 for common ones."""

    def __init__(self, functions: Iterable[FunctionFragments]) -> None:
        self._weights: dict[str, float] = {}
        self.asked: set[str] = set()  # the fragments whose weight was asked
        every = [function.fragments for function in functions]
        self.counts = Counter(chain.from_iterable(every))
        # In steps: one function more leaves the weights of what it does not have as they are.
        self.total = round(len(every) / _TOTAL) * _TOTAL

    def __call__(self, fragment: str) -> float:
        """The weight of a fragment: the logarithm of its rarity, a third for trivial operations,
        and for a piece of text at most what its length bears."""
        operation, _, leaf = fragment.partition(">")
        if operation in STRUCTURE or (not leaf and operation.endswith("=")):
            return 0.0
        self.asked.add(fragment)
        known = self._weights.get(fragment)
        if known is None:
            weight = self._weight(fragment, operation, leaf)
            known = self._weights[fragment] = round(weight * _STEPS) / _STEPS
        return known

    def _weight(self, fragment: str, operation: str, leaf: str) -> float:
        count = self.counts.get(fragment, 0)
        expected = count + _BACKGROUND * _general(fragment, operation, leaf)
        share = expected / (self.total + _BACKGROUND)
        if share > COMMON:
            return 0.0
        weight = -math.log(share + 0.5 / (self.total + _BACKGROUND))
        if fragment.startswith("f:"):
            return min(weight, len(fragment) / 4)
        if not count:
            weight = min(weight, _UNSEEN)
        if operation.endswith("="):
            weight = min(weight, _KEYWORD)
        elif is_trivial(operation):
            weight /= 3
            if leaf and (leaf.isdigit() or len(leaf) < 3):
                weight /= 2
        return weight


def _general(fragment: str, operation: str, leaf: str) -> float:
    """The share of functions that have a fragment, in general."""
    count = FREQUENCIES.get(fragment)
    if count is None and leaf:
        return min(FREQUENCIES.get(operation, 2) * 0.01, 2.0) / PER
    return (2 if count is None else count) / PER


class Index:
    """All production functions of a tree, with their fragments posted by rarity."""

    def __init__(self, files: Mapping[str, FileFragments], tests: frozenset[str]) -> None:
        self.files = files
        self.tests = tests
        self.entries = [
            Entry(path, function)
            for path, file in sorted(files.items())
            if path not in tests
            for function in file.functions
        ]
        self.by_name: dict[str, list[int]] = {}
        self._by_path: dict[str, list[int]] = {}
        self.by_class: dict[str, list[int]] = {}
        self.lasts: list[str] = []  # the name of each entry, and of the class around it, or ""
        self.owners: list[str] = []
        for number, (path, function) in enumerate(self.entries):
            self._by_path.setdefault(path, []).append(number)
            parts = function.qualname.split(".")
            self.by_name.setdefault(parts[-1], []).append(number)
            self.lasts.append(parts[-1])
            self.owners.append(parts[-2] if len(parts) > 1 else "")
            if len(parts) > 1:
                self.by_class.setdefault(parts[-2], []).append(number)
        self._by_directory: dict[str, list[str]] = {}
        self._by_file_name: dict[str, list[str]] = {}
        for path in self._by_path:
            directory, _, name = path.rpartition("/")
            self._by_directory.setdefault(directory, []).append(path)
            self._by_file_name.setdefault(name, []).append(path)
        self._leads: dict[str, tuple[set[str], set[str]]] = {}
        self._renamed: dict[str, dict[str, str]] = {}
        self._near: tuple[str, dict[int, float]] | None = None
        self._called: dict[int, list[int]] = {}
        self.exports = Exports(files)

    @cached_property
    def _numbers(self) -> dict[tuple[str, str, int], int]:
        return {
            (e.path, e.function.qualname, e.function.start): n for n, e in enumerate(self.entries)
        }

    def number(self, path: str, qualname: str, start: int) -> int:
        """The place among all entries of a function, told by its file, name and first line."""
        return self._numbers[path, qualname, start]

    @cached_property
    def rarity(self) -> Rarity:
        return Rarity(entry.function for entry in self.entries)

    @cached_property
    def _postings(self) -> dict[str, tuple[float, list[int]]]:
        """The weight of a fragment and the entries that have it, for those fragments that a test
        has and that tell."""
        limit = max(3, _POSTED * len(self.entries))
        of_tests = set[str]().union(
            *(
                function.fragments
                for path in self.tests & self.files.keys()
                for function in self.files[path].functions
            )
        )
        postings: dict[str, tuple[float, list[int]]] = {
            fragment: (weight, [])
            for fragment, count in self.rarity.counts.items()
            if count <= limit and fragment in of_tests and (weight := self.rarity(fragment))
        }
        for number, (_, function) in enumerate(self.entries):
            if not function.kernel:
                for fragment in postings.keys() & function.fragments:
                    postings[fragment][1].append(number)
        return postings

    def prepare(self) -> None:
        """Make now what else is made when it is first needed."""
        _ = self._postings

    def nominate(
        self, fragments: Iterable[str], reach: Mapping[int, float], limit: int = 6
    ) -> list[Candidate]:
        """The production functions that share most with these fragments, best first; those in
        reach count more."""
        scores: defaultdict[int, float] = defaultdict(float)
        postings = self._postings
        for fragment in postings.keys() & fragments:
            weight, posted = postings[fragment]
            for number in posted:
                scores[number] += weight
        ranked = [
            (scores[number] * (_FAR + reach[number]), -number)
            for number in scores.keys() & reach.keys()
        ]
        ranked = nlargest(limit, ranked)
        # Most functions are out of reach: those that cannot be among the best are left out early.
        least = ranked[-1][0] if len(ranked) == limit else 0.0
        ranked += [
            (score * _FAR, -number)
            for number, score in scores.items()
            if score * _FAR >= least and number not in reach
        ]
        best = [-number for _, number in nlargest(limit, ranked)]
        return [Candidate(number, scores[number], reach.get(number, NONE)) for number in best]

    def reach(self, path: str, calls: Iterable[str]) -> dict[int, float]:
        """How near each production function is to a test of file `path` that makes `calls`
        (itself and through helpers of its file)."""
        seeds, names = self.leads(path)
        if self._near is None or self._near[0] != path:
            self._near = path, self._functions_near(seeds)
        found = self._near[1].copy()
        # A function of the test file hides the one of production that has its name.
        called = set(calls) - {f.qualname for f in self.files[path].functions}
        renamed = self._renamed[path]
        called |= {renamed[name] for name in called & renamed.keys()}
        first: set[int] = set()
        for name in called | names:
            for number in self.by_class.get(name, ()):
                if self.entries[number].path in seeds:
                    direct = self.entries[number].function.qualname.endswith(
                        (".forward", ".__call__", ".__init__", ".__post_init__")
                    )
                    found[number] = CALLEE if direct and name in called else NEARBY
                    if found[number] == CALLEE:
                        first.add(number)
                    else:
                        first.discard(number)
        for name in called:
            for number in self.by_name.get(name, ()):
                if self.entries[number].path in seeds:
                    found[number] = CALLED
                    first.add(number)
        second = self._callees(first, CALLEE, found)
        self._callees(second, NEARBY, found)
        return found

    def imports_kernel(self, path: str) -> bool:
        """True if a test file imports a function that runs on the device."""
        return any(
            self.entries[number].function.kernel
            for name in self.leads(path)[1]
            for number in self.by_name.get(name, ())
        )

    def leads(self, path: str) -> tuple[set[str], set[str]]:
        """Where the imports of a test file lead: production files, those that it patches or is
        named after too, and names that are no modules. All that its results owe to the other
        test files."""
        known = self._leads.get(path)
        if known is None:
            known = self._leads[path] = self._seeds(path)
        return known

    def _seeds(self, path: str) -> tuple[set[str], set[str]]:
        file = self.files[path]
        names: set[str] = set()
        seeds: set[str] = set()
        for module, name in file.imports:
            target = self.exports.module(module, path)
            inner = self.exports.module(f"{module}.{name}", path) if name else None
            if inner == target:
                inner = None  # a name of the module, no submodule of it
            for known in (target, inner):
                if known is not None and known not in self.tests:
                    seeds.add(known)
            if name and not inner:
                names.add(name)
                if target is not None and target.endswith("__init__.py"):
                    package = target[: -len("__init__.py")]
                    for number in (*self.by_name.get(name, ()), *self.by_class.get(name, ())):
                        if self.entries[number].path.startswith(package):
                            seeds.add(self.entries[number].path)
        for text in file.strings:
            target = self.exports.dotted(text)
            if target is not None and target not in self.tests:
                seeds.add(target)
        renamed = self._renamed[path] = {}
        for dotted in file.called:
            for place, name in self.exports.defined(dotted, path):
                if place not in self.tests:
                    seeds.add(place)
                    renamed[dotted.rpartition(".")[2]] = name
        for bound, dotted in file.renamed:
            renamed[bound] = renamed.get(name := dotted.rpartition(".")[2], name)
        stem = path.rsplit("/", 1)[-1].removeprefix("test_").removesuffix(".py")
        seeds.update(self._by_file_name.get(f"{stem.removesuffix('_test')}.py", ()))
        return seeds, names

    def _functions_near(self, seeds: set[str]) -> dict[int, float]:
        """The functions of these files and of their packages, with their reach."""
        packages = {seed.rpartition("/")[0] for seed in seeds} - {""}
        near = {
            number: PACKAGE
            for package in packages
            for path in self._by_directory.get(package, ())
            for number in self._by_path[path]
        }
        for seed in seeds:
            near.update(dict.fromkeys(self._by_path.get(seed, ()), IMPORTED))
        return near

    def _callees(self, numbers: Iterable[int], level: float, found: dict[int, float]) -> list[int]:
        reached: list[int] = []
        for number in numbers:
            for target in self.called_by(number):
                if found.get(target, NONE) < level:
                    found[target] = level
                    reached.append(target)
        return reached

    def called_by(self, number: int) -> list[int]:
        """The functions that one calls by name, or that are inside it."""
        known = self._called.get(number)
        if known is None:
            path, function = self.entries[number]
            known = self._called[number] = []
            for name in function.calls:
                targets = self.by_name.get(name, ())
                if len(targets) > 3:
                    targets = [t for t in targets if self.entries[t].path == path]
                known += targets
            known += [
                inside
                for inside in self._by_path[path]
                if self.entries[inside].function.qualname.startswith(f"{function.qualname}.")
            ]
        return known
