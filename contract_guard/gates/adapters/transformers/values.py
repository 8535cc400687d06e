"""What the rules read from a built router: numbers of its configuration, dtypes as loaded."""

import torch

from contract_guard.gates.adapters.transformers.building import Built
from contract_guard.gates.spec import (
    Correction,
    Groups,
    Input,
    Linear,
    Renormalization,
    Score,
    Selection,
)

HIDDEN: tuple[Input, ...] = ("hidden",)


def dtype_name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def loaded(built: Built, name: str) -> str:
    return dtype_name(built.router.get_parameter(name).dtype)


def promoted(*dtypes: str) -> str:
    """The dtype of a sum, as torch promotes it."""
    total = torch.zeros((), dtype=getattr(torch, dtypes[0]))
    for dtype in dtypes[1:]:
        total = total + torch.zeros(1, dtype=getattr(torch, dtype))
    return dtype_name(total.dtype)


def linear(
    built: Built, compute: str | None = None, weight: str = "weight", **more: object
) -> Linear:
    """A plain projection: operands and result in `compute`, by default as the hidden states are."""
    dtype = compute or built.dtype
    return Linear("linear", loaded(built, weight), dtype, "float32", dtype, **more)  # pyright: ignore[reportArgumentType]


def own_bias(built: Built) -> Correction:
    return Correction(
        "scores", dtype_name(built.router.get_buffer("e_score_correction_bias").dtype)
    )


def given_bias(built: Built) -> Correction:
    bias = owned_bias(built)
    dtype = dtype_name(bias.dtype) if bias is not None else "float32"
    return Correction("scores", dtype, source="argument")


def owned_bias(built: Built) -> torch.Tensor | None:
    """The correction bias that the router's block owns and passes to it."""
    if built.owner is built.router:
        return None
    for name, tensor in [
        *built.owner.named_parameters(recurse=False),
        *built.owner.named_buffers(recurse=False),
    ]:
        if "bias" in name:
            return tensor
    return None


def flag(built: Built, name: str = "norm_topk_prob", epsilon: float = 0.0) -> Renormalization:
    return Renormalization("always" if built.field(name) else "never", flag=name, epsilon=epsilon)


def top_k(built: Built, sorted: bool = True) -> Selection:
    return Selection(int(built.field("top_k")), sorted=sorted)


def groups(built: Built, score: str, fill: float, weights: str = "unmasked") -> Groups:
    count, kept = int(built.field("num_group")), int(built.field("topk_group"))
    return Groups(count, kept, score, 2, fill, weights)  # pyright: ignore[reportArgumentType]


def score_by_name(built: Built, dtype: str) -> Score:
    match str(built.config.scoring_func):
        case "sqrtsoftplus":
            return Score("sqrt-softplus", dtype=dtype, form="log1p")
        case "sigmoid":
            return Score("sigmoid", dtype=dtype)
        case name:
            raise ValueError(f"no specification for the scoring function {name!r}")


def classifier_bias(built: Built) -> bool:
    return "classifier.bias" in dict(built.router.named_parameters())
