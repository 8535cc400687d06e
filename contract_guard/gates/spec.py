"""What a gate promises: one field for each thing that real MoE gates do, none of them implied.

A `GateSpec` is resolved: numbers, flags and dtypes are those of one configuration as loaded, so
that `oracle` can compute it and an error bound can be derived from it. Dtypes are torch names
("float32"). The stages, in order, with the dtype each rounds to:

    hidden --norm, input scale--> linear --multiplier, soft cap--> logits      linear.output_dtype
    logits --score function--> scores                                           score.dtype
    scores + correction --groups--> choice --selection--> experts               choice_dtype
    scores of the chosen --renormalization, scale--> weights                    weight_dtype
    weights as handed out                                                       output.dtype
"""

from dataclasses import dataclass, field
from typing import Literal

Input = Literal["hidden", "logits", "input_ids", "bias", "padding", "state"]
ScoreFunction = Literal["softmax", "sigmoid", "sqrt-softplus", "sparsemixer", "identity"]


@dataclass(frozen=True, slots=True)
class Norm:
    """RMS norm of the hidden states before the linear: x / sqrt(mean(x^2) + epsilon), in float32,
    rounded to the input's dtype; times the parameter `norm_weight` [H] if `weighted`."""

    epsilon: float
    weighted: bool = False


@dataclass(frozen=True, slots=True)
class Linear:
    """How hidden states become logits. `none`: logits are an input. `mlp`: a down projection, to
    which a previous state is added, then norm, two GELU layers and a projection (Zaya).

    Operands are cast to `compute_dtype`, products summed in `accumulate_dtype`, the sum rounded to
    `output_dtype`. `weight_dtype` is the dtype of the weight as loaded."""

    kind: Literal["linear", "mlp", "none"]
    weight_dtype: str = "float32"
    compute_dtype: str = "float32"
    accumulate_dtype: str = "float32"
    output_dtype: str = "float32"
    bias: bool = False
    """The parameter `linear_bias` [E] is added."""
    norm: Norm | None = None
    input_scale: bool = False
    """The normed hidden states are multiplied by the parameter `input_scale` [H]."""
    input_multiplier: float = 1.0
    multiplier: float = 1.0
    """Logits are multiplied by it."""
    soft_cap: float | None = None
    """Logits become cap * tanh(logits / cap)."""


@dataclass(frozen=True, slots=True)
class Score:
    """`when` says whether scores are taken of all experts, or, after the choice by logits, of the
    chosen ones only. `form` is the numeric form where it decides about small scores: "log1p" and
    "log(1+exp)" for softplus (the second is 0 below about -17 in float32); "tanh" for a sigmoid as
    (tanh(x / 2) + 1) / 2, whose error is absolute; "log-space" for weights made as exp(log score -
    logsumexp). `fast`: made of the device's approximate exp and log (CUDA's __expf: 2 ulp and
    1.2 |x| ulp; __logf: off by up to 2^-21.4 near 1). `jitter` is sparsemixer's threshold."""

    function: ScoreFunction
    when: Literal["before", "after"] = "before"
    dtype: str = "float32"
    form: Literal["plain", "log1p", "log(1+exp)", "tanh", "log-space"] = "plain"
    fast: bool = False
    jitter: float = 0.0


@dataclass(frozen=True, slots=True)
class Correction:
    """The bias that balances load, the parameter `bias` [E], or the argument `bias`. It acts on
    the choice only, unless it `leaks` into the weights. `dtype` is that of the bias as loaded."""

    on: Literal["none", "scores", "logits"] = "none"
    dtype: str = "float32"
    source: Literal["parameter", "argument"] = "parameter"
    leaks: bool = False


@dataclass(frozen=True, slots=True)
class ImageBias:
    """Tokens whose id is in [first_id, first_id + count) take the parameter `image_bias` [E] in
    place of the correction bias, or on top of it if `adds`; with a hash table, they are chosen by
    score instead."""

    first_id: int
    count: int
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Groups:
    """Experts in `count` equal groups; the `kept` groups of highest score stay, the scores of the
    others become `fill`. A group's score is its highest, or the sum of its `top` highest.
    `weights` says whether weights are taken from scores before or after the fill."""

    count: int
    kept: int
    score: Literal["max", "top-sum"]
    top: int = 2
    fill: float = float("-inf")
    weights: Literal["unmasked", "masked"] = "unmasked"


