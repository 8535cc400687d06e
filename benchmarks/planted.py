"""An example gate in plain torch with every stage that a spec knows, and faults to plant in it.

Used by `benchmarks/gates.py` and by the tests of the gate harness: the gate without a fault must
agree with the oracle on any seed, and each fault must be found.
"""

import torch
from torch.nn import functional

from contract_guard.gates.model import (
    Domain,
    Gate,
    GateAdapter,
    GateInputs,
    GateOutput,
    GateShape,
)
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Groups,
    ImageBias,
    Linear,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
)

FIRST_IMAGE_ID, IMAGE_IDS = 129_252, 5
GROUPS, KEPT = 4, 2
SCALE = 2.5
EPSILON = 1e-20

FAULTS: dict[str, str] = {
    "range-short": "the last image id is taken for text",
    "range-early": "the id before the first image id is taken for an image",
    "range-one": "only the first image id is an image",
    "bias-leaks": "weights are taken from the biased scores",
    "bias-lost": "the correction bias is not added",
    "bias-sign": "the correction bias is subtracted",
    "epsilon": "1e-2 is added to the norm in place of 1e-20",
    "norm-all": "weights are divided by the sum over all experts",
    "norm-lost": "weights are not renormalized",
    "scale-lost": "weights are not scaled",
    "scale-twice": "weights are scaled twice",
    "unsorted": "experts are handed out in no order",
    "groups-more": "one group more is kept",
    "groups-max": "a group's score is its best expert, not the sum of two",
    "groups-fill": "experts of lost groups compete with 0, not -inf",
    "smallest": "the last choice is the worst expert",
    "linear-bfloat16": "operands of the linear are rounded to bfloat16",
    "sum-bfloat16": "partial sums of the linear are rounded to bfloat16",
    "score-form": "log(1 + e^x) in place of log1p(e^x)",
    "score-root": "the square root of softplus is left out",
    "weights-bfloat16": "weights are rounded to bfloat16 and back",
    "id-off": "each expert's id is one too high",
    "duplicate": "the last choice repeats the first",
    "batch": "scores are divided by the batch's greatest",
    "nan-hidden": "NaN weights are written as 0",
}


def _linear(hidden: torch.Tensor, weight: torch.Tensor, fault: str | None) -> torch.Tensor:
    hidden, weight = hidden.float(), weight.float()
    if fault == "linear-bfloat16":
        return functional.linear(hidden.bfloat16().float(), weight.bfloat16().float())
    if fault == "sum-bfloat16":
        total = torch.zeros(hidden.shape[0], weight.shape[0], device=hidden.device)
        for part, columns in zip(hidden.split(64, 1), weight.split(64, 1), strict=True):
            total = (total + functional.linear(part, columns)).bfloat16().float()
        return total
    return functional.linear(hidden, weight)


