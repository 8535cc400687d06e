"""What must hold of a gate beside gate = oracle: one function a property.

Each takes a `Trial` (one batch, already run and judged) and gives the tokens [T] on which the
property fails; it raises `NotApplicable` or `Unverified` with a reason where it says nothing.
Two runs of one gate are compared within the error bound, not bit by bit: a matrix product rounds
otherwise for another number of rows.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import functools
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from contract_guard.gates import tensors
from contract_guard.gates.bounds import roundoff
from contract_guard.gates.case import Case
from contract_guard.gates.compare import Comparison, between_runs, check_form, same_routing
from contract_guard.gates.device import clear_error
from contract_guard.gates.model import Gate, GateInputs, GateOutput

if TYPE_CHECKING:
    from torch import Tensor

BIAS_SHIFT = 0.5
PADDED_ROWS = 5
# Tokens that are run alone; the others in batches of odd sizes.
SINGLES = 8


class NotApplicable(Exception):
    """The gate's spec says that the property does not hold of it; the message says why."""


class Unverified(Exception):
    """The property could not be tried here; the message says why."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One batch of a gate: what went in, what came out, and how it was judged."""

    gate: Gate
    case: Case
    inputs: GateInputs
    output: GateOutput
    comparison: Comparison

    @property
    def tokens(self) -> int:
        return self.output.dense.shape[0]

    def again(self, inputs: GateInputs) -> GateOutput:
        """The gate's output on other inputs, of the right form."""
        output = self.gate.call(inputs)
        check_form(output, inputs, self.gate.spec.experts)
        return output

    def differs(self, other: GateOutput) -> "Tensor":
        """Tokens [T] that `other` routes otherwise than the output of this trial."""
        judgement = between_runs(self.gate, self.comparison.judgement)
        return ~same_routing(self.output, other, judgement)


Property = Callable[[Trial], "Tensor"]


def experts_in_range(trial: Trial) -> "Tensor":
    """Ids are distinct and lie in [0, E)."""
    spec, ids = trial.gate.spec, trial.output.ids
    if ids is None:
        raise NotApplicable("the gate gives no ids")
    if spec.special.skip or spec.special.padding != "none":
        raise NotApplicable("some ids stand for no expert")
    outside = ((ids < 0) | (ids >= spec.experts)).any(-1)
    if not spec.selection.distinct:
        return outside
    ordered = ids.sort(-1).values
    return outside | (ordered[:, 1:] == ordered[:, :-1]).any(-1)


def weights_sound(trial: Trial) -> "Tensor":
    """Weights are finite where the scores are, not negative, and sum to the scale where they are
    renormalized."""
    spec, output = trial.gate.spec, trial.output
    judgement = trial.comparison.judgement
    scores = judgement.truth.scores
    sane = judgement.truth.dense.isfinite().all(-1) & ~judgement.bounds.overflow
    weights = output.dense.double()
    wrong = ~weights.isfinite().all(-1)
    scale = spec.scale
    if spec.score.function != "identity" and not spec.correction.leaks and scale.factor >= 0:
        wrong |= (weights < 0).any(-1)
    plain = spec.renormalizes and spec.renormalization.p == 1.0 and not spec.special.shared
    if plain and not (scale.per_expert or scale.learned or spec.correction.leaks):
        # The norm swallows epsilon and clamp only where the scores are of ordinary size.
        picked = torch.where(output.chosen, scores, 0.0).sum(-1)
        least = 1e6 * max(spec.renormalization.epsilon, spec.renormalization.clamp or 0.0, 1e-12)
        total = scale.factor if scale.at == "weight" else 1.0
        total = total / spec.top_k if scale.inverse_k else total
        slack = judgement.bounds.weights.sum(-1) + 1e-5 * abs(total)
        off = (weights.sum(-1) - total).abs() > slack
        wrong |= off & (picked > least) & (output.chosen.sum(-1) == spec.top_k)
        if spec.special.skip or spec.special.padding != "none":
            wrong = ~weights.isfinite().all(-1) | (weights < 0).any(-1)
    return wrong & sane


