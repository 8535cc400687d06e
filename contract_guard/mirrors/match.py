"""Comparison of a test's expected values with one production function, as graphs."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from contract_guard.mirrors.index import Rarity, is_trivial
from contract_guard.mirrors.model import Const, Reference
from contract_guard.mirrors.normal_form import Node, NormalForm, leaf_text, normal_form
from contract_guard.mirrors.scopes import FunctionNode
from contract_guard.mirrors.trace import trace_function

WINDOW = 40  # lines of production that one mirror may span
COVERED = 0.4  # share of an expected value that has to match for it to take part
_ARITHMETIC_FREE = frozenset({"format", "list", "tuple", "dict", "slice", "element"})


@dataclass(frozen=True, slots=True)
class Weighed:
    """One node with its fragments and the greatest rarity among them."""

    index: int
    node: Node
    leaves: frozenset[str]
    children: tuple[int, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Graphs:
    """Nodes of one function or slice, by operation."""

    form: NormalForm
    nodes: Mapping[int, Weighed]

    def by_operation(self) -> dict[str, list[Weighed]]:
        found: dict[str, list[Weighed]] = {}
        for weighed in self.nodes.values():
            found.setdefault(weighed.node.op, []).append(weighed)
        return found


@dataclass(frozen=True, slots=True)
class Match:
    """How much of a slice stands in a production function.

    `score` is the rarity that was matched, `coverage` its share of the slice's rarity. `aligned`
    are pairs of lines (test, production); `operations` the matched operations in the order of
    the test; `text` the length of matched literal text; `arithmetic` how many distinct
    operations that compute matched with their operands; `constants` the shared leaves by name.
    """

    score: float
    coverage: float
    aligned: tuple[tuple[int, int], ...]
    operations: tuple[str, ...]
    text: int
    arithmetic: int
    size: int
    leaves: tuple[str, ...]


def weigh(
    form: NormalForm, wanted: Iterable[int], rarity: Rarity, ignored: frozenset[int] = frozenset()
) -> Graphs:
    """The nodes `wanted` with their leaves and weights, without those `ignored`."""
    nodes: dict[int, Weighed] = {}
    for index in wanted:
        if index in ignored:
            continue
        node = form.nodes[index]
        leaves: set[str] = set()
        children: list[int] = []
        for operand in node.operands:
            if isinstance(operand, int):
                children.append(operand)
                leaves.update(form.nodes[operand].names)
            else:
                text = _leaf(node.op, operand)
                if text:
                    leaves.add(text)
        weight = max(
            [rarity(node.op), *(rarity(_fragment(node.op, leaf)) for leaf in leaves)], default=0.0
        )
        nodes[index] = Weighed(index, node, frozenset(leaves), tuple(children), weight)
    return Graphs(form, nodes)


def _leaf(op: str, operand: str | Const) -> str:
    if op == "format":
        text = operand.value if isinstance(operand, Const) else None
        return f"f:{text[:60]}" if isinstance(text, str) and len(text) >= 4 else ""
    return leaf_text(operand).removeprefix("$")


def _fragment(op: str, leaf: str) -> str:
    if leaf.startswith("f:"):
        return leaf
    return f"{op}>{leaf}"


class Matcher:
    """Compares slices with production functions; each production function is traced once."""

    def __init__(self, rarity: Rarity) -> None:
        self.rarity = rarity
        self._production: dict[tuple[str, str], Graphs] = {}

    def production(self, path: str, tree: ast.Module, node: FunctionNode, qualname: str) -> Graphs:
        key = (path, f"{qualname}:{node.lineno}")
        known = self._production.get(key)
        if known is None:
            graph = trace_function(tree, node)
            form = normal_form(graph.ops, graph.aliases)
            known = weigh(form, range(len(form.nodes)), self.rarity)
            self._production[key] = known
        return known

    def match(
        self, test: Graphs, production: Graphs, expectations: Sequence[frozenset[int]]
    ) -> Match:
        """The best alignment within a window of production lines.

        `expectations` are the nodes of each expected value. Only those that are themselves
        matched well take part, so that a mirror is found among assertions of other kinds.
        """
        by_operation = production.by_operation()
        pairs: list[tuple[float, Weighed, Weighed]] = []
        for weighed in test.nodes.values():
            for other in by_operation.get(weighed.node.op, ()):
                value = self._local(weighed, other, test, production)
                if value > 0:
                    pairs.append((value, weighed, other))
        best = _summary({}, frozenset(), test)
        totals = [
            sum(test.nodes[n].weight for n in nodes if n in test.nodes) for nodes in expectations
        ]
        for start in sorted({other.node.line for _, _, other in pairs}):
            chosen: dict[int, tuple[float, Weighed, Weighed]] = {}
            for pair in pairs:
                index = pair[1].index
                if start <= pair[2].node.line < start + WINDOW and (
                    index not in chosen or pair[0] > chosen[index][0]
                ):
                    chosen[index] = pair
            selected: set[int] = set()
            for nodes, total in zip(expectations, totals, strict=True):
                found = sum(chosen[n][0] for n in nodes if n in chosen)
                if total and found / total >= COVERED:
                    selected |= nodes & test.nodes.keys()
            match = _summary(chosen, frozenset(selected), test)
            if match.score * match.coverage > best.score * best.coverage:
                best = match
        return best

    def _local(self, a: Weighed, b: Weighed, test: Graphs, production: Graphs) -> float:
        """The evidence of one pair of nodes: the rarity of what they share, scaled by how many of
        the operands agree."""
        shared = a.leaves & b.leaves
        rarity = max(
            [self.rarity(a.node.op), *(self.rarity(_fragment(a.node.op, s)) for s in shared)]
        )
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


def _summary(
    chosen: Mapping[int, tuple[float, Weighed, Weighed]], selected: frozenset[int], test: Graphs
) -> Match:
    pairs = [chosen[index] for index in sorted(selected) if index in chosen]
    total = sum(test.nodes[n].weight for n in selected)
    score = sum(value for value, _, _ in pairs)
    arithmetic: set[str] = set()
    text = 0
    leaves: set[str] = set()
    for _, a, b in pairs:
        shared = a.leaves & b.leaves
        leaves |= {s for s in shared if s.isidentifier()}
        text += sum(len(s) - 2 for s in shared if s.startswith("f:"))
        if not is_trivial(a.node.op) and a.node.op not in _ARITHMETIC_FREE:
            arithmetic.add(a.node.op)
    return Match(
        score=score,
        coverage=score / total if total else 0.0,
        aligned=tuple(sorted({(a.node.line, b.node.line) for _, a, b in pairs if a.node.line})),
        operations=tuple(a.node.op for _, a, _ in pairs),
        text=text,
        arithmetic=len(arithmetic),
        size=len(selected),
        leaves=tuple(sorted(leaves)),
    )


def _agrees(operand: Reference, other: Weighed, form: NormalForm) -> float:
    """How well a leaf is found among the operands of the other node: inputs by name count full,
    an input against another input or a value half (names differ between test and production)."""
    assert not isinstance(operand, int)
    text = _leaf(other.node.op, operand)
    if text and text in other.leaves:
        return 1.0
    if isinstance(operand, Const):
        return 0.0
    free = any(isinstance(o, (int, str)) for o in other.node.operands)
    return 0.5 if free else 0.0
