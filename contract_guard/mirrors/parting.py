"""Where two copies of one rule part: the first operation that is not the same on both sides."""

import re
from collections import Counter
from collections.abc import Iterable

from contract_guard.mirrors.normal_form import FLAT
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
    for a, b in sorted(pairs, key=lambda pair: (pair[0].node.line, pair[0].index)):
        mine, theirs = _numbers(a), _numbers(b)
        if mine - theirs and theirs - mine:
            return a.node.line, b.node.line
        if a.node.op in FLAT and len(a.node.operands) != len(b.node.operands):
            return a.node.line, b.node.line
        mine_below, theirs_below = _below(a, test), _below(b, production)
        if mine_below - theirs_below and theirs_below - mine_below:
            return a.node.line, b.node.line
    return None


def _numbers(weighed: Weighed) -> set[str]:
    return {leaf for leaf in weighed.leaves if _NUMBER.fullmatch(leaf)}


def _below(weighed: Weighed, graphs: Graphs) -> Counter[str]:
    ops = (graphs.form.nodes[child].op for child in weighed.children)
    return Counter(op for op in ops if op in COMPUTING)
