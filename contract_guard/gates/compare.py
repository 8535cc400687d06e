"""Compares a gate with the oracle, token by token, as routing asks for.

The experts that a gate chose may differ from the oracle's only where the choice scores of those
that changed places are within the error bound of each other; weights are aligned by expert, and
judged on the gate's own choice. What the bound explains is *excused* and counted, what it does not
is drift. Where a gate hands out its logits, its linear is judged by itself and the rest with those
logits taken as exact, so that the rounding of a bfloat16 linear hides nothing that follows it.

Everything stays on the device; `Comparison.counts` is the only read-back.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from contract_guard.gates.bounds import Bounds, bounds, logit_error
from contract_guard.gates.capacity import wrongly_dropped
from contract_guard.gates.model import Gate, GateInputs, GateOutput, OracleOutput
from contract_guard.gates.oracle import oracle
from contract_guard.gates.spec import GateSpec

if TYPE_CHECKING:
    from torch import Tensor

# Order of float64 with NaN and infinities made comparable: NaN above +inf, or below all numbers.
_INFINITE, _NAN_GREATEST, _NAN_LEAST = 2e300, 3e300, -1e300

PARTS = ("logits", "count", "choice", "order", "ties", "weights", "finite")
"""What can be wrong with a token: its logits, how many experts it has, which, in what order, which
of exactly tied ones, their weights, NaN or infinity in a weight."""


class GateFault(Exception):
    """The gate gave something that is no routing (shape, device, dtype); the message says what."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a gate's output on one batch is judged by. `truth` weighs the gate's own choice.
    `linear_error` [T, E] is what the linear may add from one run of the gate to another; `bounds`
    hold it only where the gate's own logits are not known."""

    truth: OracleOutput
    bounds: Bounds
    logits_bad: "Tensor"
    linear_error: "Tensor"
    own_logits: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """`wrong` [parts, T] bool in the order of `PARTS`; `excused` and `overflow` [T] bool."""

    wrong: "Tensor"
    excused: "Tensor"
    overflow: "Tensor"
    judgement: Judgement

    @property
    def bad(self) -> "Tensor":
        """Tokens [T] on which the gate drifts."""
        return self.wrong.any(0)

    def parts(self, row: int) -> tuple[str, ...]:
        """What is wrong with one token."""
        flags: list[bool] = self.wrong[:, row].tolist()
        return tuple(part for part, wrong in zip(PARTS, flags, strict=True) if wrong)


def check_form(output: GateOutput, inputs: GateInputs, experts: int) -> None:
    """Raises `GateFault` unless the output is dense [T, E] on the device of the inputs."""
    given = next(
        tensor for tensor in (inputs.hidden, inputs.logits, inputs.input_ids) if tensor is not None
    )
    expected = (given.shape[0], experts)
    for name, tensor in (("weights", output.dense), ("choice", output.chosen)):
        if tuple(tensor.shape) != expected:
            raise GateFault(f"{name} of shape {tuple(tensor.shape)}, expected {expected}")
        if tensor.device != given.device:
            raise GateFault(f"{name} on {tensor.device}, inputs on {given.device}")
    if not output.dense.dtype.is_floating_point:
        raise GateFault(f"weights of dtype {output.dense.dtype}")


def judge(gate: Gate, inputs: GateInputs, output: GateOutput, tolerance: float = 1.0) -> Judgement:
    """The oracle's view of the gate's output: what its choice is worth, and the error bounds, times
    `tolerance`."""
    spec, parameters = gate.spec, gate.parameters
    # What a token's choice is worth; whether there was room for it is another question.
    spec = replace(spec, output=replace(spec.output, capacity=None))
    ids = _chosen_ids(gate, output)
    if output.logits is None or spec.linear.kind == "none":
        given = inputs.hidden if inputs.logits is None else inputs.logits
        assert given is not None
        truth = oracle(spec, parameters, inputs, ids)
        error = logit_error(spec, parameters, inputs, truth)
        name = spec.linear.output_dtype if spec.linear.kind != "none" else _name(given.dtype)
        return Judgement(
            truth,
            _widened(bounds(spec, parameters, truth, error, name), tolerance),
            torch.zeros_like(truth.fixed),
            tolerance * error,
            own_logits=False,
        )
    linear = oracle(spec, parameters, inputs, ids)
    error = tolerance * logit_error(spec, parameters, inputs, linear)
    limit = torch.finfo(getattr(torch, spec.linear.output_dtype)).max / 2
    off = (output.logits.double() - linear.logits).abs() > error
    # Sums beyond the range of the dtype may become anything.
    judged = (linear.magnitude < limit) & linear.logits.isfinite()
    never_finite = linear.logits.isnan() & output.logits.isfinite()
    lost = linear.logits.isfinite() & ~output.logits.isfinite()
    logits_bad = ((off | lost) & judged | never_finite).any(-1)
    own = replace(inputs, logits=output.logits)
    truth = oracle(spec, parameters, own, ids)
    exact = torch.zeros_like(truth.logits)
    own_bounds = bounds(spec, parameters, truth, exact, _name(output.logits.dtype))
    return Judgement(truth, _widened(own_bounds, tolerance), logits_bad, error, own_logits=True)


