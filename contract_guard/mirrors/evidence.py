"""Which compared values of a test are evidence together.

Two assertions of one operation each, far apart, are no copy of two operations: what is compared
counts together where it stands together, or is computed from the same steps.
"""

from collections.abc import Collection, Iterable
from typing import NamedTuple

_NEAR = 3  # lines from one assertion to the next of one block


class Compared(NamedTuple):
    """The nodes of a compared value, and the line of the assertion."""

    nodes: frozenset[int]
    line: int


def together(values: Iterable[Compared], steps: Collection[int]) -> list[frozenset[int]]:
    """The nodes of each group of values that are evidence together: their assertions form a
    block, or they share one of `steps`."""
    groups: list[tuple[set[int], int, set[int]]] = []  # nodes, last line, steps
    for nodes, line in sorted(values, key=lambda value: value.line):
        own = {node for node in nodes if node in steps}
        joined = [
            group for group in groups if line - group[1] <= _NEAR or not own.isdisjoint(group[2])
        ]
        groups = [group for group in groups if group not in joined]
        groups.append(
            (
                set(nodes).union(*(group[0] for group in joined)),
                line,
                own.union(*(group[2] for group in joined)),
            )
        )
    return [frozenset(nodes) for nodes, _, _ in groups]
