"""Values of the mirror analysis. Standard library only: the gate harness uses them on machines
that have nothing else of the analyzer installed."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Range:
    """Lines `start` to `end` of a file, both included, from 1."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a slice, in evaluation order.

    `name` is canonical (`add`, `topk`, `gather`, `softmax`, `eq`, ...), `arguments` are indices
    of earlier ops (int), input names (str, prefixed "$"), or constants (`Const`); `keywords`
    likewise by name. `line` is where it stands in the test.
    """

    name: str
    arguments: tuple[object, ...]
    keywords: tuple[tuple[str, object], ...] = ()
    line: int = 0


@dataclass(frozen=True, slots=True)
class Const:
    """A constant by value and, where it had one, by name (`IMAGE_SENTINEL_BASE_ID`)."""

    value: object
    symbol: str | None = None


@dataclass(frozen=True, slots=True)
class OracleSlice:
    """How a test computes its expected values: a straight-line program of operations.

    `inputs` are names that the slice takes from outside (`moe.gate.weight`,
    `config.routed_scaling_factor`, parameters of a double); `outputs` are indices into `ops`,
    or "$name" of an input, with the name under which the test knows them; `ranges` are the
    source lines that take part. `refused` names what cannot be lifted ("open", "eval"): a slice
    with refusals may be shown and fingerprinted, but not interpreted.
    """

    inputs: tuple[str, ...]
    ops: tuple[Op, ...]
    outputs: tuple[tuple[str, object], ...]
    ranges: tuple[Range, ...]
    refused: tuple[str, ...] = ()
    fingerprint: str = field(default="")


@dataclass(frozen=True, slots=True)
class MirrorPair:
    """A test place and the production place that it recomputes, each with its fingerprint."""

    test: Range
    test_qualname: str
    test_fingerprint: str
    production: Range
    production_qualname: str
    production_fingerprint: str
    score: float
    aligned: tuple[tuple[int, int], ...] = ()
    reason: str = ""
