"""Shrinks a failing case to one token with the one property that matters.

A case is structure and a seed, so it shrinks by structure: other tokens go first, then what is
special about the batch, then the size of the gate.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from contract_guard.gates.case import Case
from contract_guard.gates.model import Domain, GateShape


def shrink(
    case: Case,
    row: int | None,
    fails: Callable[[Case], bool],
    domain: Domain,
    token_id: int | None = None,
    seconds: float = 5.0,
) -> Case:
    """The smallest case found on which `fails` still holds: one token of one kind, on the smallest
    shape, with everything else plain. `row` is a failing row of the case and `token_id` its id.
    Greedy: each step keeps the first simpler case that fails."""
    end = time.monotonic() + seconds
    if row is not None:
        best = _first_failing(_single_token(case, row, token_id), fails, end) or case
    else:
        best = case
    while time.monotonic() < end:
        simpler = _first_failing(_simpler(best, domain), fails, end)
        if simpler is None:
            break
        best = simpler
    return best


def _first_failing(
    candidates: Iterator[Case], fails: Callable[[Case], bool], end: float
) -> Case | None:
    for candidate in candidates:
        if time.monotonic() > end:
            return None
        if fails(candidate):
            return candidate
    return None


def _single_token(case: Case, row: int, token_id: int | None) -> Iterator[Case]:
    """One token: made afresh with its id and kind, or else cut out of the batch as it is."""
    kind = case.kinds[row % len(case.kinds)]
    fresh = replace(case, tokens=1, kinds=(kind,), keep=None)
    if token_id is not None:
        fresh = replace(fresh, ids="sweep", first_id=token_id)
    # The row's numbers decide about some causes: a few seeds, then the very row.
    for seed in range(8):
        yield replace(fresh, seed=seed)
    yield replace(case, keep=(case.keep[row] if case.keep is not None else row,))


def _simpler(case: Case, domain: Domain) -> Iterator[Case]:
    """Cases that are simpler than this one in one respect, the most telling respects first."""
    if case.keep is None and len(case.kinds) > 1:
        for kind in case.kinds:
            yield replace(case, kinds=(kind,))
    if case.tokens > 1 and case.keep is None:
        for tokens in (1, 2, case.tokens // 4, case.tokens // 2):
            if 0 < tokens < case.tokens:
                yield replace(case, tokens=tokens)
    plain = Case(case.shape, case.tokens, case.seed)
    for field in ("weights", "magnitude", "bias", "padding"):
        if getattr(case, field) != getattr(plain, field):
            yield replace(case, **{field: getattr(plain, field)})  # pyright: ignore[reportArgumentType]
    if case.ids != "random" or case.first_id:
        yield replace(case, ids="random", first_id=0)
    if case.keep is None:
        # Each list holds only kinds that are simpler still: shrinking must not go in circles.
        kind = next(iter(case.kinds))
        simpler = () if kind == "axis" else ("axis",) if kind == "normal" else ("axis", "normal")
        for kind in simpler:
            yield replace(case, kinds=(kind,))
    for shape in _simpler_shapes(case.shape, domain):
        yield replace(case, shape=shape)


def _simpler_shapes(shape: GateShape, domain: Domain) -> Iterator[GateShape]:
    for experts in sorted(domain.experts):
        for top_k in sorted(domain.top_k):
            smaller = (experts, top_k) < (shape.experts, shape.top_k)
            if smaller and top_k <= shape.top_k and domain.valid(experts, top_k):
                yield replace(shape, experts=experts, top_k=top_k)
    for hidden in sorted(domain.hidden):
        if hidden < shape.hidden:
            yield replace(shape, hidden=hidden)
    if shape.dtype != "float32" and "float32" in domain.dtypes:
        yield replace(shape, dtype="float32")
