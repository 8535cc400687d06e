"""A case: everything that decides one batch, small enough to be written on a command line.

A case holds structure and a seed, never tensors: `tensors.py` makes those on the device. Row r of
the batch is of the kind `kinds[r % len(kinds)]`; `keep` narrows a batch to some of its rows without
changing them, which is what lets a failure in 16,384 rows shrink to one token.
"""

import base64
import binascii
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import cast

from contract_guard.gates.model import GateShape

ROW_KINDS = (
    "normal",
    "outlier",
    "uniform",
    "axis",
    "zero",
    "wide",
    "large",
    "negative",
    "subnormal",
    "inf",
    "nan",
)
WEIGHT_KINDS = ("normal", "small", "aligned", "steep", "twins", "close", "zero")
BIAS_KINDS = ("zero", "normal", "offset", "comparable", "negative", "steps", "one")
ID_KINDS = ("random", "boundary", "sweep")
PADDINGS = ("none", "tail", "scattered", "all")

# Ties, underflow and overflow make experts equal in the gate's own arithmetic, so rows of these
# kinds are counted apart: the share of excused rows says something only about the others.
TIE_ROWS = frozenset({"zero", "wide", "large", "subnormal", "inf", "nan"})
TIE_WEIGHTS = frozenset({"twins", "close", "zero", "steep"})
TIE_BIASES = frozenset({"steps", "offset", "one"})


class BadToken(ValueError):
    """A replay token that this version cannot read; the message says why, on one line."""


@dataclass(frozen=True, slots=True)
class Case:
    """One batch of `tokens` rows for a gate of `shape`.

    `magnitude` is the power of two by which activations are scaled, `ids` how token ids are
    chosen and `first_id` where a sweep begins, `keep` the rows that are run (None: all of them).
    """

    shape: GateShape
    tokens: int
    seed: int
    kinds: tuple[str, ...] = ("normal",)
    weights: str = "normal"
    magnitude: int = 0
    bias: str = "zero"
    ids: str = "random"
    first_id: int = 0
    padding: str = "none"
    keep: tuple[int, ...] | None = None

    @property
    def rows(self) -> int:
        return self.tokens if self.keep is None else len(self.keep)

    def has_ties(self) -> bool:
        """Whether equal scores are to be expected on many rows, whatever the row's kind."""
        return self.weights in TIE_WEIGHTS or self.bias in TIE_BIASES


def describe(case: Case) -> dict[str, object]:
    """The case as JSON values, for people: only what differs from the plainest case."""
    plain = Case(case.shape, 0, 0)
    shown: dict[str, object] = {
        "experts": case.shape.experts,
        "top_k": case.shape.top_k,
        "hidden": case.shape.hidden,
        "dtype": case.shape.dtype,
        "tokens": case.rows,
    }
    if case.shape.options:
        shown["options"] = dict(case.shape.options)
    for name in ("kinds", "weights", "magnitude", "bias", "ids", "padding"):
        value = getattr(case, name)
        if value != getattr(plain, name):
            shown[name] = list(case.kinds) if name == "kinds" else value
    if case.keep is not None:
        shown["kinds"] = sorted({case.kinds[row % len(case.kinds)] for row in case.keep})
    return shown


def encode(case: Case) -> str:
    """A token of about 100 characters, safe in a shell, that `decode` turns into the same case."""
    plain = asdict(Case(case.shape, 0, 0))
    values = {
        name: value
        for name, value in asdict(case).items()
        if name == "shape" or value != plain[name]
    }
    packed = zlib.compress(json.dumps(values, separators=(",", ":"), sort_keys=True).encode(), 9)
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def decode(token: str) -> Case:
    """The case of a token. Raises `BadToken` for anything that `encode` did not write."""
    try:
        packed = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        # A token is typed by a person or read from a ledger: bound what it may unpack to.
        text = zlib.decompressobj().decompress(packed, 1 << 20)
        values = json.loads(text)
    except (binascii.Error, zlib.error, ValueError) as error:
        raise BadToken(f"not a replay token: {error}") from error
    record = cast("dict[str, object]", values) if isinstance(values, dict) else {}
    if not isinstance(record.get("shape"), dict):
        raise BadToken("not a replay token: it holds no case")
    try:
        shape = GateShape(**cast("dict[str, object]", record.pop("shape")))  # pyright: ignore[reportArgumentType]
        known = {field.name for field in fields(Case)}
        if unknown := sorted(record.keys() - known):
            raise BadToken(f"made by another version: unknown {', '.join(unknown)}")
        merged: dict[str, object] = {"tokens": 0, "seed": 0} | record
        for name in ("kinds", "keep"):
            if isinstance(merged.get(name), list):
                merged[name] = tuple(cast("list[object]", merged[name]))
        case = Case(shape=shape, **merged)  # pyright: ignore[reportArgumentType]
    except TypeError as error:
        raise BadToken(f"not a replay token: {error}") from error
    _check(case)
    return case


def _check(case: Case) -> None:
    choices: Mapping[str, tuple[str, ...]] = {
        "weights": WEIGHT_KINDS,
        "bias": BIAS_KINDS,
        "ids": ID_KINDS,
        "padding": PADDINGS,
    }
    for name, allowed in choices.items():
        if getattr(case, name) not in allowed:
            raise BadToken(f"made by another version: {name} {getattr(case, name)!r}")
    if not case.kinds or any(kind not in ROW_KINDS for kind in case.kinds):
        raise BadToken(f"made by another version: rows {case.kinds!r}")
    if case.keep is not None and any(not 0 <= row < case.tokens for row in case.keep):
        raise BadToken("not a replay token: it keeps rows that the batch does not have")
