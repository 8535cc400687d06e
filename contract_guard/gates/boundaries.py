"""Token ids next to which a rule changes: what any predicate of gate, mirror or spec mentions."""

import ast
from collections.abc import Iterable

from contract_guard.gates.spec import GateSpec
from contract_guard.mirrors.model import Const, OracleSlice

# Smaller numbers in a source file are sizes, dimensions and counts far more often than ids.
SMALLEST_ID = 256
# Larger ones are seeds, masks and limits: no vocabulary is that large.
MOST_IDS = 1 << 20
# Every id is tried once up to so many; of larger vocabularies only the beginning, and what is near
# a boundary.
MOST_SWEPT = 1 << 18
AROUND = 64
COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge", "isin", "in", "not_in", "between"})


def of_spec(spec: GateSpec) -> set[int]:
    """The first id of a range and the first after it."""
    if spec.image is None:
        return set()
    return {spec.image.first_id, spec.image.first_id + spec.image.count}


def of_slice(mirror: OracleSlice) -> set[int]:
    """Integers that the lifted expectation compares with."""
    found: set[int] = set()
    for op in mirror.ops:
        if op.name in COMPARISONS:
            for argument in op.arguments:
                if isinstance(argument, Const) and isinstance(argument.value, int):
                    found.add(int(argument.value))
    return found


def of_sources(texts: Iterable[str]) -> set[int]:
    """Integers from `SMALLEST_ID` to `MOST_IDS` in comparisons and in module-level constants. A
    text that is no Python counts for nothing."""
    found: set[int] = set()
    for text in texts:
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        places: list[ast.AST] = [node for node in ast.walk(tree) if isinstance(node, ast.Compare)]
        places += [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
        for place in places:
            for node in ast.walk(place):
                if isinstance(node, ast.Constant) and type(node.value) is int:
                    found.add(node.value)
    return {value for value in found if SMALLEST_ID <= value < MOST_IDS}


def gathered(spec: GateSpec, mirror: OracleSlice | None) -> tuple[int, ...]:
    """Those that the spec and the mirror name, in order."""
    return tuple(sorted(of_spec(spec) | (of_slice(mirror) if mirror is not None else set())))


def swept(boundaries: tuple[int, ...], vocabulary: int) -> tuple[tuple[int, int], ...]:
    """Ranges of ids (first, count) that are tried one by one."""
    if vocabulary <= MOST_SWEPT:
        return ((0, vocabulary),)
    beyond = [max(0, b - AROUND) for b in boundaries if b >= MOST_SWEPT]
    return ((0, MOST_SWEPT), *((first, 2 * AROUND) for first in beyond))


def neutral(boundaries: tuple[int, ...], vocabulary: int) -> int:
    """An id that is far from every boundary, or as far as can be."""
    candidates = range(3, vocabulary, max(1, vocabulary // 64))
    return max(
        candidates, key=lambda candidate: min((abs(candidate - b) for b in boundaries), default=0)
    )
