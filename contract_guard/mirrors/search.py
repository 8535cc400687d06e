"""The search for mirrors: nominate by fragments, compare as graphs, one test at a time."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.index import IMPORTED, Entry, Index
from contract_guard.mirrors.match import Graphs, Match, Matcher, weigh
from contract_guard.mirrors.normal_form import NormalForm, normal_form
from contract_guard.mirrors.operations import ACCESS
from contract_guard.mirrors.graph import OBJECT
from contract_guard.mirrors.scopes import FunctionNode
from contract_guard.mirrors.slice import is_literal
from contract_guard.mirrors.trace import Expectation, Trace, functions_of, run

NOMINATED = 4
_MINIMUM = 6.0  # nomination score under which no graph is built
_FAR_MINIMUM = 20.0  # the same, for functions that the test does not reach


@dataclass(frozen=True, slots=True)
class Resemblance:
    """A test's expected value that resembles a production function."""

    path: str
    test: FunctionFragments
    entry: Entry
    reach: float
    match: Match
    calls_production: bool


class Search:
    """Finds resemblances of tests with production. `parse` gives the tree of a file by path."""

    def __init__(
        self,
        files: Mapping[str, FileFragments],
        tests: frozenset[str],
        parse: Callable[[str], ast.Module],
    ) -> None:
        self.index = Index(files, tests)
        self._parse = parse
        self._packages = frozenset(
            path.removeprefix("src/").split("/", 1)[0] for path in files if path not in tests
        )
        self._matcher = Matcher(self.index.rarity)
        self._nodes: dict[str, dict[tuple[int, str], FunctionNode]] = {}

    def tests_of(self, path: str) -> Iterator[FunctionFragments]:
        for function in self.index.files[path].functions:
            if function.qualname.rsplit(".", 1)[-1].startswith("test"):
                yield function

    def resemblances(self, path: str, test: FunctionFragments) -> list[Resemblance]:
        """What one test resembles, the best first."""
        fragments, calls, asserts = self._closure(path, test)
        if not asserts:
            return []
        reach = self.index.reach(path, calls)
        candidates = [
            c
            for c in self.index.nominate(fragments, reach, NOMINATED)
            if c.score >= _MINIMUM and (c.reach >= IMPORTED or c.score >= _FAR_MINIMUM)
        ]
        if not candidates:
            return []
        expected = self._expected(path, test)
        if expected is None:
            return []
        graphs, groups, traced = expected
        calls_production = any(
            rank >= OBJECT and op.name not in ACCESS
            for op, rank in zip(traced.graph.ops, traced.graph.ranks, strict=True)
        )
        found: list[Resemblance] = []
        for candidate in candidates:
            entry = self.index.entries[candidate.entry]
            match = self._matcher.match(graphs, self._production(entry), groups)
            if match.score > 0:
                found.append(
                    Resemblance(path, test, entry, candidate.reach, match, calls_production)
                )
        found.sort(key=lambda r: -r.match.score * r.match.coverage * (0.4 + r.reach))
        return found

    def _production(self, entry: Entry) -> Graphs:
        path, function = entry
        nodes = self._functions(path)
        name = function.qualname.rsplit(".", 1)[-1]
        node = nodes[function.start, name]
        return self._matcher.production(path, self._parse(path), node, function.qualname)

    def _functions(self, path: str) -> dict[tuple[int, str], FunctionNode]:
        known = self._nodes.get(path)
        if known is None:
            known = self._nodes[path] = {
                (node.lineno, node.name): node
                for node in ast.walk(self._parse(path))
                if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            }
        return known

    def _closure(self, path: str, test: FunctionFragments) -> tuple[set[str], set[str], bool]:
        """Fragments and calls of a test with the helpers of its file that it reaches."""
        functions = self.index.files[path].functions
        owner = test.qualname.rpartition(".")[0]
        fragments: set[str] = set()
        calls: set[str] = set()
        asserts = False
        pending = [test]
        pending += [
            f
            for f in functions
            if owner and f.qualname in (f"{owner}.setUp", f"{owner}.setup_method")
        ]
        seen = {id(f) for f in pending}
        while pending:
            current = pending.pop()
            fragments.update(current.fragments)
            calls |= current.calls
            asserts = asserts or current.asserts
            for other in functions:
                if id(other) in seen:
                    continue
                outer, _, name = other.qualname.rpartition(".")
                helper = name in current.calls and outer in ("", owner)
                if helper or outer == current.qualname:
                    seen.add(id(other))
                    pending.append(other)
        return fragments, calls, asserts

    def _expected(
        self, path: str, test: FunctionFragments
    ) -> tuple[Graphs, list[frozenset[int]], Trace] | None:
        tree = self._parse(path)
        for name, node, owner in functions_of(tree):
            if name == test.qualname and node.lineno == test.start:
                traced = run(tree, node, owner, self._packages)
                break
        else:
            return None
        expectations = [e for e in traced.expectations if not is_literal(e, traced)]
        if not expectations:
            return None
        form = normal_form(traced.graph.ops, traced.graph.aliases)
        groups = [_reachable(form, e) for e in expectations]
        wanted = sorted(frozenset[int]().union(*groups))
        graphs = weigh(form, wanted, self.index.rarity, _from_production(form, traced))
        return graphs, groups, traced


def _from_production(form: NormalForm, traced: Trace) -> frozenset[int]:
    """Nodes that production computed: the name of a call is no sign of a copy."""
    graph = traced.graph
    found: set[int] = set()
    for index, op in enumerate(graph.ops):
        moved = form.moved[index]
        if (
            isinstance(moved, int)
            and graph.ranks[index] >= OBJECT
            and op.name not in ACCESS
            and op.name != "ifelse"
        ):
            found.add(moved)
    return frozenset(found)


def _reachable(form: NormalForm, expectation: Expectation) -> frozenset[int]:
    found: set[int] = set()
    root = expectation.value
    stack = [form.moved[root] if isinstance(root, int) else root]
    while stack:
        value = stack.pop()
        if isinstance(value, int) and value not in found:
            found.add(value)
            stack += form.nodes[value].operands
    return frozenset(found)


def nominated(search: Search, paths: Iterable[str]) -> Iterator[Resemblance]:
    """The best resemblance of every test of these files that has one."""
    for path in paths:
        for test in search.tests_of(path):
            yield from search.resemblances(path, test)[:1]