def between_runs(gate: Gate, judgement: Judgement) -> Judgement:
    """The same judgement with bounds that hold for another run of the gate, whose linear may
    round otherwise."""
    if not judgement.own_logits:
        return judgement
    spec, truth = gate.spec, judgement.truth
    wider = bounds(spec, gate.parameters, truth, judgement.linear_error, spec.linear.output_dtype)
    return replace(judgement, bounds=wider)


def compare(
    gate: Gate, inputs: GateInputs, output: GateOutput, tolerance: float = 1.0
) -> Comparison:
    """Judges one batch, by the error bound times `tolerance`. Raises `GateFault` where the output
    is no routing of it."""
    spec = gate.spec
    check_form(output, inputs, spec.experts)
    judgement = judge(gate, inputs, output, tolerance)
    truth, bound = judgement.truth, judgement.bounds
    chosen = output.chosen

    key = _keys(truth.choice, spec.selection.nan)
    competing = _competing(spec.experts, spec.special.shared, chosen.device)
    untold = _untold(spec, truth, output)
    competing = competing & ~untold
    lowest_kept = torch.where(chosen & competing, key + bound.choice, torch.inf).amin(-1)
    highest_lost = torch.where(~chosen & competing, key - bound.choice, -torch.inf).amax(-1)
    misplaced = lowest_kept < highest_lost
    strictly = _strictly_misplaced(key, chosen, competing)
    # NaN on either side decides nothing.
    inner = ~(truth.inner_margin > bound.inner)
    by_rule = truth.fixed & (chosen != truth.chosen).any(-1)

    wanted = spec.top_k + spec.special.shared
    count = chosen.sum(-1)
    if spec.output.capacity is not None:
        lost = (key, bound.choice, bound.overflow, chosen, wanted, spec.output.capacity)
        count_bad = (count > wanted) | wrongly_dropped(*lost)
    elif not spec.selection.distinct:
        count_bad = count > wanted
    else:
        count_bad = (count != wanted) & ~truth.fixed
        count_bad &= ~(untold.any(-1) & (count == wanted - 1))
    # Which of a row of NaN were chosen cannot be read off dense weights.
    told = torch.ones_like(misplaced)
    if output.ids is None:
        told = ~truth.scores.isnan().all(-1)
        count_bad, by_rule, misplaced = count_bad & told, by_rule & told, misplaced & told
    choice_bad = torch.where(truth.fixed, by_rule, misplaced & ~inner)
    ties_bad = torch.zeros_like(choice_bad)
    if spec.selection.ties == "lowest":
        ties_bad = _later_of_equals(truth, key, chosen, competing) & ~truth.fixed
    order_bad = torch.zeros_like(choice_bad)
    if spec.selection.sorted and output.ids is not None and spec.special.shared == 0:
        places = bound.choice.masked_fill(untold, torch.inf)
        order_bad = _unsorted(key, places, output.ids) & ~truth.fixed & ~misplaced

    weights = output.dense.double()
    expected = torch.where(chosen, truth.dense, 0.0)
    finite = weights.isfinite().all(-1)
    # The weights of a choice that is wrong, or that masks decided otherwise, say nothing more.
    # Sparsemixer's thresholds decide about weights alone.
    unsettled = misplaced | (spec.score.function == "sparsemixer")
    readable = ~(choice_bad | count_bad | inner & unsettled)
    same_kind = (weights.isnan() == expected.isnan()) & (weights.isinf() == expected.isinf())
    without_nan = ~weights.isnan().any(-1)
    if spec.output.capacity is not None:
        without_nan &= chosen.any(-1)
    finite_bad = torch.where(told, (~same_kind).any(-1), without_nan) & readable
    off = (weights - expected).abs() > bound.weights
    weights_bad = (off & weights.isfinite() & expected.isfinite()).any(-1) & readable
    weights_bad |= ((weights != 0) & ~chosen).any(-1)

    wrong = torch.stack(
        [
            judgement.logits_bad,
            count_bad,
            choice_bad & finite | by_rule,
            order_bad,
            ties_bad,
            weights_bad,
            finite_bad | (choice_bad & ~finite & ~by_rule),
        ]
    )
    # Where the spec's own dtypes are too narrow for the numbers, only the form is promised.
    promised = torch.arange(len(PARTS), device=wrong.device) == PARTS.index("count")
    wrong &= ~bound.overflow | promised[:, None]
    excused = (strictly | bound.overflow | untold.any(-1)) & ~truth.fixed & ~wrong.any(0)
    return Comparison(wrong, excused, bound.overflow, judgement)


