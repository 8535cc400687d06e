"""Where two copies of one rule part: the first operation that is not the same on both sides."""

import re
from collections import Counter
from collections.abc import Iterable

from contract_guard.mirrors.equivalences import FLAT
from contract_guard.mirrors.operations import COMPUTING
from contract_guard.mirrors.weights import Graphs, Weighed

_NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


def parting(
    pairs: Iterable[tuple[Weighed, Weighed]], test: Graphs, production: Graphs
) -> tuple[int, int] | None:
    """The lines (test, production) of the first pair of operations that differ: in a number, in
    the number of operands of a sum or product, or in the operation that an operand is. None where
    no difference is seen. A side that only takes as an argument what the other computes does not
    differ."""
    mine_above, theirs_above = _above(test), _above(production)
    for a, b in sorted(pairs, key=lambda pair: (pair[0].node.line, pair[0].index)):
        mine, theirs = _numbers(a), _numbers(b)
        if mine - theirs and theirs - mine:
            return a.node.line, b.node.line
        for whole, other in ((a, b), (mine_above.get(a.index, a), theirs_above.get(b.index, b))):
            same = whole.node.op == other.node.op and whole.node.op in FLAT
            if same and len(whole.node.operands) != len(other.node.operands):
                return whole.node.line, other.node.line
        mine_below, theirs_below = _below(a, test), _below(b, production)
        if mine_below - theirs_below and theirs_below - mine_below:
            return a.node.line, b.node.line
    return None


def _numbers(weighed: Weighed) -> set[str]:
    return {leaf for leaf in weighed.leaves if _NUMBER.fullmatch(leaf)}


def _above(graphs: Graphs) -> dict[int, Weighed]:
    """The node that each is an operand of, for those that are of one node alone."""
    found: dict[int, Weighed] = {}
    several: set[int] = set()
    for weighed in graphs.nodes.values():
        for child in weighed.children:
            if child in found:
                several.add(child)
            found[child] = weighed
    return {child: weighed for child, weighed in found.items() if child not in several}


def _below(weighed: Weighed, graphs: Graphs) -> Counter[str]:
    ops = (graphs.form.nodes[child].op for child in weighed.children)
    return Counter(op for op in ops if op in COMPUTING)
