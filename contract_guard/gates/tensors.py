"""Makes a case's tensors on the gate's own device, from the case's seed.

The same case gives the same tensors in every process on the same kind of device; CPU and CUDA
draw different numbers from one seed. Whole batches are made even where only some rows are kept.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import functools

import torch

from contract_guard.gates.case import Case
from contract_guard.gates.model import Gate, GateInputs

# Real activations have a few channels far larger than the rest; so many, and so much larger.
OUTLIER_CHANNELS = 4
OUTLIER_FACTOR = 32.0
# Where neither a table nor a boundary says how many token ids there are.
VOCABULARY = 1 << 17


def dtype_of(name: str) -> torch.dtype:
    """The torch dtype called `name` ("bfloat16")."""
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise ValueError(f"no torch dtype is called {name!r}")
    return dtype


def vocabulary(gate: Gate, boundaries: tuple[int, ...]) -> int:
    """How many token ids there are: rows of the gate's table, or enough to hold every boundary."""
    table = gate.parameters.get("table")
    if table is not None:
        return table.shape[0]
    return max(VOCABULARY, max(boundaries, default=0) + 1024)


@torch.no_grad()
def load(case: Case, gate: Gate) -> None:
    """Writes the case's weights and biases into the gate's parameters, in place."""
    generator = _generator(case, stream=1)
    roles = gate.parameters
    for role in ("weight", "linear_bias", "bias", "image_bias", "expert_scale", "scale", "table"):
        parameter = roles.get(role)
        if parameter is None:
            continue
        if role == "weight":
            values = _weights(case, parameter, generator)
        elif role == "table":
            values = _table(parameter, case.shape.experts, generator)
        elif role in ("expert_scale", "scale"):
            values = 0.5 + _uniform(parameter.shape, generator)
        elif role == "linear_bias":
            values = 0.1 * _normal(parameter.shape, generator)
        else:
            values = _bias(case.bias, parameter.shape, generator)
        parameter.copy_(values.reshape(parameter.shape))


@torch.no_grad()
def inputs(case: Case, gate: Gate, boundaries: tuple[int, ...] = ()) -> GateInputs:
    """The case's batch, narrowed to the rows that it keeps. `boundaries` are token ids next to
    which rules change."""
    wanted = gate.spec.inputs
    generator = _generator(case, stream=0)
    dtype = dtype_of(case.shape.dtype)
    rows = case.tokens
    hidden = logits = ids = bias = padding = state = None
    if "hidden" in wanted:
        hidden = _rows(case, (rows, case.shape.hidden), dtype, generator)
    if "logits" in wanted:
        logits = _rows(case, (rows, gate.spec.experts), dtype, generator)
        logits = _tie_columns(case.weights, logits)
    if "input_ids" in wanted:
        ids = _ids(case, vocabulary(gate, boundaries), boundaries, generator)
    if "bias" in wanted:
        bias = _bias(case.bias, torch.Size([gate.spec.experts]), generator)
        bias = bias.to(dtype_of(gate.spec.correction.dtype))
    if "padding" in wanted:
        padding = _padding(case.padding, rows, generator)
    if "state" in wanted:
        scale = gate.parameters.get("state_scale")
        width = case.shape.hidden if scale is None else scale.shape[-1]
        state = _normal((rows, width), generator).to(dtype)
    made = GateInputs(hidden, logits, ids, bias, padding, state)
    return (
        made if case.keep is None else take(made, torch.tensor(case.keep, device=generator.device))
    )


def take(batch: GateInputs, rows: torch.Tensor) -> GateInputs:
    """The batch with its rows at the indices `rows`, in that order."""

    def pick(tensor: torch.Tensor | None) -> torch.Tensor | None:
        return None if tensor is None else tensor.index_select(0, rows.to(tensor.device))

    return GateInputs(
        pick(batch.hidden),
        pick(batch.logits),
        pick(batch.input_ids),
        batch.bias,
        pick(batch.padding),
        pick(batch.state),
    )


def _generator(case: Case, stream: int) -> torch.Generator:
    generator = torch.Generator(device=case.shape.device)
    generator.manual_seed((case.seed * 2 + stream) & (2**63 - 1))
    return generator