def same_routing(first: GateOutput, second: GateOutput, judgement: Judgement) -> "Tensor":
    """Tokens [T] on which two outputs of one rule agree: the same experts but for those that are
    within the bound of each other, and weights within twice the bound. `judgement` is one that
    holds `between_runs`."""
    truth, bound = judgement.truth, judgement.bounds
    key = _keys(truth.choice, "greatest")
    only_first = first.chosen & ~second.chosen
    only_second = second.chosen & ~first.chosen
    moved = only_first | only_second
    # Both sides of every exchange must be reachable within the bound.
    high = torch.where(moved, key - 2 * bound.choice, -torch.inf).amax(-1)
    low = torch.where(moved, key + 2 * bound.choice, torch.inf).amin(-1)
    exchanged = moved.any(-1)
    near = (low >= high) | ~(truth.inner_margin > 2 * bound.inner)
    a, b = first.dense.double(), second.dense.double()
    apart = (a - b).abs() > 2 * bound.weights + 1e-12
    unlike = a.isfinite() != b.isfinite()
    weights_differ = ((apart & a.isfinite() & b.isfinite()) | unlike).any(-1)
    return torch.where(exchanged, near & ~truth.fixed, ~weights_differ) | bound.overflow


def _widened(bound: Bounds, factor: float) -> Bounds:
    return replace(
        bound,
        choice=bound.choice * factor,
        weights=bound.weights * factor,
        inner=bound.inner * factor,
    )


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _competing(experts: int, shared: int, device: torch.device) -> "Tensor":
    """Columns [E] that compete for a place; shared slots are always there."""
    return torch.arange(experts, device=device) < experts - shared


def _chosen_ids(gate: Gate, output: GateOutput) -> "Tensor":
    """The gate's choices as ids [T, K], in no order; any for a token that was dropped."""
    spec = gate.spec
    routed = output.chosen[:, : spec.experts - spec.special.shared]
    return routed.float().topk(spec.top_k, dim=-1, sorted=False).indices


def _keys(choice: "Tensor", nan: str) -> "Tensor":
    key = choice.clamp(-_INFINITE, _INFINITE)
    return key.nan_to_num(nan=_NAN_GREATEST if nan == "greatest" else _NAN_LEAST)


def _untold(spec: GateSpec, truth: OracleOutput, output: GateOutput) -> "Tensor":
    """Columns [T, E] of which a gate does not say whether they were chosen: id 0 with weight 0
    stands for the skip column, and for expert 0 where its weight rounds to 0."""
    untold = torch.zeros_like(output.chosen)
    if spec.special.skip:
        least = torch.finfo(getattr(torch, spec.output_dtype)).smallest_normal
        either = output.chosen[:, -1] & ~output.chosen[:, 0] & (truth.scores[:, 0] <= 2 * least)
        untold[:, 0] = untold[:, -1] = either
    return untold


def _strictly_misplaced(key: "Tensor", chosen: "Tensor", competing: "Tensor") -> "Tensor":
    kept = torch.where(chosen & competing, key, torch.inf).amin(-1)
    lost = torch.where(~chosen & competing, key, -torch.inf).amax(-1)
    return kept < lost


def _later_of_equals(
    truth: OracleOutput, key: "Tensor", chosen: "Tensor", competing: "Tensor"
) -> "Tensor":
    """Tokens [T] where, of experts with equal logits and equal choice scores, a later one was
    taken and an earlier one left."""
    place = torch.arange(key.shape[-1], device=key.device).expand_as(key)
    last = torch.where(chosen & competing, key, torch.inf).amin(-1, keepdim=True)
    tied = (key == last) & competing
    latest = torch.where(tied & chosen, place, -1).amax(-1)
    earliest = torch.where(tied & ~chosen, place, key.shape[-1]).amin(-1)
    logits = truth.logits.nan_to_num(nan=0.0)
    pick = latest.clamp(min=0)[:, None]
    other = earliest.clamp(max=key.shape[-1] - 1)[:, None]
    equal_logits = (logits.gather(1, pick) == logits.gather(1, other))[:, 0]
    return (earliest < latest) & equal_logits


def _unsorted(key: "Tensor", error: "Tensor", ids: "Tensor") -> "Tensor":
    """Tokens [T] whose experts are not handed out by descending choice."""
    place = ids.long().clamp(0, key.shape[-1] - 1)
    values, errors = key.gather(1, place), error.gather(1, place)
    return (values[:, 1:] - errors[:, 1:] > values[:, :-1] + errors[:, :-1]).any(-1)