def alone_as_in_batch(trial: Trial) -> "Tensor":
    """A token is routed as it would be in a batch of another size: some alone, all in batches of
    odd sizes."""
    _needs_rows_apart(trial)
    device = trial.output.dense.device
    sizes = [1] * min(SINGLES, trial.tokens)
    left = trial.tokens - len(sizes)
    for size in (3, 17, 129):
        if left > size:
            sizes.append(size)
            left -= size
    sizes += [left // 2, left - left // 2]
    parts: list[GateOutput] = []
    start = 0
    for size in filter(None, sizes):
        rows = torch.arange(start, start + size, device=device)
        parts.append(trial.again(tensors.take(trial.inputs, rows)))
        start += size
    return trial.differs(
        GateOutput(
            torch.cat([part.dense for part in parts]), torch.cat([part.chosen for part in parts])
        )
    )


def row_order(trial: Trial) -> "Tensor":
    """Permuting the tokens permutes the result."""
    _needs_rows_apart(trial)
    order = _token_permutation(trial)
    back = order.argsort()
    return trial.differs(_rows_of(trial.again(tensors.take(trial.inputs, order)), back))


def expert_order(trial: Trial) -> "Tensor":
    """Permuting the experts, with their weights and biases, permutes the choice."""
    gate, spec = trial.gate, trial.gate.spec
    if spec.linear.kind == "mlp":
        raise NotApplicable("experts share layers")
    if spec.special.shared or spec.special.zero or spec.special.skip:
        raise NotApplicable("some experts are special by their place")
    if spec.output.capacity is not None:
        raise NotApplicable("a capacity drops tokens by order")
    if spec.score.function == "sparsemixer":
        raise NotApplicable("each round depends on the one before")
    order = _expert_permutation(spec.experts, spec.groups.count if spec.groups else 1)
    order = order.to(trial.output.dense.device)
    roles = ("weight", "linear_bias", "bias", "image_bias", "expert_scale")
    changed = {
        role: parameter.index_select(_expert_dimension(parameter, spec.experts), order)
        for role in roles
        if (parameter := gate.parameters.get(role)) is not None
    }
    if "table" in gate.parameters:
        table = gate.parameters["table"]
        changed["table"] = order.argsort().to(table.dtype)[table.long()]
    inputs = replace(
        trial.inputs,
        logits=None if trial.inputs.logits is None else trial.inputs.logits[:, order].contiguous(),
        bias=None if trial.inputs.bias is None else trial.inputs.bias[order],
    )
    with _written(gate, changed):
        output = trial.again(inputs)
    back = order.argsort()
    return trial.differs(GateOutput(output.dense[:, back], output.chosen[:, back]))


def bias_shift(trial: Trial) -> "Tensor":
    """A constant added to every correction bias changes nothing."""
    gate, spec = trial.gate, trial.gate.spec
    if spec.correction.on == "none":
        raise NotApplicable("no correction bias")
    if spec.correction.leaks:
        raise NotApplicable("the bias is part of the weights")
    if spec.groups is not None and spec.groups.fill == 0.0:
        raise NotApplicable("experts of lost groups compete with 0")
    if spec.selection.kind == "hash" and spec.image is None:
        raise NotApplicable("experts come from a table")
    changed = {
        role: parameter + BIAS_SHIFT
        for role in ("bias", "image_bias")
        if (parameter := gate.parameters.get(role)) is not None
    }
    inputs = trial.inputs
    if inputs.bias is not None:
        inputs = replace(inputs, bias=inputs.bias + BIAS_SHIFT)
    with _written(gate, changed):
        output = trial.again(inputs)
    judgement = between_runs(gate, trial.comparison.judgement)
    # The sum is larger now, and the bias itself is rounded to its own dtype once more.
    widest = max(roundoff(spec.choice_dtype), roundoff(spec.correction.dtype))
    biases = [values.double().abs().amax() for values in changed.values()]
    largest = torch.stack(biases).amax() if biases else torch.zeros((), dtype=torch.float64)
    slack = 4 * widest * (largest.to(output.dense.device) + BIAS_SHIFT)
    bounds = replace(
        judgement.bounds,
        choice=judgement.bounds.choice + slack,
        inner=judgement.bounds.inner + 2 * slack,
    )
    wider = replace(judgement, bounds=bounds)
    return ~same_routing(trial.output, output, wider)


def strides(trial: Trial) -> "Tensor":
    """The layout of the input in memory does not matter."""
    differs = torch.zeros(trial.tokens, dtype=torch.bool, device=trial.output.dense.device)
    shifted = functools.partial(_shifted, trial.gate.alignment)
    for name, lay_out in (
        ("every second column", _every_second_column),
        ("column major", _column_major),
        ("shifted", shifted),
    ):
        inputs = replace(
            trial.inputs,
            hidden=None if trial.inputs.hidden is None else lay_out(trial.inputs.hidden),
            logits=None if trial.inputs.logits is None else lay_out(trial.inputs.logits),
        )
        try:
            output = trial.again(inputs)
        except RuntimeError as error:
            raise Unverified(f"refuses an input laid out {name}: {_first_line(error)}") from error
        differs |= trial.differs(output)
    return differs


def empty_batch(trial: Trial) -> "Tensor":
    """No tokens in, no tokens out."""
    none = torch.zeros(0, dtype=torch.long, device=trial.output.dense.device)
    try:
        trial.again(tensors.take(trial.inputs, none))
    except RuntimeError as error:
        clear_error(none.device)
        raise Unverified(f"refuses an empty batch: {_first_line(error)}") from error
    return torch.zeros(trial.tokens, dtype=torch.bool, device=trial.output.dense.device)


def padding_rows(trial: Trial) -> "Tensor":
    """Rows of zeros after the batch change nothing for the rows before them."""
    _needs_rows_apart(trial)

    def extend(tensor: "Tensor | None") -> "Tensor | None":
        if tensor is None:
            return None
        return torch.cat([tensor, tensor.new_zeros(PADDED_ROWS, *tensor.shape[1:])])

    inputs = trial.inputs
    longer = GateInputs(
        extend(inputs.hidden),
        extend(inputs.logits),
        extend(inputs.input_ids),
        inputs.bias,
        extend(inputs.padding),
        extend(inputs.state),
    )
    output = trial.again(longer)
    tokens = trial.tokens
    return trial.differs(GateOutput(output.dense[:tokens], output.chosen[:tokens]))


def graph_replay(trial: Trial) -> "Tensor":
    """A captured CUDA graph, replayed on new contents of its inputs, gives what eager gives."""
    if trial.output.dense.device.type != "cuda":
        raise Unverified("no CUDA graph on this device")
    _needs_rows_apart(trial)
    order = _token_permutation(trial)
    static = tensors.take(trial.inputs, order)
    stream = _side_stream(str(trial.output.dense.device))
    stream.wait_stream(torch.cuda.current_stream(trial.output.dense.device))
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.stream(stream):
            trial.gate.call(static)
        torch.cuda.current_stream(trial.output.dense.device).wait_stream(stream)
        with torch.cuda.graph(graph, stream=stream):
            captured = trial.gate.call(static)
    except RuntimeError as error:
        raise Unverified(f"cannot be captured: {_first_line(error)}") from error
    for mine, real in zip(_tensors(static), _tensors(trial.inputs), strict=True):
        mine.copy_(real)
    graph.replay()
    return trial.differs(GateOutput(captured.dense.clone(), captured.chosen.clone()))


def compiled(trial: Trial) -> "Tensor":
    """torch.compile gives what eager gives, where it compiles. Takes seconds."""
    torch.compiler.reset()
    call = torch.compile(trial.gate.call, dynamic=False)
    try:
        output = call(trial.inputs)
    except Exception as error:
        raise Unverified(f"does not compile: {_first_line(error)}") from error
    check_form(output, trial.inputs, trial.gate.spec.experts)
    return trial.differs(output)


PROPERTIES: Mapping[str, Property] = {
    "ids distinct, in range": experts_in_range,
    "weights sound": weights_sound,
    "alone = in a batch": alone_as_in_batch,
    "token order": row_order,
    "expert order": expert_order,
    "bias shift": bias_shift,
    "padding rows": padding_rows,
    "CUDA graph = eager": graph_replay,
    # Last: a kernel may answer these by ending the context of its device.
    "empty batch": empty_batch,
    "strides": strides,
}
COMPILED = "compiled = eager"


def _needs_rows_apart(trial: Trial) -> None:
    if not trial.gate.spec.row_wise:
        raise NotApplicable("a token's place depends on the batch (capacity)")


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:160]


