"""Comparison of a test's expected values with one production function, as graphs."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from contract_guard.mirrors.evidence import Compared, together
from contract_guard.mirrors.index import Rarity
from contract_guard.mirrors.instance import operations_of_instance
from contract_guard.mirrors.model import Const, Reference
from contract_guard.mirrors.normal_form import NormalForm, normal_form
from contract_guard.mirrors.operations import COMPUTING, words
from contract_guard.mirrors.parting import parting
from contract_guard.mirrors.scopes import FunctionNode, Module
from contract_guard.mirrors.trace import trace_function
from contract_guard.mirrors.weights import Graphs, Weighed, leaves_of, weigh, weight_of

WINDOW = 40  # lines of production that one mirror may span
_TRIED = 6  # stretches of lines that are looked at closely
_MOST = 60  # expected values of one test
_LARGE = 400  # nodes of one function that are compared
_REPEATED = 0.25
_STEP = 3  # operations between two that are taken for neighbours
_COMMON = words("getitem eye arange zeros ones len")  # in every other function
_DECIDING = words("eq ne lt le in not_in where")
_TELLING = 6  # letters of a name that is no everyday one
COVERED = 0.4  # share of an expected value that has to match for it to take part
MOSTLY = 0.8


@dataclass(frozen=True, slots=True)
class Match:
    """How much of a slice stands in a production function.

    `score` is the rarity that was matched, `coverage` its share of the slice's rarity. `aligned`
    are pairs of lines (test, production); `operations` the matched operations in the order of
    the test; `text` the length of matched literal text; `arithmetic` how many distinct
    operations that compute matched, `computing` how many in all; `substance` is the part of
    `score` that these and texts bear; `branches` is the number of conditions that decide on the
    same name; `leaves` are the shared names; `whole` is the number of operations of the longest
    expected value that is, from end to end, an expression of production; `has_own_way` says that
    a library's routine computes part of what is expected, and nothing of production; `parting`
    are the lines (test, production) of the first operation that differs, None where none is seen.
    """

    score: float
    coverage: float
    aligned: tuple[tuple[int, int], ...]
    operations: tuple[str, ...]
    text: int
    arithmetic: int
    computing: int
    substance: float
    branches: int
    size: int
    leaves: tuple[str, ...]
    linked: int = 0
    whole: int = 0
    has_own_way: bool = False
    parting: tuple[int, int] | None = None


class Matcher:
    """Compares slices with production functions."""

    def __init__(self, rarity: Rarity) -> None:
        self.rarity = rarity

    def production(self, module: Module, node: FunctionNode) -> Graphs:
        """What one function of a file computes."""
        graph = trace_function(module, node)
        form = normal_form(graph.ops, graph.aliases)
        return weigh(form, range(len(form.nodes)), None)

    def match(self, test: Graphs, production: Graphs, expectations: Sequence[Compared]) -> Match:
        """The best alignment within a window of production lines.

        `expectations` are the expected values. Only those that are themselves matched well take
        part, and of these only such as belong together, so that a mirror is found among
        assertions of other kinds.
        """
        by_operation = production.by_operation()
        pairs: list[_Pair] = []
        for weighed in islice(test.nodes.values(), _LARGE):
            if weighed.node.number is not None:
                continue
            for other in by_operation.get(weighed.node.op, ()):
                value = self._local(weighed, other, test, production)
                if value > 0:
                    pairs.append((value, weighed, other))
        best = _summary([], 0.0)
        best_pairs: list[_Pair] = []
        best_nodes: frozenset[int] = frozenset()
        wanted = _distinct(test, expectations)[:_MOST]
        for near in _windows(pairs):
            chosen = _chosen(near)
            covered = [
                (_score(chosen, value.nodes) / (_total(test, value.nodes, chosen) or 1.0), value)
                for value in wanted
            ]
            steps = {index for index, pair in chosen.items() if pair[1].node.op in COMPUTING}
            # With what is matched in part, and without: which is the better evidence differs.
            for least in (COVERED, MOSTLY):
                for selected in together((v for share, v in covered if share >= least), steps):
                    taken = [chosen[n] for n in sorted(selected) if n in chosen]
                    match = _summary(taken, _total(test, selected, chosen))
                    if match.score * match.coverage > best.score * best.coverage:
                        best, best_pairs, best_nodes = match, taken, selected
        found = parting(((a, b) for _, a, b in best_pairs), test, production)
        linked = _linked(best_pairs, test, production)
        own = any(test.form.nodes[n].op not in by_operation for n in best_nodes & test.routines)
        whole = 0
        if best.coverage >= COVERED:
            taken_part = {a.index for _, a, _ in best_pairs}
            roots = {max(nodes) for nodes, _ in expectations if nodes & taken_part}
            whole = max((operations_of_instance(test, r, production) for r in roots), default=0)
        return replace(best, parting=found, linked=linked, whole=whole, has_own_way=own)

    def leaves_out(self, test: Graphs, expectations: Sequence[Compared]) -> bool:
        """True for a test that is too large to be compared as a whole."""
        return len(test.nodes) > _LARGE or len(_distinct(test, expectations)) > _MOST

    def _local(self, a: Weighed, b: Weighed, test: Graphs, production: Graphs) -> float:
        """The evidence of one pair of nodes: the rarity of what they share, scaled by how many of
        the operands agree."""
        shared = a.leaves & b.leaves
        rarity = weight_of(a.node.op, shared, self.rarity)
        if not rarity:
            return 0.0
        agreed = sum(
            _agrees(o, b, production.form) for o in a.node.operands if not isinstance(o, int)
        )
        below = {production.form.nodes[other].op for other in b.children}
        for child in a.children:
            node = test.form.nodes[child]
            if node.op in below or node.names & b.leaves:
                agreed += 1.0
        operands = max(len(a.node.operands), len(b.node.operands), 1)
        return rarity * (0.5 + min(agreed, operands)) / (0.5 + operands)


# A number that is no everyday one: sharing it is as good as sharing an operation.
_NUMBER = re.compile(r"-?(\d{3,}|\d+\.\d+|\d+e-?\d+)")
_Pair = tuple[float, Weighed, Weighed]


def _distinct(test: Graphs, expectations: Sequence[Compared]) -> list[Compared]:
    """The nodes of each expected value that are compared, without those that are empty: each once
    at a line."""
    kept = (Compared(nodes.intersection(test.nodes), line) for nodes, line in expectations)
    return [value for value in dict.fromkeys(kept) if value.nodes]


def _windows(pairs: list[_Pair]) -> list[list[_Pair]]:
    """The pairs of each stretch of production lines that may hold the best alignment."""
    by_line = sorted(pairs, key=lambda p: p[2].node.line)
    lines = [p[2].node.line for p in by_line]
    found: list[tuple[float, int, list[_Pair]]] = []
    for start in sorted(set(lines)):
        near = by_line[bisect_left(lines, start) : bisect_left(lines, start + WINDOW)]
        best: dict[int, float] = {}
        for value, a, _ in near:
            if value > best.get(a.index, 0.0):
                best[a.index] = value
        found.append((sum(best.values()), -start, near))
    return [near for _, _, near in sorted(found, key=lambda f: f[:2], reverse=True)[:_TRIED]]


def _chosen(pairs: list[_Pair]) -> dict[int, _Pair]:
    """The best partner of each node of the test, greedily. A production node that has a partner
    at another place already bears little further evidence."""
    chosen: dict[int, _Pair] = {}
    taken: dict[int, tuple[str, int, int]] = {}
    for value, a, b in sorted(pairs, key=lambda p: (-p[0], p[1].index, p[2].index)):
        if a.index not in chosen and taken.get(b.index, a.place) == a.place:
            chosen[a.index] = (value, a, b)
            taken[b.index] = a.place
    for value, a, b in pairs:
        if a.index not in chosen:
            chosen[a.index] = (value * _REPEATED, a, b)
    return chosen


def _total(test: Graphs, nodes: Iterable[int], chosen: Mapping[int, _Pair]) -> float:
    """The weight of nodes, where copies of one place (an unrolled loop) count once; for a node
    with a partner at least what they share."""
    places: dict[tuple[str, int, int], float] = {}
    for index in nodes:
        weighed = test.nodes[index]
        place = weighed.place
        value = chosen[index][0] if index in chosen else 0.0
        places[place] = max(weighed.weight, value, places.get(place, 0.0))
    return sum(places.values())


def _score(chosen: Mapping[int, _Pair], nodes: Iterable[int]) -> float:
    places: dict[tuple[str, int, int], float] = {}
    for index in nodes:
        if index in chosen:
            value, weighed, _ = chosen[index]
            places[weighed.place] = max(value, places.get(weighed.place, 0.0))
    return sum(places.values())


def _summary(pairs: list[_Pair], total: float) -> Match:
    score = _score(
        {a.index: (value, a, b) for value, a, b in pairs}, [a.index for _, a, _ in pairs]
    )
    arithmetic: set[str] = set()
    computing: set[tuple[str, int, int]] = set()
    text: dict[str, int] = {}
    substance: dict[tuple[str, int, int], float] = {}
    leaves: set[str] = set()
    operations: dict[tuple[str, int, int], str] = {}
    branches: set[tuple[str, int, int]] = set()
    for value, a, b in pairs:
        shared = a.leaves & b.leaves
        leaves |= {s for s in shared if s.isidentifier()}
        text.update((s, len(s) - 2) for s in shared if s.startswith("f:"))
        operations[a.place] = a.node.op
        if a.node.op in COMPUTING or any(_NUMBER.fullmatch(leaf) for leaf in shared):
            arithmetic.add(a.node.op)
            computing.add(a.place)
            substance[a.place] = max(value, substance.get(a.place, 0.0))
        elif a.node.op == "format":
            substance[a.place] = max(value, substance.get(a.place, 0.0))
        elif a.node.op == "if" and any(len(s) >= _TELLING and s.isidentifier() for s in shared):
            branches.add(a.place)
    return Match(
        score=score,
        coverage=min(score / total, 1.0) if total else 0.0,
        aligned=_aligned(pairs),
        operations=tuple(operations.values()),
        text=sum(text.values()),
        arithmetic=len(arithmetic),
        computing=len(computing),
        substance=sum(substance.values()),
        branches=len(branches),
        size=len({a.place for _, a, _ in pairs}),
        leaves=tuple(sorted(leaves)),
    )


def _aligned(pairs: list[_Pair]) -> tuple[tuple[int, int], ...]:
    """The lines of each side that share something, without those that only look values up."""
    telling = [(a, b) for _, a, b in pairs if a.node.op not in _COMMON] or [
        (a, b) for _, a, b in pairs
    ]
    return tuple(sorted({(a.node.line, b.node.line) for a, b in telling if a.node.line}))


def _linked(pairs: list[_Pair], test: Graphs, production: Graphs) -> int:
    """How many operations of the largest piece that both sides have in one: each is an operand of
    the next, directly or with a step between, here and there."""
    partner = {a.index: b.index for _, a, b in pairs}
    place = {a.index: a.place for _, a, _ in pairs if _counts(a)}
    group = {index: index for index in partner}

    def root(index: int) -> int:
        while group[index] != index:
            index = group[index]
        return index

    below: dict[int, set[int]] = {}
    for index, other in partner.items():
        near = _below(index, test, _STEP)
        if other not in below:
            below[other] = _below(other, production, _STEP)
        for child in near & partner.keys():
            if partner[child] in below[other]:
                group[root(index)] = root(child)
    # What is too common to be evidence still joins its operands: `a % 7 + b // 3`.
    above: dict[tuple[str, int], set[int]] = {}
    for number, weighed in production.nodes.items():
        for child in weighed.children:
            above.setdefault((weighed.node.op, child), set()).add(number)
    for weighed in test.nodes.values():
        op = weighed.node.op
        if op in COMPUTING:
            inside = [child for child in weighed.children if child in partner]
            for one, other in pairwise(inside):
                joined = above.get((op, partner[one]), set())
                if joined & above.get((op, partner[other]), set()):
                    group[root(one)] = root(other)
    pieces: dict[int, set[tuple[str, int, int]]] = {}
    for index in place:
        pieces.setdefault(root(index), set()).add(place[index])
    return max((len(p) for p in pieces.values() if {op for op, *_ in p} - _DECIDING), default=0)


def _counts(weighed: Weighed) -> bool:
    op = weighed.node.op
    return (op in COMPUTING and op not in _COMMON) or op in _DECIDING


def _below(index: int, graphs: Graphs, steps: int) -> set[int]:
    """The nodes that one is computed from in at most so many steps."""
    found: set[int] = set()
    level = {index}
    for _ in range(steps):
        level = {
            operand
            for number in level
            for operand in graphs.form.nodes[number].operands
            if isinstance(operand, int)
        } - found
        found |= level
    return found


def _agrees(operand: Reference, other: Weighed, form: NormalForm) -> float:
    """How well a leaf is found among the operands of the other node: inputs by name count full,
    an input against another input or a value half (names differ between test and production)."""
    assert not isinstance(operand, int)
    if other.leaves.intersection(leaves_of(other.node.op, operand)):
        return 1.0
    if isinstance(operand, Const):
        return 0.0
    free = any(isinstance(o, (int, str)) for o in other.node.operands)
    return 0.5 if free else 0.0
