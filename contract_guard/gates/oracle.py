"""The float64 oracle: any `GateSpec` computed in exact-as-can-be arithmetic from loaded parameters.

T tokens, E scored columns (shared slots and a skip column included), K choices, H hidden size.
Parameters and inputs are taken as they are (a bfloat16 weight is the number that it holds) and
everything after that is float64. `docs/gates.md` gives the formulas and where they come from.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from contract_guard.gates.model import GateInputs, OracleOutput
from contract_guard.gates.router_mlp import router_mlp
from contract_guard.gates.spec import GateSpec, Groups, Selection

if TYPE_CHECKING:
    from torch import Tensor

_LOWEST = -1e300
"""What NaN counts as where it is the least: below every finite score, above -inf."""


def oracle(
    spec: GateSpec,
    parameters: "Mapping[str, torch.Tensor]",
    inputs: GateInputs,
    ids: "torch.Tensor | None" = None,
) -> OracleOutput:
    """The truth for one batch, on the device of the inputs.

    With `inputs.logits` the linear is left out and those logits are taken as exact. With `ids`
    [T, K], the choices of a gate, these are weighed in place of the oracle's own (but where a
    table decides): what the weights ought to be, had it been right to choose them. Raises
    ValueError where an input that the spec asks for is not there.
    """
    logits, magnitude = _logits(spec, parameters, inputs)
    tokens = logits.shape[0]
    shared = spec.special.shared
    routed = logits[:, : spec.experts - shared]
    scores = _scores(spec, routed)
    if spec.selection.nan == "zero":
        scores = scores.nan_to_num(nan=0.0, posinf=math.inf, neginf=-math.inf)
    choice = _corrected(spec, parameters, inputs, scores)
    inner_margin = torch.full((tokens,), math.inf, dtype=torch.float64, device=logits.device)
    weighed = scores
    if spec.groups is not None:
        choice, kept, inner_margin = _grouped(spec.groups, choice)
        if spec.groups.weights == "masked":
            # among groups that are NaN any may be kept, and its weights are NaN
            told = ~inner_margin.isnan()[:, None]
            weighed = scores.masked_fill(~kept & told, spec.groups.fill)
    if spec.correction.leaks:
        weighed = choice

    fixed = torch.zeros(tokens, dtype=torch.bool, device=logits.device)
    if spec.score.function == "sparsemixer":
        ids, raw, inner_margin = _sparsemixer(routed, spec.score.jitter, spec.top_k)
    else:
        ids = top_ids(choice, spec.selection) if ids is None else ids
        if spec.selection.kind == "hash":
            table_ids = parameters["table"].long()[_need(inputs.input_ids, "input_ids")]
            by_table = ~_image_tokens(spec, inputs, fixed)
            ids = torch.where(by_table[:, None], table_ids, ids)
            fixed = by_table
        raw = _raw_weights(spec, routed, weighed, ids)

    weights = _weights(spec, parameters, logits, raw, ids)
    chosen = torch.zeros_like(routed, dtype=torch.bool).scatter_(1, ids, True)
    dense = torch.zeros_like(routed).scatter_add_(1, ids, weights[:, : spec.top_k])
    if shared:
        chosen = functional.pad(chosen, (0, shared), value=True)
        dense = torch.cat([dense, weights[:, spec.top_k :]], dim=1)
        choice = functional.pad(choice, (0, shared), value=-math.inf)
        scores = functional.pad(scores, (0, shared))
    if spec.special.skip:
        dense[:, -1] = 0.0
    if spec.special.padding != "none" and inputs.padding is not None:
        padded = ~inputs.padding
        dense, fixed = dense.masked_fill(padded[:, None], 0.0), fixed | padded
        chosen = chosen & ~padded[:, None]
    if spec.output.capacity is not None:
        within = chosen.cumsum(0) <= spec.output.capacity
        dense, chosen = dense * within, chosen & within
    return OracleOutput(dense, chosen, choice, scores, logits, fixed, magnitude, inner_margin)


def top_ids(choice: "Tensor", selection: Selection) -> "Tensor":
    """The K experts of highest choice [T, K], by descending choice; equal ones by lowest id where
    the selection says so. NaN counts as greatest or least, as the selection says."""
    ranked = choice
    if selection.nan == "least":
        ranked = torch.where(choice.isnan(), _LOWEST, choice)
    if selection.ties == "lowest":
        return ranked.sort(dim=-1, descending=True, stable=True).indices[:, : selection.k]
    return ranked.topk(selection.k, dim=-1).indices


def _need(tensor: "Tensor | None", name: str) -> "Tensor":
    if tensor is None:
        raise ValueError(f"the gate takes {name}, and the batch has none")
    return tensor


def _logits(
    spec: GateSpec, parameters: "Mapping[str, Tensor]", inputs: GateInputs
) -> "tuple[Tensor, Tensor]":
    if inputs.logits is not None:
        logits = inputs.logits.double()
        return logits, logits.abs()
    linear = spec.linear
    hidden, weight, bias = operands(spec, parameters, inputs)
    logits = functional.linear(hidden, weight, bias) * linear.multiplier
    magnitude = functional.linear(hidden.abs(), weight.abs(), None if bias is None else bias.abs())
    magnitude = magnitude * abs(linear.multiplier)
    if linear.soft_cap is not None:
        logits = torch.tanh(logits / linear.soft_cap) * linear.soft_cap
    return logits, magnitude


def operands(
    spec: GateSpec, parameters: "Mapping[str, Tensor]", inputs: GateInputs
) -> "tuple[Tensor, Tensor, Tensor | None]":
    """What the last linear multiplies and adds: hidden states [T, H] after the norm and scales
    before it, weight [E, H] and bias [E], in float64."""
    linear = spec.linear
    hidden = _need(inputs.hidden, "logits" if linear.kind == "none" else "hidden").double()
    if linear.kind == "mlp":
        hidden, _ = router_mlp(linear, parameters, hidden, inputs.state, 0.0)
    elif linear.norm is not None:
        hidden = _rms_norm(hidden, linear.norm.epsilon)
        if linear.norm.weighted:
            hidden = hidden * parameters["norm_weight"].double()
    if linear.input_scale:
        hidden = hidden * parameters["input_scale"].double()
    hidden = hidden * linear.input_multiplier
    weight = parameters["weight"].double()
    return hidden, weight, parameters["linear_bias"].double() if linear.bias else None


def _rms_norm(hidden: "Tensor", epsilon: float) -> "Tensor":
    return hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + epsilon)


def _scores(spec: GateSpec, routed: "Tensor") -> "Tensor":
    if spec.score.when == "after":
        return routed
    match spec.score.function:
        case "softmax":
            return routed.softmax(-1)
        case "sigmoid":
            return routed.sigmoid()
        case "sqrt-softplus":
            # torch's softplus turns into x above 20, where float64 still sees log1p(exp(-20))
            return torch.logaddexp(routed, torch.zeros_like(routed)).sqrt()
        case "sparsemixer" | "identity":
            return routed


def _image_tokens(spec: GateSpec, inputs: GateInputs, none: "Tensor") -> "Tensor":
    if spec.image is None or inputs.input_ids is None:
        return none
    first, ids = spec.image.first_id, inputs.input_ids
    return (ids >= first) & (ids < first + spec.image.count)


def _corrected(
    spec: GateSpec, parameters: "Mapping[str, Tensor]", inputs: GateInputs, scores: "Tensor"
) -> "Tensor":
    bias = None
    if spec.correction.on != "none":
        bias = parameters.get("bias") if inputs.bias is None else inputs.bias
        bias = _need(bias, "bias").double().reshape(1, -1)
    if spec.image is not None:
        none = torch.zeros(scores.shape[0], dtype=torch.bool, device=scores.device)
        image = _image_tokens(spec, inputs, none)
        image_bias = parameters["image_bias"].double()
        text_bias = torch.zeros_like(image_bias) if bias is None else bias
        image_bias = image_bias + text_bias if spec.image.adds else image_bias
        bias = torch.where(image[:, None], image_bias, text_bias)
    return scores if bias is None else scores + bias


def _grouped(groups: Groups, choice: "Tensor") -> "tuple[Tensor, Tensor, Tensor]":
    """The choice with lost groups filled, which experts are in kept groups [T, E], and how far
    the last kept group is from the first lost one [T], per score in the sum."""
    size = choice.shape[1] // groups.count
    parted = choice.reshape(-1, groups.count, size)
    terms = 1 if groups.score == "max" else min(groups.top, size)
    group_scores = parted.topk(terms, dim=-1).values.sum(-1)
    order = group_scores.sort(dim=-1, descending=True, stable=True)
    kept_groups = torch.zeros_like(group_scores, dtype=torch.bool)
    kept_groups.scatter_(1, order.indices[:, : groups.kept], True)
    kept = kept_groups.repeat_interleave(size, dim=1)
    margin = torch.full_like(choice[:, 0], math.inf)
    if groups.kept < groups.count:
        margin = (order.values[:, groups.kept - 1] - order.values[:, groups.kept]) / terms
    return choice.masked_fill(~kept, groups.fill), kept, margin


def _sparsemixer(logits: "Tensor", jitter: float, rounds: int) -> "tuple[Tensor, Tensor, Tensor]":
    """Each round takes the best of what is left; its weight is the softmax over those whose
    relative distance from it is at most 2 * jitter. Margin: how far the closest logit is from that
    threshold."""
    left = logits
    ids: list[Tensor] = []
    weights: list[Tensor] = []
    margins: list[Tensor] = []
    for _ in range(rounds):
        best, winner = left.max(dim=-1, keepdim=True)
        factor = logits.abs().maximum(best)
        out = ((best - logits) / factor) > 2 * jitter
        gates = left.masked_fill(out, -math.inf).softmax(-1)
        distance = ((best - logits) - 2 * jitter * factor).abs()
        competing = left.isfinite() & ~torch.zeros_like(out).scatter_(1, winner, True)
        margins.append(distance.masked_fill(~competing, math.inf).amin(-1))
        ids.append(winner)
        weights.append(gates.gather(1, winner))
        left = left.scatter(1, winner, -math.inf)
    return torch.cat(ids, 1), torch.cat(weights, 1), torch.stack(margins).amin(0)


def _raw_weights(spec: GateSpec, routed: "Tensor", weighed: "Tensor", ids: "Tensor") -> "Tensor":
    if spec.score.when == "before":
        return weighed.gather(1, ids)
    picked = routed.gather(1, ids)
    match spec.score.function:
        case "softmax":
            return picked.softmax(-1)
        case "sigmoid":
            return picked.sigmoid()
        case _:
            return picked


def _weights(
    spec: GateSpec,
    parameters: "Mapping[str, Tensor]",
    logits: "Tensor",
    raw: "Tensor",
    ids: "Tensor",
) -> "Tensor":
    """Renormalized and scaled weights [T, K + shared]."""
    rule, scale = spec.renormalization, spec.scale
    weights = raw
    if spec.special.shared:
        slots = logits[:, spec.experts - spec.special.shared :]
        weights = torch.cat([raw, slots.sigmoid()], dim=1)
    if spec.renormalizes:
        if spec.score.form == "log-space":
            # exact where every sigmoid is too small for a float64
            slots = logits[:, spec.experts - spec.special.shared :]
            log_scores = functional.logsigmoid(torch.cat([logits.gather(1, ids), slots], dim=1))
            weights = log_scores.softmax(-1)
        else:
            summed = weights if rule.over == "chosen and shared" else raw
            total = summed.abs().pow(rule.p).sum(-1, keepdim=True).pow(1 / rule.p)
            if rule.clamp is not None:
                total = total.clamp(min=rule.clamp)
            if rule.guard:
                total = torch.where(total > 0, total, 1.0)
            weights = weights / (total + rule.epsilon)
    if scale.at == "weight":
        weights = weights * scale.factor
    if scale.learned:
        weights = weights * parameters["scale"].double()
    if scale.per_expert:
        weights = weights * parameters["expert_scale"].double()[ids]
    if scale.inverse_k:
        weights = weights / spec.top_k
    return weights