def _tensors(batch: GateInputs) -> "Iterator[Tensor]":
    for tensor in (batch.hidden, batch.logits, batch.input_ids, batch.padding, batch.state):
        if tensor is not None:
            yield tensor


@functools.lru_cache(maxsize=8)
def _side_stream(device: str) -> torch.cuda.Stream:
    # Each new stream takes a workspace of its own for matrix products, and keeps it.
    return torch.cuda.Stream(device)


def _token_permutation(trial: Trial) -> "Tensor":
    device = trial.output.dense.device
    generator = torch.Generator(device).manual_seed(trial.case.seed)
    return torch.randperm(trial.tokens, generator=generator, device=device)


def _rows_of(output: GateOutput, rows: "Tensor") -> GateOutput:
    return GateOutput(output.dense[rows], output.chosen[rows])


def _expert_dimension(parameter: "Tensor", experts: int) -> int:
    return next(place for place, size in enumerate(parameter.shape) if size == experts)


def _expert_permutation(experts: int, groups: int) -> "Tensor":
    """A permutation that keeps experts of one group together: groups reversed, and each turned."""
    places = torch.arange(experts).view(groups, -1)
    return places.flip(0).roll(1, dims=1).flip(1).reshape(-1)


@contextmanager
def _written(gate: Gate, changed: "Mapping[str, Tensor]") -> Generator[None]:
    """Parameters with other contents, put back at the end."""
    before = {role: gate.parameters[role].detach().clone() for role in changed}
    with torch.no_grad():
        for role, values in changed.items():
            gate.parameters[role].copy_(values)
    try:
        yield
    finally:
        with torch.no_grad():
            for role, values in before.items():
                gate.parameters[role].copy_(values)


def _every_second_column(tensor: "Tensor") -> "Tensor":
    wide = tensor.new_empty(tensor.shape[0], tensor.shape[1], 2)
    wide[..., 0] = tensor
    return wide[..., 0]


def _column_major(tensor: "Tensor") -> "Tensor":
    return tensor.t().contiguous().t()


def _shifted(alignment: int, tensor: "Tensor") -> "Tensor":
    """Contiguous, but off any alignment beyond the one of so many bytes."""
    step = max(1, alignment // tensor.element_size())
    store = tensor.new_empty(tensor.numel() + step)
    return store[step:].view(tensor.shape).copy_(tensor)
