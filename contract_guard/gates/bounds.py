"""How far a gate that follows its spec may be from the float64 oracle: an error bound, derived.

Notation: u is the unit roundoff of a dtype (2^-24 for float32, 2^-8 for bfloat16). Sums are
bounded in the probabilistic way: a sum of n products, accumulated in any order, is off by at most

    LAMBDA * sqrt(n) * u * sum |x_h w_h|

(N. J. Higham, T. Mary, "A new approach to probabilistic rounding error analysis", SIAM J. Sci.
Comput. 41, 2019, theorem 3.1; M. P. Connolly, N. J. Higham, T. Mary, SIAM J. Sci. Comput. 43,
2021, for dependent errors), in place of the worst case gamma_n = n u / (1 - n u) (Higham, "Accuracy
and Stability of Numerical Algorithms", 2002, section 3.1), which is sqrt(n) / LAMBDA times as wide:
10 times at n = 4,096. Errors that are independent of each other and enter a sum with factors a_h
stay within LAMBDA * u * sqrt(sum a_h^2) (Hoeffding).

LAMBDA = 6. Each holds but with probability 2 exp(-LAMBDA^2 / 2) = 3e-8 for the worst distribution
of errors within [-u, u], and 2 exp(-3 LAMBDA^2 / 2) = 7e-24 for uniform ones, whose variance is
u^2 / 3: 10^7 rows of 256 experts then see a false alarm with probability 2e-14.

Elementary functions: exp, log, log1p and tanh to 2 units in the last place (4 u) as CUDA's
programming guide states for single precision and Sleef for CPUs; `exp(x)` may be made as
exp2(x log2 e), which costs another |x| u. CUDA's __expf errs by 2 + 1.173 |x| units in the last
place, its __logf by 2^-21.41 (6 u) in [0.5, 2]. Add, multiply, divide and sqrt round once. torch
works on half-precision tensors in float32 inside one operation and rounds its result.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from contract_guard.gates.model import GateInputs, OracleOutput
from contract_guard.gates.oracle import operands
from contract_guard.gates.router_mlp import router_mlp
from contract_guard.gates.spec import GateSpec, unit_roundoff

if TYPE_CHECKING:
    from torch import Tensor

LAMBDA = 6.0
# The oracle itself rounds to float64: no dtype is taken to be finer than this.
FINEST = 2.0**-48
ELEMENTARY = 4.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Absolute errors that the spec's own arithmetic explains. `choice` and `weights` [T, E];
    `inner` [T], of the decisions before the choice (groups, thresholds); `overflow` [T] marks
    tokens on which the spec's dtypes are too narrow for any answer."""

    choice: "Tensor"
    weights: "Tensor"
    inner: "Tensor"
    overflow: "Tensor"


def roundoff(dtype: str) -> float:
    """The unit roundoff of a dtype, as far as the oracle can tell."""
    return max(unit_roundoff(dtype), FINEST)


def logit_error(
    spec: GateSpec, parameters: "Mapping[str, Tensor]", inputs: GateInputs, truth: OracleOutput
) -> "Tensor":
    """Error of the logits [T, E] that the linear (norm and scales before it, multiplier and soft
    cap after it) may make; 0 where logits are an input."""
    linear = spec.linear
    if linear.kind == "none" or inputs.logits is not None:
        return torch.zeros_like(truth.logits)
    hidden, weight, bias = operands(spec, parameters, inputs)
    assert inputs.hidden is not None
    given = str(inputs.hidden.dtype).removeprefix("torch.")
    compute, out = roundoff(linear.compute_dtype), roundoff(linear.output_dtype)
    single, terms = roundoff("float32"), hidden.shape[-1]

    # Roundings of the operands: independent from one product to the next.
    squared = 0.0
    if linear.norm is not None:
        squared += roundoff(given) ** 2 * (1 + linear.norm.weighted)
    if linear.input_scale or linear.input_multiplier != 1.0:
        squared += roundoff(given) ** 2
    if compute > roundoff(given) or (squared and compute > FINEST):
        squared += compute**2
    if compute > roundoff(linear.weight_dtype):
        squared += compute**2
    error = LAMBDA * math.sqrt(terms) * roundoff(linear.accumulate_dtype) * truth.magnitude
    if squared:
        spread = functional.linear(hidden.square(), weight.square()).sqrt() * abs(linear.multiplier)
        error += LAMBDA * math.sqrt(squared) * spread
    if linear.kind == "mlp":
        _, before = router_mlp(linear, parameters, inputs.hidden.double(), inputs.state, LAMBDA)
        error += functional.linear(before.square(), weight.square()).sqrt()
    if linear.norm is not None:
        # The norm's factor is common to all products: a sum of squares, a root, a quotient.
        error += (LAMBDA * math.sqrt(terms) / 2 + 4) * single * truth.logits.abs()
        squares = inputs.hidden.double().square().sum(-1, keepdim=True)
        error = error.masked_fill(squares > torch.finfo(torch.float32).max / 2, math.inf)
    roundings = 1 + (bias is not None) + (linear.multiplier != 1.0)
    error += roundings * out * truth.logits.abs()
    if bias is not None:
        error += out * (bias.abs() * abs(linear.multiplier))
    if linear.soft_cap is not None:
        # tanh contracts, so what came before stays within its bound.
        error += (ELEMENTARY + 2) * out * truth.logits.abs()
    return error + terms * _tiny(linear.compute_dtype) * (1 + weight.abs().amax())


