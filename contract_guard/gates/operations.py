"""The operations that a lifted expectation may use, by their name in slices, and no others.

None of them reads a file, the network or the clock, or runs text.
"""

# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

import math
import operator
from collections.abc import Callable
from typing import Any, cast

import torch
from torch.nn import functional

MOST_EXPONENT = 64


class CannotLift(Exception):
    """A slice holds something that is not interpreted; the message names it, on one line."""


def _power(base: Any, exponent: Any) -> Any:
    numbers = not isinstance(base, torch.Tensor) and not isinstance(exponent, torch.Tensor)
    if numbers and abs(exponent) > MOST_EXPONENT:
        raise CannotLift("cannot be lifted: an exponent beyond bounds")
    return base**exponent


def _matrix_product(first: torch.Tensor, second: torch.Tensor, **keywords: Any) -> torch.Tensor:
    # mm(out_dtype=...) exists on CUDA only; float32 holds products of half-precision numbers.
    out_dtype = keywords.get("out_dtype")
    if out_dtype is not None:
        first, second = first.to(out_dtype), second.to(out_dtype)
    return first @ second


def _set_item(target: torch.Tensor, index: Any, value: Any) -> torch.Tensor:
    changed = target.clone()
    changed[index] = value
    return changed


def _attribute(value: Any, name: str) -> Any:
    if name in ("shape", "dtype", "device", "ndim"):
        return getattr(value, name)
    if name == "data":
        return value
    raise CannotLift(f"cannot be lifted: .{name}")


def _is_in(elements: torch.Tensor, among: Any, **keywords: Any) -> torch.Tensor:
    if not isinstance(among, torch.Tensor):
        among = torch.tensor(list(among), device=elements.device)
    return torch.isin(elements, among, **keywords)


def _contains(value: Any, among: Any) -> Any:
    return value in among


def _spread(function: Callable[..., Any]) -> Callable[..., Any]:
    """For functions that take their sizes one by one or as one sequence."""

    def call(tensor: torch.Tensor, *sizes: Any) -> Any:
        first = cast("Any", sizes[0] if len(sizes) == 1 else sizes)
        return function(tensor, tuple(first) if isinstance(first, list | tuple) else sizes)

    return call


def _torch(name: str) -> Callable[..., Any]:
    return getattr(torch, name)


# Operations that torch has under the name that slices use.
_SAME_NAME = [
    "abs",
    "acos",
    "add",
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "argsort",
    "asin",
    "atan",
    "bmm",
    "bucketize",
    "cat",
    "ceil",
    "chunk",
    "clamp",
    "cos",
    "cosh",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "diff",
    "div",
    "einsum",
    "eq",
    "erf",
    "exp",
    "expm1",
    "flatten",
    "flip",
    "floor",
    "fmod",
    "frac",
    "full_like",
    "gather",
    "ge",
    "gt",
    "index_add",
    "index_copy",
    "index_select",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "kthvalue",
    "le",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logsumexp",
    "lt",
    "masked_fill",
    "masked_select",
    "matmul",
    "maximum",
    "mean",
    "median",
    "min",
    "minimum",
    "movedim",
    "mul",
    "narrow",
    "ne",
    "neg",
    "nonzero",
    "ones_like",
    "outer",
    "prod",
    "ravel",
    "reciprocal",
    "repeat_interleave",
    "roll",
    "round",
    "rsqrt",
    "scatter",
    "scatter_add",
    "searchsorted",
    "select",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sort",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "sub",
    "sum",
    "tan",
    "tanh",
    "topk",
    "transpose",
    "tril",
    "triu",
    "trunc",
    "unbind",
    "unflatten",
    "unsqueeze",
    "var",
    "where",
    "zeros_like",
]
# These make tensors, and must do so where the others are.
MAKERS = frozenset({"zeros", "ones", "full", "arange", "tensor", "as_tensor", "asarray", "array"})
_PYTHON: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": operator.truediv,
    "neg": operator.neg,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "abs": abs,
}


def _either(name: str) -> Callable[..., Any]:
    """Python's operator where it is one of two operands and no keywords; torch's function else."""
    plain, tensors = _PYTHON[name], _torch(name)

    def call(*arguments: Any, **keywords: Any) -> Any:
        return tensors(*arguments, **keywords) if keywords else plain(*arguments)

    return call


def _largest(name: str) -> Callable[..., Any]:
    """max and min: of two, over a dimension (a pair), or of everything."""
    return getattr(torch, name)


def _same(value: Any, *_: Any, **__: Any) -> Any:
    return value


OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _torch(name) for name in _SAME_NAME},
    **{name: _either(name) for name in _PYTHON},
    **{name: _torch(name) for name in ("zeros", "ones", "full", "arange", "tensor", "as_tensor")},
    "asarray": _torch("as_tensor"),
    "array": _torch("as_tensor"),
    "max": _largest("max"),
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": _power,
    "pos": operator.pos,
    "invert": operator.invert,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "not": operator.not_,
    "and": lambda first, second: first and second,
    "or": lambda first, second: first or second,
    "is": operator.is_,
    "is_not": operator.is_not,
    "in": _contains,
    "not_in": lambda value, among: value not in among,
    "isin": _is_in,
    "mm": _matrix_product,
    "linear": functional.linear,
    "embedding": functional.embedding,
    "one_hot": functional.one_hot,
    "softmax": functional.softmax,
    "log_softmax": functional.log_softmax,
    "softplus": functional.softplus,
    "logsigmoid": functional.logsigmoid,
    "relu": functional.relu,
    "silu": functional.silu,
    "gelu": functional.gelu,
    "normalize": functional.normalize,
    "norm": torch.linalg.vector_norm,
    "t": lambda tensor: tensor.mT,
    "mT": lambda tensor: tensor.mT,
    "to": lambda tensor, *places, **keywords: tensor.to(*places, **keywords),
    "view": _spread(lambda tensor, sizes: tensor.reshape(sizes)),
    "reshape": _spread(lambda tensor, sizes: tensor.reshape(sizes)),
    "expand": _spread(lambda tensor, sizes: tensor.expand(sizes)),
    "permute": _spread(lambda tensor, sizes: tensor.permute(sizes)),
    "repeat": _spread(lambda tensor, sizes: tensor.repeat(sizes)),
    "expand_as": lambda tensor, other: tensor.expand_as(other),
    "view_as": lambda tensor, other: tensor.reshape(other.shape),
    "reshape_as": lambda tensor, other: tensor.reshape(other.shape),
    "size": lambda tensor, dim=None: tensor.shape if dim is None else tensor.shape[dim],
    "numel": lambda tensor: tensor.numel(),
    "item": lambda tensor: tensor.item(),
    "contiguous": _same,
    "clone": _same,
    "detach": _same,
    "cpu": _same,
    "cuda": _same,
    "getitem": operator.getitem,
    "setitem": _set_item,
    "getattr": _attribute,
    "slice": slice,
    "tuple": lambda *items: items,
    "list": lambda *items: list(items),
    "builtins.len": len,
    "builtins.int": int,
    "builtins.float": float,
    "builtins.bool": bool,
    "builtins.abs": abs,
    "builtins.min": min,
    "builtins.max": max,
    "math.ceil": math.ceil,
    "math.floor": math.floor,
    "math.sqrt": math.sqrt,
    "math.log": math.log,
    "math.exp": math.exp,
}
