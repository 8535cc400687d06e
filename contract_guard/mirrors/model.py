"""Values of the mirror analysis. Standard library only: the gate harness uses them on machines
that have nothing else of the analyzer installed."""

from dataclasses import dataclass
from enum import Enum
from typing import Final


class Unresolved(Enum):
    """The value of a constant that another module defines: known by its symbol alone."""

    UNRESOLVED = "unresolved"

    def __repr__(self) -> str:
        return self.name


UNRESOLVED: Final = Unresolved.UNRESOLVED


@dataclass(frozen=True, slots=True)
class Range:
    """Lines `start` to `end` of a file, both included, from 1."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Const:
    """A constant by value and, where it had one, by name.

    `symbol` is `package.module:NAME` for an imported name (`value` is then UNRESOLVED; `torch`
    data types have this form too, `torch:float32`), a bare name for one of the same file.
    """

    value: object
    symbol: str | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """One operation of a slice, in evaluation order.

    `name` is canonical (`add`, `topk`, `gather`, `softmax`, `eq`, ...), `arguments` are indices
    of earlier ops (int), input names (str, prefixed "$"), or constants (`Const`); `keywords`
    likewise by name. `line` is where it stands in the test.
    """

    name: str
    arguments: tuple["Reference", ...]
    keywords: tuple[tuple[str, "Reference"], ...] = ()
    line: int = 0


Reference = int | str | Const


@dataclass(frozen=True, slots=True)
class Check:
    """How one output is compared: `form` is the assertion (`assert ==`, `assert_close`, ...),
    `actual` the source text of the other side ("" where there is none), `line` where it stands.

    `conditions` are references that must all hold for the assertion to be reached.
    """

    form: str
    line: int
    actual: str = ""
    conditions: tuple[Reference, ...] = ()


@dataclass(frozen=True, slots=True)
class OracleSlice:
    """How a test computes its expected values: a straight-line program of operations.

    `inputs` are names that the slice takes from outside (`moe.gate.weight`,
    `config.routed_scaling_factor`, parameters of a double); `outputs` are references (an index
    into `ops`, or "$name" of an input) with the name under which the test knows them, one for
    each entry of `checks`; `ranges` are the source lines that take part. `parameters` are the
    literal values of a parametrization by argument name. `refused` names what cannot be lifted
    ("open", "eval", "loop over range(n) at line 12"): a slice with refusals may be shown and
    fingerprinted, but not interpreted.
    """

    inputs: tuple[str, ...]
    ops: tuple[Op, ...]
    outputs: tuple[tuple[str, Reference], ...]
    ranges: tuple[Range, ...]
    refused: tuple[str, ...] = ()
    fingerprint: str = ""
    checks: tuple[Check, ...] = ()
    parameters: tuple[tuple[str, tuple[object, ...]], ...] = ()


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
