"""Which cases a gate is run on: Hypothesis draws structure, `tensors.py` makes the numbers.

Shapes are covered first: building a gate costs more than running it, so a run uses a handful that
together show every expert count, k, hidden size, dtype and option of the gate's domain.
"""

import itertools
import random
from collections.abc import Iterator, Mapping

from hypothesis import strategies as st

from contract_guard.gates.case import BIAS_KINDS, PADDINGS, ROW_KINDS, WEIGHT_KINDS, Case
from contract_guard.gates.model import GateAdapter, GateShape

MAX_SEED = 2**31 - 1
# More combinations than this are sampled, not listed.
MAX_COMBINATIONS = 4096


def shapes(adapter: GateAdapter, device: str, limit: int, seed: int = 0) -> tuple[GateShape, ...]:
    """At most `limit` shapes that together hold every value of every axis of the domain, as far as
    `limit` allows, K = E included where it is valid. The smallest comes first, with the first value
    of each option."""
    domain = adapter.domain
    pairs = [
        (experts, top_k)
        for experts in domain.experts
        for top_k in domain.top_k
        if domain.valid(experts, top_k)
    ]
    option_names = sorted(adapter.options)
    axes: list[tuple[object, ...]] = [tuple(pairs), domain.hidden, domain.dtypes]
    axes += [adapter.options[name] for name in option_names]
    if not all(axes):
        return ()
    plain = [axis[0] for axis in axes[3:]]
    smallest = (*(min(axis, key=_size) for axis in axes[:3]), *plain)
    chosen = [smallest]
    covered = set(_features(smallest))
    candidates = _combinations(axes, random.Random(seed))
    while len(chosen) < limit:
        best = max(candidates, key=lambda values: len(_features(values) - covered), default=None)
        if best is None or not _features(best) - covered:
            break
        chosen.append(best)
        covered |= _features(best)
    return tuple(_shape(values, option_names, device) for values in chosen)


def _size(value: object) -> tuple[int, ...]:
    """Numbers by size; the first of what is no number stays first."""
    if isinstance(value, tuple):
        return tuple(value)  # pyright: ignore[reportUnknownArgumentType,reportUnknownVariableType]
    return (value,) if isinstance(value, int) else (0,)


def _features(values: tuple[object, ...]) -> set[tuple[int, object]]:
    pair = values[0]
    assert isinstance(pair, tuple)
    experts, top_k = pair  # pyright: ignore[reportUnknownVariableType]
    found: set[tuple[int, object]] = {(-1, experts), (-2, top_k), (-3, experts == top_k)}
    return found | set(enumerate(values[1:]))


def _combinations(
    axes: list[tuple[object, ...]], choose: random.Random
) -> list[tuple[object, ...]]:
    count = 1
    for axis in axes:
        count *= len(axis)
    if count <= MAX_COMBINATIONS:
        found = list(itertools.product(*axes))
        choose.shuffle(found)
        return found
    return [tuple(choose.choice(axis) for axis in axes) for _ in range(MAX_COMBINATIONS)]


def _shape(values: tuple[object, ...], option_names: list[str], device: str) -> GateShape:
    pair, hidden, dtype, *options = values
    experts, top_k = pair  # pyright: ignore[reportGeneralTypeIssues,reportUnknownVariableType]
    assert isinstance(experts, int)
    assert isinstance(top_k, int)
    assert isinstance(hidden, int)
    assert isinstance(dtype, str)
    named: Mapping[str, object] = dict(zip(option_names, options, strict=True))
    return GateShape(experts, top_k, hidden, dtype, device, named)


def batch_size(shape: GateShape, elements: int, most: int) -> int:
    """Tokens a batch: at most `most`, and so that T x max(H, E) stays within `elements`."""
    return max(1, min(most, elements // max(shape.hidden, shape.experts)))


def cases(
    available: tuple[GateShape, ...], elements: int, most_tokens: int, with_ids: bool
) -> st.SearchStrategy[Case]:
    """Cases over the given shapes. Half of them hold ordinary numbers only."""
    ordinary = st.sampled_from(
        [("normal",), ("outlier",), ("uniform",), ("normal", "outlier", "negative")]
    )
    mixed = st.lists(st.sampled_from(ROW_KINDS), min_size=1, max_size=5, unique=True).map(tuple)

    @st.composite
    def one(draw: st.DrawFn) -> Case:
        shape = draw(st.sampled_from(available))
        tokens = batch_size(shape, elements, most_tokens)
        plain = draw(st.booleans())
        weights = st.sampled_from(("normal", "small") if plain else WEIGHT_KINDS)
        biases = ("zero", "normal", "comparable", "negative") if plain else BIAS_KINDS
        return Case(
            shape=shape,
            tokens=tokens,
            seed=draw(st.integers(0, MAX_SEED)),
            kinds=draw(ordinary if plain else mixed),
            weights=draw(weights),
            magnitude=0 if plain else draw(st.sampled_from((0, -8, -3, 3, 6))),
            bias=draw(st.sampled_from(biases)),
            ids=draw(st.sampled_from(("random", "boundary"))) if with_ids else "random",
            padding=draw(st.sampled_from(PADDINGS)),
        )

    return one()


def corners(
    available: tuple[GateShape, ...],
    elements: int,
    most_tokens: int,
    swept: tuple[tuple[int, int], ...],
    seed: int,
) -> Iterator[Case]:
    """Cases that every run has: one token, all kinds of rows with each kind of weights and of
    bias, every shape, and every token id of the ranges `swept` once on the smallest shape."""
    first = available[0]
    yield Case(first, 1, seed)
    for turn in range(max(len(available), len(WEIGHT_KINDS), len(BIAS_KINDS))):
        shape = available[turn % len(available)]
        yield Case(
            shape,
            batch_size(shape, elements, most_tokens),
            seed + turn,
            ROW_KINDS,
            weights=WEIGHT_KINDS[turn % len(WEIGHT_KINDS)],
            bias=BIAS_KINDS[(turn + 1) % len(BIAS_KINDS)],
            ids="boundary",
        )
    for first_id, count in swept:
        tokens = min(batch_size(first, elements, most_tokens), count)
        for start in range(first_id, first_id + count, tokens):
            yield Case(first, tokens, seed, bias="normal", ids="sweep", first_id=start)
