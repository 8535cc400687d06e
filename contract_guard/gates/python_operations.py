"""Operations on plain Python values, by their name in slices: beside those on tensors, for copies
of rules that have none. None of them reads a file, the network or the clock, or runs text."""
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false

import math
import posixpath
from collections.abc import Callable
from typing import Any

import torch

from contract_guard.gates.operations import CannotLift
from contract_guard.mirrors.operations import words

MOST_ITEMS = 100_000


def _bounded_range(*bounds: int) -> range:
    found = range(*bounds)
    if len(found) > MOST_ITEMS:
        raise CannotLift("cannot be lifted: a range beyond bounds")
    return found


def _text(*parts: object, **named: object) -> str:
    """The parts of an f-string together, or `str.format`, which slices write the same way."""
    first = parts[0] if parts else ""
    if isinstance(first, str) and "{" in first and (parts[1:] or named):
        return first.format(*parts[1:], **named)
    return "".join(map(str, parts))


def _field(value: object, spec: str) -> str:
    """One field of an f-string; `spec` is ":>8", "!r" or both."""
    conversion, _, layout = spec.partition(":")
    shown = {"!r": repr, "!s": str, "!a": ascii}.get(conversion)
    return format(shown(value) if shown else value, layout)  # type: ignore[arg-type]


def _dictionary(*items: Any) -> dict[Any, Any]:
    return dict(zip(items[::2], items[1::2], strict=True))


def _method(name: str) -> Callable[..., Any]:
    def call(value: Any, *arguments: Any, **keywords: Any) -> Any:
        if not isinstance(value, str | bytes | list | tuple | dict | set | frozenset | int | float):
            raise CannotLift(f"cannot be lifted: .{name} of {type(value).__name__}")
        return getattr(value, name)(*arguments, **keywords)

    return call


def _product(one: Any, other: Any) -> Any:
    for text, count in ((one, other), (other, one)):
        is_text = isinstance(text, str | bytes | list | tuple) and isinstance(count, int)
        if is_text and len(text) * count > MOST_ITEMS:
            raise CannotLift("cannot be lifted: a text beyond bounds")
    return one * other


_METHODS = words(
    """bit_length capitalize count endswith find hex index is_integer isdigit items join
    keys lower lstrip partition removeprefix removesuffix replace rpartition rsplit rstrip split
    splitlines startswith strip title upper values zfill"""
)
_MATH = words(
    """ceil comb copysign cos degrees dist exp fabs floor fmod gcd hypot isclose isfinite isinf
    isnan isqrt lcm log log10 log1p log2 pow prod radians sin sqrt tan tanh trunc"""
)

PYTHON_OPERATIONS: dict[str, Callable[..., Any]] = {
    **{name: _method(name) for name in _METHODS},
    **{f"math.{name}": getattr(math, name) for name in _MATH},
    "mul": _product,
    "lshift": lambda one, count: _product(one, 2**count) if count < 128 else _refused(),
    "rshift": lambda one, count: one >> count,
    "format": _text,
    "format_spec": _field,
    "dict": _dictionary,
    "set": lambda *items: set(items),
    "getitem": lambda value, key: value[key],
    "builtins.str": str,
    "builtins.repr": repr,
    "builtins.range": _bounded_range,
    "builtins.sum": sum,
    "builtins.sorted": sorted,
    "builtins.reversed": lambda items: list(reversed(items)),
    "builtins.list": list,
    "builtins.tuple": tuple,
    "builtins.set": set,
    "builtins.dict": dict,
    "builtins.zip": lambda *items: list(zip(*items, strict=False)),
    "builtins.enumerate": lambda items, start=0: list(enumerate(items, start)),
    "builtins.any": any,
    "builtins.all": all,
    "builtins.round": round,
    "builtins.divmod": divmod,
    "os.path.join": posixpath.join,
    "posixpath.join": posixpath.join,
    "randn": torch.randn,
    "rand": torch.rand,
    "randint": torch.randint,
    "randperm": torch.randperm,
    "randn_like": torch.randn_like,
    "rand_like": torch.rand_like,
    "empty": torch.zeros,
}


def _refused() -> Any:
    raise CannotLift("cannot be lifted: a shift beyond bounds")