def bounds(
    spec: GateSpec,
    parameters: "Mapping[str, Tensor]",
    truth: OracleOutput,
    logits_error: "Tensor",
    logits_dtype: str,
) -> Bounds:
    """Errors of choice and weights, given that of the logits, which are of `logits_dtype`."""
    u = roundoff(spec.score.dtype)
    logits = truth.logits
    error = logits_error
    if u > roundoff(logits_dtype):
        error = error + u * logits.abs()
    relative, floor = _score_error(spec, truth, error)
    scores = truth.scores.abs()
    if spec.score.when == "after" or spec.score.function in ("identity", "sparsemixer"):
        choice = error
    else:
        choice = scores * relative + floor
    value = truth.choice.abs()
    if spec.correction.on != "none" or spec.image is not None:
        # The bias is rounded to the choice's dtype, and so is the sum.
        choice = choice + roundoff(spec.choice_dtype) * (
            value + (truth.choice - truth.scores).abs()
        )
    elif roundoff(spec.choice_dtype) > u:
        choice = choice + roundoff(spec.choice_dtype) * value
    # Masked experts stand at the fill, which is exact.
    choice = torch.where(truth.choice.isfinite(), choice, 0.0)

    weights = _weight_error(spec, parameters, truth, error, relative, floor, choice)
    largest = torch.where(truth.choice.isfinite(), choice, 0.0).amax(-1)
    inner = 2 * largest
    if spec.groups is not None:
        group_value = torch.where(truth.choice.isfinite(), value, 0.0).amax(-1)
        inner = inner + 2 * spec.groups.top * roundoff(spec.choice_dtype) * group_value
    if spec.score.function == "sparsemixer":
        # (best - z) / factor > 2 jitter: a difference, a quotient and the threshold round.
        size = torch.where(logits.isfinite(), logits.abs(), 0.0).amax(-1)
        inner = inner + 8 * u * spec.score.jitter * size
    limit = torch.finfo(getattr(torch, spec.linear.output_dtype)).max / 2
    # An exact logit beyond the range is infinite already, and the NaN rule says what follows.
    overflow = ((truth.magnitude > limit) & truth.logits.isfinite() & (error > 0)).any(-1)
    return Bounds(
        choice.nan_to_num(nan=math.inf), weights.nan_to_num(nan=math.inf), inner, overflow
    )


def _tiny(dtype: str) -> float:
    """What may be flushed to zero: numbers below the smallest normal one. float16's subnormals
    are never flushed."""
    info = torch.finfo(getattr(torch, dtype))
    return info.smallest_normal * (info.eps if dtype == "float16" else 1.0)


def _softmax_relative(
    logits: "Tensor", error: "Tensor", among: "Tensor | None", u: float
) -> "Tensor":
    """Relative error of a softmax over the last dimension, among the chosen if given.

    log p_e = z_e - log sum exp z_j, so an error d of the logits moves log p_e by at most
    d_e + sum p_j d_j. The exponent z_e - max is rounded, exp and the sum err, the quotient rounds.
    """
    if among is not None:
        logits = logits.masked_fill(~among, -math.inf)
    shares = logits.softmax(-1)
    exponent = logits.amax(-1, keepdim=True) - logits
    exponent = torch.where(exponent.isfinite(), exponent, 0.0)
    each = error + u * (2 * exponent + ELEMENTARY)
    mean = (shares * each).sum(-1, keepdim=True)
    rounding = (LAMBDA * math.sqrt(logits.shape[-1]) + 2) * u
    return torch.expm1(each + mean + rounding)


def _sigmoid_relative(logits: "Tensor", error: "Tensor", u: float) -> "Tensor":
    """Relative error of a sigmoid: |d log sigmoid / dz| = sigmoid(-z), greatest at z - d."""
    slope = torch.sigmoid(error - logits)
    return torch.expm1(slope * (error + u * logits.abs())) + (ELEMENTARY + 2) * u