def route(
    hidden: torch.Tensor,
    ids: torch.Tensor,
    parameters: dict[str, torch.Tensor],
    top_k: int,
    fault: str | None = None,
    give_logits: bool = False,
) -> GateOutput:
    """Routes tokens [T, H] with ids [T]; `fault` is one of `FAULTS`."""
    logits = _linear(hidden, parameters["weight"], fault)
    softplus = torch.log(1 + logits.exp()) if fault == "score-form" else functional.softplus(logits)
    scores = softplus if fault == "score-root" else softplus.sqrt()
    if fault == "batch" and scores.numel():
        scores = scores / scores.max()
    count = IMAGE_IDS - (fault == "range-short")
    if fault == "range-one":
        count = 1
    first = FIRST_IMAGE_ID - (fault == "range-early")
    image = (ids >= first) & (ids < FIRST_IMAGE_ID + count)
    bias = torch.where(image[:, None], parameters["image_bias"], parameters["bias"])
    if fault == "bias-sign":
        bias = torch.where(image[:, None], bias, -bias)
    if fault == "bias-lost":
        bias = torch.where(image[:, None], bias, 0.0)
    choice = scores + bias

    parted = choice.unflatten(1, (GROUPS, -1))
    if fault == "groups-max":
        group_scores = parted.amax(-1)
    else:
        group_scores = parted.topk(min(2, parted.shape[-1]), dim=-1).values.sum(-1)
    kept = group_scores.topk(KEPT + (fault == "groups-more"), dim=-1).indices
    mask = torch.zeros_like(group_scores, dtype=torch.bool).scatter_(1, kept, True)
    mask = mask.repeat_interleave(parted.shape[-1], 1)
    choice = choice.masked_fill(~mask, 0.0 if fault == "groups-fill" else -torch.inf)

    experts = choice.topk(top_k, dim=-1).indices
    if fault == "smallest":
        worst = choice.masked_fill(~mask, torch.inf).argmin(-1)
        experts = torch.cat([experts[:, :-1], worst[:, None]], 1)
    if fault == "unsorted":
        experts = experts.flip(-1)
    if fault == "duplicate":
        experts = torch.cat([experts[:, :-1], experts[:, :1]], 1)
    weights = (scores + bias if fault == "bias-leaks" else scores).gather(1, experts)
    if fault == "norm-all":
        weights = weights / scores.sum(-1, keepdim=True)
    elif fault != "norm-lost":
        epsilon = 1e-2 if fault == "epsilon" else EPSILON
        weights = weights / (weights.sum(-1, keepdim=True) + epsilon)
    if fault != "scale-lost":
        weights = weights * (SCALE * SCALE if fault == "scale-twice" else SCALE)
    if fault == "weights-bfloat16":
        weights = weights.bfloat16().float()
    if fault == "id-off":
        experts = (experts + 1) % logits.shape[1]
    if fault == "nan-hidden":
        weights = weights.nan_to_num(nan=0.0)
    dense = torch.zeros_like(logits).scatter_(1, experts, weights)
    chosen = torch.zeros_like(logits, dtype=torch.bool).scatter_(1, experts, True)
    return GateOutput(dense, chosen, experts, weights, logits if give_logits else None)


def adapter(
    fault: str | None = None, give_logits: bool = False, dtypes: tuple[str, ...] = ("float32",)
) -> GateAdapter:
    """The example gate as an adapter, with a fault or without."""

    def build(shape: GateShape) -> Gate:
        dtype = getattr(torch, shape.dtype)
        parameters = {
            "weight": torch.zeros(shape.experts, shape.hidden, dtype=dtype, device=shape.device),
            "bias": torch.zeros(shape.experts, device=shape.device),
            "image_bias": torch.zeros(shape.experts, device=shape.device),
        }

        def call(inputs: GateInputs) -> GateOutput:
            assert inputs.hidden is not None
            assert inputs.input_ids is not None
            with torch.no_grad():
                return route(
                    inputs.hidden, inputs.input_ids, parameters, shape.top_k, fault, give_logits
                )

        spec = GateSpec(
            experts=shape.experts,
            inputs=("hidden", "input_ids"),
            linear=Linear("linear", weight_dtype=shape.dtype),
            score=Score("sqrt-softplus", form="log1p"),
            selection=Selection(shape.top_k),
            correction=Correction("scores"),
            image=ImageBias(FIRST_IMAGE_ID, IMAGE_IDS),
            groups=Groups(GROUPS, KEPT, "top-sum"),
            renormalization=Renormalization("always", epsilon=EPSILON),
            scale=Scale(SCALE, "routed_scaling_factor"),
            output=Output(order=("weights", "ids")),
        )
        return Gate("example", shape, spec, parameters, call)

    return GateAdapter(
        name="example" if fault is None else f"example[{fault}]",
        domain=Domain(
            experts=(16, 64, 128),
            top_k=(2, 4, 6),
            hidden=(64, 512),
            dtypes=dtypes,
            valid=lambda experts, top_k: top_k <= experts // GROUPS * KEPT,
        ),
        build=build,
        sources=lambda: (__file__,),
    )
