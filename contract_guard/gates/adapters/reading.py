"""Reads what a gate hands out, whatever its form, into a `GateOutput`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from contract_guard.gates.model import GateOutput
from contract_guard.gates.spec import GateSpec

if TYPE_CHECKING:
    from torch import Tensor


def read_output(
    spec: GateSpec, tokens: int, result: "Sequence[Tensor]", padding: "Tensor | None" = None
) -> GateOutput:
    """`result` is the gate's tuple, in the order `spec.output.order`, for `tokens` rows; `padding`
    [T] is true for real tokens.

    A dense output does not show the choice of an expert whose weight is 0: experts with a weight
    are chosen, and, up to K, those of highest logit among the others. Raises ValueError where the
    tuple has another length or a part another size.
    """
    order = spec.output.order
    if len(result) != len(order):
        raise ValueError(f"the gate gives {len(result)} values, not {len(order)}: {order}")
    parts = dict(zip(order, result, strict=True))
    logits = _rows(parts, "logits", tokens, spec.experts) if "logits" in parts else None
    match spec.output.form:
        case "gathered":
            return _gathered(spec, tokens, parts, logits)
        case "dense":
            dense = _rows(parts, "dense", tokens, spec.experts)
            chosen = _completed(dense != 0, logits, spec.top_k, padding)
            return GateOutput(dense, chosen, logits=logits)
        case "one-hot":
            chosen = _rows(parts, "one_hot", tokens, spec.experts) != 0
            weights = _rows(parts, "weights", tokens, 1)
            dense = torch.where(chosen, weights, torch.zeros_like(weights))
            return GateOutput(dense, chosen, logits=logits)
        case "grouped":
            return _grouped(spec, tokens, parts, logits)


def _rows(parts: "dict[str, Tensor]", name: str, tokens: int, width: int) -> "Tensor":
    tensor = parts[name]
    if tensor.numel() != tokens * width:
        shape = tuple(tensor.shape)
        raise ValueError(f"the gate gives {name} of shape {shape} for {tokens} x {width} values")
    return tensor.reshape(tokens, width)


def from_choices(
    experts: int, ids: "Tensor", weights: "Tensor", logits: "Tensor | None" = None
) -> GateOutput:
    """From ids and weights [T, K], without a read-back from the device.

    An id outside 0..experts-1 (-1 stands for padding) is no choice, so that the token has too few;
    the weights of an id given twice are added. Raises ValueError where the shapes differ.
    """
    if ids.shape != weights.shape or ids.dim() != 2:
        raise ValueError(f"ids {tuple(ids.shape)} and weights {tuple(weights.shape)} do not match")
    slots = ids.long()
    slots = torch.where((slots < 0) | (slots >= experts), experts, slots)
    dense = weights.new_zeros(ids.shape[0], experts + 1).scatter_add_(1, slots, weights)
    chosen = torch.zeros_like(dense, dtype=torch.bool).scatter_(1, slots, True)
    return GateOutput(dense[:, :experts], chosen[:, :experts], ids, weights, logits)


def _completed(
    chosen: "Tensor", logits: "Tensor | None", top_k: int, padding: "Tensor | None"
) -> "Tensor":
    if logits is None:
        return chosen
    rank = logits.nan_to_num(nan=-torch.inf).masked_fill(chosen, torch.inf)
    best = torch.zeros_like(chosen).scatter_(1, rank.topk(top_k, dim=-1).indices, True)
    if padding is not None:
        best &= padding[:, None]
    return chosen | best


def _gathered(
    spec: GateSpec, tokens: int, parts: "dict[str, Tensor]", logits: "Tensor | None"
) -> GateOutput:
    ids = _rows(parts, "ids", tokens, spec.top_k)
    weights = _rows(parts, "weights", tokens, spec.top_k)
    if spec.special.skip:
        # the gate writes the skip column as id 0 with weight 0
        skipped = (ids == 0) & (weights == 0)
        ids = ids.masked_fill(skipped, spec.experts - 1)
    if not spec.special.shared:
        return from_choices(spec.experts, ids, weights, logits)
    shared = _rows(parts, "shared", tokens, spec.special.shared)
    slots = torch.arange(spec.experts - spec.special.shared, spec.experts, device=ids.device)
    ids = torch.cat([ids, slots.expand(tokens, -1)], dim=1)
    return from_choices(spec.experts, ids, torch.cat([weights, shared], dim=1))


def _grouped(
    spec: GateSpec, tokens: int, parts: "dict[str, Tensor]", logits: "Tensor | None"
) -> GateOutput:
    """Choices sorted by expert: `counts` a list of choices per expert, `tokens` and `weights` of
    each choice in that order."""
    counts = torch.as_tensor(parts["counts"], device=parts["tokens"].device)
    experts = torch.arange(spec.experts, device=counts.device).repeat_interleave(counts)
    dense = parts["weights"].new_zeros(tokens, spec.experts)
    dense[parts["tokens"], experts] = parts["weights"]
    chosen = torch.zeros_like(dense, dtype=torch.bool)
    chosen[parts["tokens"], experts] = True
    return GateOutput(dense, chosen, logits=logits)
