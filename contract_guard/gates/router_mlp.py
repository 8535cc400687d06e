"""The small network that makes router logits in Zaya, and how far its own roundings carry.

Down projection [R, H], plus the previous router state times a scale [R], RMS norm, twice a linear
[R, R] with GELU; the last linear, [E, R], is the gate's own. T tokens, H hidden size, R router
hidden size.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from contract_guard.gates.spec import Linear, unit_roundoff

if TYPE_CHECKING:
    from torch import Tensor

_GELU_SLOPE = 1.13
"""The greatest slope of x Phi(x)."""


def router_mlp(
    linear: Linear,
    parameters: "Mapping[str, Tensor]",
    hidden: "Tensor",
    state: "Tensor | None",
    deviations: float,
) -> "tuple[Tensor, Tensor]":
    """Hidden states [T, R] in float64 and a bound on their error, from `hidden` [T, H] in float64
    and `state` [T, R].

    Errors of different places are taken as independent, so a layer passes errors e on as
    sqrt(W^2 e^2), and adds deviations * sqrt(n) * u * (|W| |x| + |b|) for its sum of n products and
    u for each rounding. The norm divides by a root mean square that is itself off by at most that
    of the errors, in common for all places, and is anything where the squares leave float32. GELU
    stretches by at most 1.13.
    """
    u, single = unit_roundoff(linear.compute_dtype), unit_roundoff("float32")
    summing = unit_roundoff(linear.accumulate_dtype)

    def layer(name: str, values: "Tensor", error: "Tensor") -> "tuple[Tensor, Tensor]":
        weight = parameters[f"{name}_weight"].double()
        bias = parameters[f"{name}_bias"].double()
        result = functional.linear(values, weight, bias)
        magnitude = functional.linear(values.abs(), weight.abs(), bias.abs())
        carried = functional.linear(error.square(), weight.square()).sqrt()
        spread = deviations * math.sqrt(values.shape[-1]) * summing
        return result, carried + spread * magnitude + 2 * u * result.abs()

    values, error = layer("down", hidden, torch.zeros_like(hidden))
    if state is not None and "state_scale" in parameters:
        added = state.double() * parameters["state_scale"].double()
        values = values + added
        error = error + u * (added.abs() + values.abs())
    common = torch.zeros_like(values)
    if linear.norm is not None:
        weight = parameters["norm_weight"].double()
        rms = (values.square().mean(-1, keepdim=True) + linear.norm.epsilon).sqrt()
        off = error.square().mean(-1, keepdim=True).sqrt() / rms + 4 * single
        beyond = values.square().sum(-1, keepdim=True) > torch.finfo(torch.float32).max / 2
        values = values / rms * weight
        common = values * off / (1 - off).clamp(min=1e-9)
        error = error / rms * weight.abs() + 2 * u * values.abs()
        error = error.masked_fill(beyond, math.inf)
    for name in ("fc1", "fc2"):
        before, error = layer(name, values, error)
        error = error + functional.linear(common, parameters[f"{name}_weight"].double()).abs()
        common = torch.zeros_like(before)
        values = functional.gelu(before)
        error = _GELU_SLOPE * error + u * values.abs() + 4 * single * before.abs()
    return values, error