@dataclass(frozen=True, slots=True)
class Selection:
    """`top-k`; `hash`: the parameter `table` [vocab, K] by token id; `argmax`: `k` rounds of
    argmax, the winner of each out of the next. `ties`: which of equal scores wins; `nan`: whether
    NaN counts as the greatest (torch.topk), as the least, or is a score of 0 (then the bias is
    added, and its weight is 0). `sorted`: by descending choice."""

    k: int
    kind: Literal["top-k", "hash", "argmax"] = "top-k"
    ties: Literal["unspecified", "lowest"] = "unspecified"
    nan: Literal["greatest", "least", "zero"] = "greatest"
    sorted: bool = True
    distinct: bool = True


@dataclass(frozen=True, slots=True)
class Renormalization:
    """Weights of a token divided by their p-norm (+ `epsilon`, or at least `clamp`, or by 1 where
    it is 0 if `guard`). `flag` is the configuration field that turns it on, if there is one;
    `when` is resolved. `over` says whether shared slots count in the norm."""

    when: Literal["never", "always", "k > 1"] = "never"
    flag: str | None = None
    p: float = 1.0
    epsilon: float = 0.0
    clamp: float | None = None
    guard: bool = False
    over: Literal["chosen", "chosen and shared"] = "chosen"


@dataclass(frozen=True, slots=True)
class Scale:
    """Weights are multiplied by `factor` (read from the configuration field `name`), by the
    parameter `expert_scale` [E] if `per_expert`, by the parameter `scale` [1] if `learned`, and by
    1/k if `inverse_k`. `at` "output": the factor is applied to the experts' output, outside the
    gate, and is not in its weights."""

    factor: float = 1.0
    name: str | None = None
    at: Literal["weight", "output"] = "weight"
    per_expert: bool = False
    learned: bool = False
    inverse_k: bool = False


@dataclass(frozen=True, slots=True)
class Special:
    """Ids that are not ordinary experts. `zero`: the last ids are experts that compute nothing,
    weighted like the others. `skip`: the last scored column means "no expert"; its weight is 0 and
    its id is written as 0. `shared`: so many columns after the routed ones, scored, chosen by
    every token. `padding`: what a padded token gets."""

    zero: int = 0
    skip: bool = False
    shared: int = 0
    padding: Literal["none", "-1, weight 0", "weight 0"] = "none"


@dataclass(frozen=True, slots=True)
class Output:
    """`form` and `order` of what the gate hands out; `dtype` of the weights. `capacity`: tokens
    an expert takes per sequence, in token order; the rest are dropped (no limit: None).
    `applies_to`: whether weights multiply an expert's output or its input."""

    form: Literal["gathered", "dense", "one-hot", "grouped"] = "gathered"
    order: tuple[str, ...] = ("logits", "weights", "ids")
    dtype: str = "float32"
    capacity: int | None = None
    applies_to: Literal["output", "input"] = "output"


@dataclass(frozen=True, slots=True)
class GateSpec:
    """One gate in one configuration. `experts` is the number of scored columns, shared slots and
    the skip column included: the width of everything dense."""

    experts: int
    inputs: tuple[Input, ...]
    linear: Linear
    score: Score
    selection: Selection
    choice_dtype: str = "float32"
    """The dtype of the values that are compared to choose experts (scores after the bias)."""
    weight_dtype: str = "float32"
    """The dtype in which weights are renormalized and scaled."""
    correction: Correction = field(default_factory=Correction)
    image: ImageBias | None = None
    groups: Groups | None = None
    renormalization: Renormalization = field(default_factory=Renormalization)
    scale: Scale = field(default_factory=Scale)
    special: Special = field(default_factory=Special)
    output: Output = field(default_factory=Output)

    @property
    def top_k(self) -> int:
        """Routed choices a token; shared slots come on top."""
        return self.selection.k

    @property
    def renormalizes(self) -> bool:
        """Whether weights are divided by their norm in this configuration."""
        when = self.renormalization.when
        return when == "always" or (when == "k > 1" and self.top_k > 1)

    @property
    def compute_dtype(self) -> str:
        """The narrowest dtype in which logits come about: operands or result of the linear, or
        the score's own where logits are an input."""
        if self.linear.kind == "none":
            return self.score.dtype
        return narrowest(self.linear.compute_dtype, self.linear.output_dtype)

    @property
    def output_dtype(self) -> str:
        """The dtype of the weights as handed out."""
        return self.output.dtype

    @property
    def row_wise(self) -> bool:
        """Whether each token's result depends on that token alone (no capacity)."""
        return self.output.capacity is None


_MANTISSA_BITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}


def unit_roundoff(dtype: str) -> float:
    """u = 2^-p, with p the bits of the significand: the relative error of one rounding."""
    return 2.0 ** -_MANTISSA_BITS[dtype]


def narrowest(*dtypes: str) -> str:
    """The dtype with the fewest significand bits."""
    return min(dtypes, key=lambda dtype: _MANTISSA_BITS[dtype])
