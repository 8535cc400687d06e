"""Values of the gate harness: what goes into a gate, what comes out, and what is said of it.

Shapes: T tokens, E experts, K choices a token, H hidden size. Everything is compared as dense
weights [T, E], so the order of the choices and the form of the output do not matter.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

    from contract_guard.gates.spec import GateSpec

Verdict = Literal["agree", "drift", "unverified", "error"]


@dataclass(frozen=True, slots=True)
class GateInputs:
    """One batch. `hidden` [T, H]; `logits` [T, E] where the gate takes logits instead (given to
    the oracle they replace its linear); `input_ids` [T] int64; `bias` [E], a correction bias
    passed as an argument (None: the loaded one); `padding` [T] bool, true for real tokens;
    `state`, a previous router state."""

    hidden: "torch.Tensor | None" = None
    logits: "torch.Tensor | None" = None
    input_ids: "torch.Tensor | None" = None
    bias: "torch.Tensor | None" = None
    padding: "torch.Tensor | None" = None
    state: "torch.Tensor | None" = None


@dataclass(frozen=True, slots=True)
class GateOutput:
    """What a gate chose. `dense` [T, E] holds the weight of each chosen expert, 0 elsewhere;
    `chosen` [T, E] bool tells chosen from not chosen (a chosen weight may be 0).
    `ids` and `weights` [T, K] are there where the gate gives them, in its order.
    `logits` [T, E], where the gate gives them, are its own, as they enter the score function: put
    into `GateInputs.logits` they let the oracle judge the choice apart from the linear."""

    dense: "torch.Tensor"
    chosen: "torch.Tensor"
    ids: "torch.Tensor | None" = None
    weights: "torch.Tensor | None" = None
    logits: "torch.Tensor | None" = None


@dataclass(frozen=True, slots=True)
class OracleOutput:
    """The float64 truth. `choice` [T, E] are the values by which experts are chosen, after bias,
    groups and masks, so that the margin between the K-th and the next can be told (shared slots:
    -inf, always chosen); `scores` [T, E] are those that weights are taken from; `logits` [T, E]
    are before the score function. `fixed` [T] bool marks tokens whose experts do not come from
    the scores (hash table, padding).
    `magnitude` [T, E] is the sum of |x_h w_h| (+ |bias|), times what the logits are multiplied by:
    rounding of the linear moves a logit by at most a few u times that. |logits| where these were
    given. `inner_margin` [T] is the distance, in units of `choice`, of the closest decision before
    the choice (which groups are kept, sparsemixer's threshold) from falling the other way; inf
    where there is none."""

    dense: "torch.Tensor"
    chosen: "torch.Tensor"
    choice: "torch.Tensor"
    scores: "torch.Tensor"
    logits: "torch.Tensor"
    fixed: "torch.Tensor"
    magnitude: "torch.Tensor"
    inner_margin: "torch.Tensor"


@dataclass(frozen=True, slots=True)
class Domain:
    """What a gate accepts. `experts`, `top_k` are the values to draw from (pairs are valid only
    if `valid(E, K)`), `hidden` the hidden sizes; `dtypes` by name ("float32", "bfloat16")."""

    experts: tuple[int, ...]
    top_k: tuple[int, ...]
    hidden: tuple[int, ...]
    dtypes: tuple[str, ...]
    devices: tuple[str, ...] = ("cpu", "cuda")
    valid: Callable[[int, int], bool] = field(default=lambda experts, top_k: top_k <= experts)


@dataclass(frozen=True, slots=True)
class GateShape:
    """One configuration of a gate, drawn from its domain. `options` are adapter-specific flags
    by name, drawn from `GateAdapter.options`."""

    experts: int
    top_k: int
    hidden: int
    dtype: str
    device: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate that is ready to run. `parameters` are its loaded tensors by role: `weight` [E, H],
    `linear_bias` [E], `bias` [E] (correction), `image_bias` [E], `table` [vocab, K], `norm_weight`
    [H], `input_scale` [H], `expert_scale` [E], `scale` [1]; shared with the module, so that writing
    into one changes the gate. `call` runs the real code. `alignment` is the number of bytes of
    which the address of an input must be a multiple."""

    name: str
    shape: GateShape
    spec: "GateSpec"
    parameters: "Mapping[str, torch.Tensor]"
    call: "Callable[[GateInputs], GateOutput]"
    alignment: int = 1


@dataclass(frozen=True, slots=True)
class GateAdapter:
    """How to make one real gate. `name` is `transformers:MixtralTopKRouter`, `vllm:dsv4_topk`, or
    `module:callable`. `build` raises `CannotBuild` with a one-line reason. `sources` are the
    source files whose digest says whether evidence is fresh."""

    name: str
    domain: Domain
    build: Callable[[GateShape], Gate]
    options: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    sources: Callable[[], tuple[str, ...]] = field(default=tuple)


class CannotBuild(Exception):
    """A gate that cannot be built or run here; the message is the reason, on one line."""


def one_line(error: BaseException) -> str:
    """An exception as a reason: its class and the beginning of its message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}".rstrip(": ")


@dataclass(frozen=True, slots=True)
class Bucket:
    """One cause of drift: `label` is the cause, `minimal` the shrunken case, `replay` the command
    that shows it again in a fresh process, `snippet` a few lines of plain torch."""

    label: str
    count: int
    minimal: Mapping[str, object]
    replay: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class GateRun:
    """The record of one run: an entry of `gate run --format json`. `excused` is the share of rows
    on which gate and oracle part, but by no more than the error bound explains."""

    gate: str
    mirror: str | None
    verdict: Verdict
    device: str
    cases: int
    rows: int
    seconds: float
    rows_per_second: float
    excused: float
    buckets: tuple[Bucket, ...] = ()
    reason: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