def _normal(shape: torch.Size | tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.randn(shape, generator=generator, device=generator.device)


def _uniform(shape: torch.Size | tuple[int, ...], generator: torch.Generator) -> torch.Tensor:
    return torch.rand(shape, generator=generator, device=generator.device)


def _rows(
    case: Case, shape: tuple[int, int], dtype: torch.dtype, generator: torch.Generator
) -> torch.Tensor:
    values = _normal(shape, generator)
    limits = torch.finfo(dtype)
    for offset, kind in enumerate(case.kinds):
        _shape_rows(kind, values[offset :: len(case.kinds)], limits, generator)
    values *= 2.0**case.magnitude
    return values.to(dtype)


def _shape_rows(
    kind: str, rows: torch.Tensor, limits: torch.finfo, generator: torch.Generator
) -> None:
    """Turns normal rows into rows of `kind`, in place. `limits` are those of the gate's dtype."""
    count, width = rows.shape
    if kind == "normal" or rows.numel() == 0:
        return
    column = torch.randint(width, (count, 1), generator=generator, device=rows.device)
    if kind == "outlier":
        size = (OUTLIER_CHANNELS,)
        channels = torch.randint(width, size, generator=generator, device=rows.device)
        rows[:, channels] = rows[:, channels] * OUTLIER_FACTOR
    elif kind == "uniform":
        rows.copy_(_uniform(rows.shape, generator) * 2 - 1)
    elif kind == "axis":
        only = rows.gather(1, column)
        rows.zero_().scatter_(1, column, only)
    elif kind == "zero":
        rows.zero_()
    elif kind == "wide":
        # Half of the exponent range each way, so that most sums of products stay finite.
        low, high = torch.tensor([limits.tiny, limits.max]).log2().mul(0.5).tolist()
        rows *= torch.exp2(low + (high - low) * _uniform((count, 1), generator))
    elif kind == "large":
        rows *= torch.exp2(3 + 9 * _uniform((count, 1), generator))
    elif kind == "negative":
        rows.abs_().neg_()
    elif kind == "subnormal":
        rows *= limits.tiny / 8
    elif kind == "inf":
        sign = torch.where(_uniform((count, 1), generator) < 0.5, -1.0, 1.0)
        rows.scatter_(1, column, sign * torch.inf)
    elif kind == "nan":
        rows.scatter_(1, column, torch.full_like(column, torch.nan, dtype=rows.dtype))
    else:
        raise ValueError(f"no kind of rows is called {kind!r}")


def _weights(case: Case, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    values = _normal(like.shape, generator)
    if case.weights == "zero":
        return torch.zeros_like(values)
    width = like.shape[-1]
    values *= {"small": 0.02, "steep": 16 * width**-0.5}.get(case.weights, width**-0.5)
    if case.weights == "aligned":
        # As in trained routers, experts share a direction: logits are all high or all low.
        values = values[:1] + 0.1 * values
    if like.ndim == 2:
        # Rows are experts here, columns in logits: one rule for both.
        values = _tie_columns(case.weights, values.to(like.dtype).T).T
    return values


def _tie_columns(kind: str, values: torch.Tensor) -> torch.Tensor:
    """Makes each odd column equal to the even one before it, or one rounding away from it."""
    pairs = values.shape[1] // 2
    if kind not in ("twins", "close") or pairs == 0:
        return values
    values = values.clone()
    first = values[:, 0 : 2 * pairs : 2]
    step = torch.finfo(values.dtype).eps if kind == "close" else 0.0
    values[:, 1 : 2 * pairs : 2] = first + first * step
    return values


def _bias(kind: str, shape: torch.Size, generator: torch.Generator) -> torch.Tensor:
    values = _normal(shape, generator)
    if kind == "zero":
        return values.zero_()
    if kind == "normal":
        return values * 0.25
    if kind == "offset":
        return 64 + values * 0.01
    if kind == "comparable":
        return values * 0.02
    if kind == "negative":
        return -2 - values.abs()
    if kind == "steps":
        steps = torch.arange(values.numel(), device=values.device, dtype=values.dtype)
        return steps.reshape(shape)
    if kind == "one":
        values *= 0.02
        values.view(-1)[0] = 8.0
        return values
    raise ValueError(f"no kind of bias is called {kind!r}")


def _table(like: torch.Tensor, experts: int, generator: torch.Generator) -> torch.Tensor:
    """Distinct experts for each token id: a stride that shares no factor with `experts`."""
    vocabulary_size, choices = like.shape
    start = torch.randint(
        experts, (vocabulary_size, 1), generator=generator, device=generator.device
    )
    return (start + torch.arange(choices, device=generator.device)) % experts


def _ids(
    case: Case, count: int, boundaries: tuple[int, ...], generator: torch.Generator
) -> torch.Tensor:
    rows, device = case.tokens, generator.device
    if case.ids == "sweep":
        return (case.first_id + torch.arange(rows, device=device)) % count
    if case.ids == "boundary" and boundaries:
        near = _near(boundaries, str(device))
        picked = torch.randint(len(boundaries), (rows,), generator=generator, device=device)
        step = torch.randint(-2, 3, (rows,), generator=generator, device=device)
        return (near[picked] + step).clamp(0, count - 1)
    return torch.randint(count, (rows,), generator=generator, device=device)


@functools.lru_cache(maxsize=8)
def _near(boundaries: tuple[int, ...], device: str) -> torch.Tensor:
    return torch.tensor(boundaries, device=device)


def _padding(kind: str, rows: int, generator: torch.Generator) -> torch.Tensor:
    real = torch.ones(rows, dtype=torch.bool, device=generator.device)
    if kind == "tail":
        real[rows - rows // 3 :] = False
    elif kind == "scattered":
        real = _uniform((rows,), generator) < 0.75
    elif kind == "all":
        real.zero_()
    return real
