"""The search for mirrors: nominate by fragments, compare as graphs, one test at a time."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.asked import Asked
from contract_guard.mirrors.graph import ProductionCalled
from contract_guard.mirrors.graph_of_test import TestGraph, graph_of
from contract_guard.mirrors.index import CALLED, IMPORTED, NONE, PACKAGE, Candidate, Entry, Index
from contract_guard.mirrors.match import Match, Matcher
from contract_guard.mirrors.model import Reference
from contract_guard.mirrors.opened import FunctionWise, OpenedFile
from contract_guard.mirrors.operations import COMPUTING
from contract_guard.mirrors.scopes import FunctionNode
from contract_guard.mirrors.subject import FAR, Subjects, Ways, named
from contract_guard.mirrors.trace import run
from contract_guard.mirrors.weights import Graphs

NOMINATED = 6
_MINIMUM = 4.0  # nomination score under which no graph is built
_SHARED = 3  # fragments that compute
_BRANCHES = 3  # fragments that decide
_FAR_MINIMUM = 14.0  # the same, for functions that the test does not reach
_SUBJECTS = 12  # functions that are compared because an assertion names them
_OPEN = 24  # production files whose trees are held
_OPEN_TESTS = 2
_COMPARING = frozenset({"eq", "ne", "lt", "le", "in", "not_in"})

_Named = Mapping[str, Sequence[FunctionFragments]]


@dataclass(frozen=True, slots=True)
class Resemblance:
    """A test's value that resembles a production function. `forms` are the assertions that take
    part (`assert ==`, `raises match`); `helper` is the function of the test file in which most of
    the copy stands, None where that is the test itself. `of_kernel` says that the test's file
    imports a kernel, which may be what `entry` does in Python. `distance` is the number of calls
    from what the actual side of those assertions names to `entry`, FAR where it does not lead
    there, None where what it names is not known. `is_related` is false where the test's file
    imports other packages of production, and the copy has another name."""

    path: str
    test: FunctionFragments
    entry: Entry
    reach: float
    match: Match
    calls_production: bool
    forms: frozenset[str]
    helper: FunctionFragments | None
    of_kernel: bool = False
    distance: int | None = None
    is_related: bool = True


class Search:
    """Finds resemblances of tests with production. `text` gives the source of a file by path; it
    is asked again for a file that was not needed for long."""

    def __init__(
        self,
        files: Mapping[str, FileFragments],
        tests: frozenset[str],
        text: Callable[[str], str],
    ) -> None:
        self.files = files
        self.text = text
        self._tests = tests
        self.packages = frozenset(
            path.removeprefix("src/").split("/", 1)[0] for path in files if path not in tests
        )

        def opened(path: str) -> OpenedFile:
            return OpenedFile(text(path))

        def function_wise(path: str) -> FunctionWise:
            return FunctionWise(text(path), files[path].functions)

        # Test files come one after the other, production is asked for again and again.
        self._open_test = lru_cache(_OPEN_TESTS)(opened)
        self._open_production = lru_cache(_OPEN)(opened)
        self._function_wise = lru_cache(_OPEN)(function_wise)
        self._last_subjects: tuple[tuple[str, int, str], Subjects] | None = None
        self._last: tuple[tuple[str, int, str], TestGraph | None] | None = None
        self._last_cut: tuple[str, int, str] | None = None
        self._production: dict[tuple[str, int, str], Graphs] = {}
        self._related: tuple[str, tuple[_Named, _Named]] = ("", ({}, {}))
        self._candidates: tuple[str, dict[tuple[int, str], list[Candidate]]] = ("", {})
        self.asked = Asked()

    def note_anew(self) -> Asked:
        """What is asked of production from now on, until this is called again."""
        self.asked = Asked()
        self.index.rarity.asked = self.asked.weights
        self._last_subjects = None  # what it knows would not be asked again
        return self.asked

    @cached_property
    def index(self) -> Index:
        return Index(self.files, self._tests)

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.index.rarity)

    def prepare(self) -> None:
        """Make now what else is made when it is first needed, so that copies of this object in
        other processes share it."""
        self.index.prepare()
        _ = self.compared_constants

    @cached_property
    def compared_constants(self) -> dict[str, list[int]]:
        """Upper-case names that production compares with, and the entries that do; short functions
        first: a helper that gives the mask alone is the one to name."""
        entries = self.index.entries
        names: dict[str, str] = {}
        for fragment in self.index.rarity.counts:
            operation, _, leaf = fragment.partition(">")
            if leaf.isupper() and leaf.isidentifier() and len(leaf) > 2 and operation in _COMPARING:
                names[fragment] = leaf
        found: dict[str, list[int]] = {}
        for number, (_, function) in enumerate(entries):
            for leaf in {names[f] for f in names.keys() & function.fragments}:
                found.setdefault(leaf, []).append(number)
        for numbers in found.values():
            numbers.sort(key=lambda n: entries[n].function.end - entries[n].function.start)
        return found

    def tests_of(self, path: str) -> Iterator[FunctionFragments]:
        for function in self.files[path].functions:
            if function.qualname.rsplit(".", 1)[-1].startswith("test"):
                yield function

    def candidates(self, path: str, test: FunctionFragments) -> list[Candidate]:
        """The production functions that one test may resemble, told by fragments alone."""
        if self._candidates[0] != path:
            self._candidates = (path, {})
        known = self._candidates[1]
        key = (test.start, test.qualname)
        if key not in known:
            known[key] = self._nominated(path, test)
        return known[key]

    def _nominated(self, path: str, test: FunctionFragments) -> list[Candidate]:
        fragments, calls, asserts = self.closure(path, test)
        if not asserts:
            return []
        known = self.index.rarity.counts
        if not _bear_verdict(fragment for fragment in fragments if fragment in known):
            return []
        reach = self.index.reach(path, calls)
        return [
            c
            for rank, c in enumerate(self.index.nominate(fragments, reach, 4 * NOMINATED))
            if (rank < NOMINATED or c.reach >= CALLED)
            and c.score >= (_MINIMUM if c.reach >= IMPORTED else _FAR_MINIMUM)
            and _bear_verdict(
                fragment
                for fragment in self.index.entries[c.entry].function.fragments
                if fragment in fragments
            )
        ]

    def resemblances(
        self, path: str, test: FunctionFragments, candidates: Sequence[Candidate] | None = None
    ) -> list[Resemblance]:
        """What one test resembles, the best first, of its `candidates` where they are known."""
        if candidates is None:
            candidates = self.candidates(path, test)
        if not candidates:
            return []
        # Out of reach of a test that calls production is neither a mirror, nor a shadow copy, nor
        # a kernel's twin.
        is_near = self.index.imports_kernel(path)
        if is_near or any(candidate.reach >= IMPORTED for candidate in candidates):
            graph = self.graph(path, test)
        else:
            graph = self._graph_alone(path, test)
        if graph is None:
            return []
        found: list[Resemblance] = []
        for candidate in candidates:
            entry = self.index.entries[candidate.entry]
            if graph.calls_production and candidate.reach < IMPORTED and not is_near:
                continue
            if graph.has_library_function(entry.function.qualname.rsplit(".", 1)[-1]):
                continue
            match = self._matcher.match(graph.graphs, self.production(entry), graph.values)
            if match.score > 0:
                found.append(self._resemblance(path, test, entry, candidate.reach, match, graph))
        found.sort(key=lambda r: -r.match.score * r.match.coverage * (0.4 + r.reach))
        return found

    def _resemblance(
        self,
        path: str,
        test: FunctionFragments,
        entry: Entry,
        reach: float,
        match: Match,
        graph: TestGraph,
    ) -> Resemblance:
        lines = {line for line, _ in match.aligned}
        taking_part = [
            (form, actual)
            for (form, nodes), actual in zip(graph.groups, graph.actuals, strict=True)
            if any(graph.form.nodes[node].line in lines for node in nodes)
        ]
        forms = {form for form, _ in taking_part}
        actuals = [actual for _, actual in taking_part if actual is not None]
        outside = [line for line in lines if not test.start <= line <= test.end]
        helper = None
        if 2 * len(outside) > len(lines):
            helper = self._function_at(path, outside)
        return Resemblance(
            path,
            test,
            entry,
            reach,
            match,
            graph.calls_production,
            frozenset(forms),
            helper,
            self.index.imports_kernel(path),
            self._distance(path, test, graph, entry, actuals),
            reach >= PACKAGE
            or not self.index.leads(path)[0]
            or (helper or test).qualname.rsplit(".", 1)[-1]
            == entry.function.qualname.rsplit(".", 1)[-1],
        )

    def _distance(
        self,
        path: str,
        test: FunctionFragments,
        graph: TestGraph,
        entry: Entry,
        actuals: Sequence[Reference],
    ) -> int | None:
        ways = _ways(graph, actuals)
        function = (entry.function.qualname, entry.function.start)
        asked = self.asked.of((test.qualname, test.start), entry.path, ways)
        asked.entries.add(function)
        self.asked.opened.add(entry.path)

        def setting(name: str) -> list[int]:
            found = self._function_wise(entry.path).builders(name)
            asked.builders[name] = [(each.qualname, each.start) for each in found]
            return [self.index.number(entry.path, *each) for each in asked.builders[name]]

        distances = self.distances(path, test, ways, entry.path, setting)
        if not distances:
            return None
        return distances.get(self.index.number(entry.path, *function), FAR)

    def distances(
        self,
        path: str,
        test: FunctionFragments,
        ways: Ways,
        place: str,
        builders: Callable[[str], Collection[int]],
    ) -> Mapping[int, int]:
        """The entries that the names in assertions of a test stand for, with the number of calls
        to each (`Subjects.distances`). `builders` are of file `place`."""
        key = (path, test.start, test.qualname)
        if self._last_subjects is None or self._last_subjects[0] != key:
            calls = self.closure(path, test)[1]
            self._last_subjects = (key, Subjects(self.index, path, calls))
        return self._last_subjects[1].distances(ways, place, builders)

    def subjects(self, path: str, test: FunctionFragments) -> list[Candidate]:
        """The functions of production that the assertions of a test name."""
        graph = self.graph(path, test)
        if graph is None:
            return []
        ways = _ways(graph, [actual for actual in graph.actuals if actual is not None])
        self.asked.of((test.qualname, test.start), "", ways)
        return self.nearest(path, test, ways)

    def nearest(self, path: str, test: FunctionFragments, ways: Ways) -> list[Candidate]:
        """The functions of production that these names in assertions of a test stand for, and
        those that they call."""
        reach = self.index.reach(path, self.closure(path, test)[1])
        distances = self.distances(path, test, ways, "", lambda _: ())
        nearest = sorted(distances, key=lambda n: (distances[n], n))[:_SUBJECTS]
        return [
            Candidate(number, 0.0, max(reach.get(number, NONE), IMPORTED))
            for number in nearest
            if distances[number] <= 1 and not self.index.entries[number].function.kernel
        ]

    def _function_at(self, path: str, lines: list[int]) -> FunctionFragments | None:
        """The innermost function of a file that holds most of these lines."""
        around = [
            (sum(f.start <= line <= f.end for line in lines), f.start - f.end, f)
            for f in self.files[path].functions
        ]
        best = max(around, key=lambda item: item[:2], default=None)
        return best[2] if best is not None and best[0] else None

    def production(self, entry: Entry) -> Graphs:
        """What a production function computes."""
        path, function = entry
        self.asked.opened.add(path)
        key = (path, function.start, function.qualname)
        known = self._production.get(key)
        if known is None:
            opened = self._function_wise(path)
            node = opened.function(function)
            known = self._production[key] = self._matcher.production(opened.module, node)
        return known

    def _open(self, path: str) -> OpenedFile:
        return self._open_test(path) if path in self._tests else self._open_production(path)

    def node(self, path: str, function: FunctionFragments) -> FunctionNode | None:
        """The syntax of a function."""
        return self._open(path).every.get((function.start, function.qualname.rsplit(".", 1)[-1]))

    def match(self, test: TestGraph, production: Graphs) -> Match:
        """How much of what a test computes stands in a production function."""
        return self._matcher.match(test.graphs, production, test.values)

    def _relations(self, path: str) -> tuple[_Named, _Named]:
        """The functions of a file by their last names, and by what they are defined in."""
        if self._related[0] != path:
            by_name: dict[str, list[FunctionFragments]] = {}
            by_outer: dict[str, list[FunctionFragments]] = {}
            for function in self.files[path].functions:
                outer, _, name = function.qualname.rpartition(".")
                by_name.setdefault(name, []).append(function)
                by_outer.setdefault(outer, []).append(function)
            self._related = (path, (by_name, by_outer))
        return self._related[1]

    def closure(self, path: str, test: FunctionFragments) -> tuple[set[str], set[str], bool]:
        """Fragments and calls of a test with the helpers of its file that it reaches."""
        by_name, by_outer = self._relations(path)
        owner = test.qualname.rpartition(".")[0]
        fragments: set[str] = set()
        calls: set[str] = set()
        asserts = False
        pending = [test]
        if owner:
            inner = by_outer.get(owner, ())
            setups = (f"{owner}.setUp", f"{owner}.setup_method")
            pending += [f for f in inner if f.qualname in setups]
        seen = {id(f) for f in pending}
        while pending:
            current = pending.pop()
            fragments.update(current.fragments)
            calls |= current.calls
            asserts = asserts or current.asserts
            called = (f for name in current.calls for f in by_name.get(name, ()))
            helpers = (f for f in called if f.qualname.rpartition(".")[0] in ("", owner))
            for other in (*helpers, *by_outer.get(current.qualname, ())):
                if id(other) not in seen:
                    seen.add(id(other))
                    pending.append(other)
        return fragments, calls, asserts

    def graph(self, path: str, test: FunctionFragments) -> TestGraph | None:
        """What a test computes, None if it compares nothing but literals."""
        key = (path, test.start, test.qualname)
        if self._last is None or self._last[0] != key:
            self._last = (key, self._graph(path, test))
        return self._last[1]

    def is_cut(self, path: str, test: FunctionFragments) -> bool:
        """True if this test, which was looked at last, was too large to be looked at as a whole."""
        return self._last_cut == (path, test.start, test.qualname)

    def _graph_alone(self, path: str, test: FunctionFragments) -> TestGraph | None:
        """The graph of a test that does not call production, None for one that does."""
        try:
            found = self._graph(path, test, alone=True)
        except ProductionCalled:
            return None
        self._last = ((path, test.start, test.qualname), found)
        return found

    def _graph(
        self, path: str, test: FunctionFragments, *, alone: bool = False
    ) -> TestGraph | None:
        opened = self._open(path)
        found = opened.outer.get((test.start, test.qualname))
        if found is None:
            return None
        traced = run(opened.module, *found, self.packages, alone=alone)
        graph = graph_of(traced, self.index.rarity)
        if traced.truncated or (
            graph is not None and self._matcher.leaves_out(graph.graphs, graph.values)
        ):
            self._last_cut = (path, test.start, test.qualname)
        return graph


def _ways(graph: TestGraph, actuals: Iterable[Reference]) -> Ways:
    return tuple(tuple(way) for each in actuals for way in named(graph.trace.graph, each))


def _bear_verdict(shared: Iterable[str]) -> bool:
    """False where the verdict on what shares these fragments is bound to be no: too few of them
    compute, and too few decide."""
    computing = branches = 0
    for fragment in shared:
        if fragment.startswith("f:"):
            return True
        operation, _, leaf = fragment.partition(">")
        computing += operation in COMPUTING or (len(leaf) > 3 and leaf.isdigit())
        branches += operation == "if" and bool(leaf)
        if computing >= _SHARED or branches >= _BRANCHES:
            return True
    return False