def _score_error(
    spec: GateSpec, truth: OracleOutput, error: "Tensor"
) -> "tuple[Tensor, Tensor | float]":
    """Relative error of the scores, and what comes on top in absolute terms."""
    u = roundoff(spec.score.dtype)
    inside = min(u, roundoff("float32"))
    tiny = _tiny(spec.score.dtype)
    logits = truth.logits
    among = truth.chosen if spec.score.when == "after" else None
    # How much of |z| u the exponential of z costs.
    rate = 2.4 if spec.score.fast else 1.0
    match spec.score.function:
        case "softmax" | "sparsemixer":
            return _softmax_relative(logits, error, among, inside) + u, tiny
        case "sigmoid":
            relative = _sigmoid_relative(logits, error + (rate - 1) * inside * logits.abs(), inside)
            # (tanh(z / 2) + 1) / 2 errs as tanh does, however small the sum.
            lost = ELEMENTARY * inside if spec.score.form == "tanh" else 0.0
            return relative + u, tiny + lost
        case "sqrt-softplus":
            # d log softplus / dz = sigmoid(z) / softplus(z), at most 1, falling in z.
            lowest = logits - error
            softplus = torch.logaddexp(lowest, torch.zeros_like(lowest))
            slope = torch.where(softplus > 0, lowest.sigmoid() / softplus, 1.0)
            relative = torch.expm1(slope * (error + rate * inside * logits.abs()) / 2)
            relative = relative + (ELEMENTARY + 1) * inside + 2 * u
            if spec.score.form != "log(1+exp)":
                return relative, math.sqrt(tiny)
            # 1 + e^z rounds to a multiple of u, whatever e^z is, and the root widens that.
            value = truth.scores.square()
            lost = (2 + 6 * spec.score.fast) * inside * (1 + value)
            return relative, torch.minimum(lost.sqrt(), lost / value.sqrt().clamp(min=1e-300))
        case "identity":
            return error / logits.abs().clamp(min=1e-300), tiny


def _weight_error(
    spec: GateSpec,
    parameters: "Mapping[str, Tensor]",
    truth: OracleOutput,
    logits_error: "Tensor",
    relative: "Tensor",
    floor: "Tensor | float",
    choice_error: "Tensor",
) -> "Tensor":
    u, out = roundoff(spec.weight_dtype), roundoff(spec.output_dtype)
    scale, rule, k = spec.scale, spec.renormalization, spec.top_k
    factor = torch.ones((), dtype=torch.float64, device=truth.dense.device)
    if scale.at == "weight":
        factor = factor * abs(scale.factor)
    if scale.learned:
        factor = factor * parameters["scale"].double().abs()
    if scale.inverse_k:
        factor = factor / k
    if scale.per_expert:
        per_expert = parameters["expert_scale"].double().abs()
        factor = factor * functional.pad(
            per_expert, (0, spec.experts - per_expert.shape[-1]), value=1.0
        )
    dense = truth.dense.abs()

    # A softmax among the chosen comes normalized; what its sum does is in the relative error.
    among = spec.score.when == "after" and spec.score.function == "softmax"
    if among or spec.score.function == "sparsemixer":
        raw = dense / factor.clamp(min=1e-300)
        raw_error = raw * relative + floor
    elif spec.score.when == "after":
        raw = truth.logits.sigmoid() if spec.score.function == "sigmoid" else truth.logits.abs()
        raw_error = raw * relative + floor
    elif spec.correction.leaks:
        raw, raw_error = truth.choice.abs(), choice_error
    else:
        raw = truth.scores.abs()
        raw_error = raw * relative + floor
    shared = spec.special.shared
    if shared:
        slots = truth.logits[:, -shared:]
        raw = torch.cat([raw[:, :-shared], slots.sigmoid()], dim=1)
        slot_error = _sigmoid_relative(slots, logits_error[:, -shared:], u)
        raw_error = torch.cat([raw_error[:, :-shared], slots.sigmoid() * slot_error], dim=1)
    raw = raw.masked_fill(~truth.chosen, 0.0)
    raw_error = torch.where(truth.chosen, raw_error, 0.0)

    roundings = 2.0 * u + out
    if spec.renormalizes and not among:
        in_norm = slice(None) if rule.over == "chosen and shared" or not shared else slice(-shared)
        norm = raw[:, in_norm].norm(p=rule.p, dim=-1, keepdim=True)
        if rule.clamp is not None:
            norm = norm.clamp(min=rule.clamp)
        norm = norm + rule.epsilon
        norm_error = raw_error[:, in_norm].sum(-1, keepdim=True)
        left = norm - norm_error
        raw_error = (raw_error + raw / norm.clamp(min=1e-300) * norm_error) / left
        raw_error = raw_error.masked_fill(left <= 0, math.inf)
        # A short sum, its root or quotient; the sum of K terms is made in float32 or better.
        roundings += 3 * u + k * min(u, roundoff("float32"))
        if spec.score.form == "log-space":
            exponent = torch.where(truth.chosen & (raw > 0), raw, 1.0).log().abs()
            roundings = roundings + u * (2 * exponent + 2 * ELEMENTARY)
    total = raw_error * factor + dense * roundings + _tiny(spec.output_dtype)
    return torch.where(truth.chosen, total, 0.0)
