"""What a test's own inputs cannot tell: its rule is changed a little, in many ways, and the inputs
that the test uses are run through both. A change that makes no difference to them is one that the
test would let pass in production.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import torch

from contract_guard.gates.interpret import CannotLift, interpret
from contract_guard.mirrors.model import UNRESOLVED, Const, Op, OracleSlice, Reference

# Ids in a row that a range takes where the rule takes one: pairs, and the widths seen in models.
WIDTHS = (2, 4, 5, 8)
IDENTITY = "clone"
# Tolerances of torch.testing.assert_close for float32, which most tests keep.
RELATIVE, ABSOLUTE = 1.3e-6, 1e-5


@dataclass(frozen=True, slots=True)
class Mutant:
    """A rule that differs from the test's in one operation, at `line` of the test."""

    what: str
    line: int
    slice: OracleSlice


def mutants(
    mirror: OracleSlice, symbols: Callable[[str], object], boundaries: Iterable[int] = ()
) -> list[Mutant]:
    """All changes of one operation. `boundaries` are further ids that a mask might take."""
    found: list[Mutant] = []
    others = sorted(set(boundaries))
    for index, op in enumerate(mirror.ops):
        for what, changed in _changes(mirror, op, symbols, others):
            ops = (*mirror.ops[:index], changed, *mirror.ops[index + 1 :])
            found.append(Mutant(what, op.line, replace(mirror, ops=ops)))
    return found


def untold(
    mirror: OracleSlice,
    candidates: Sequence[Mutant],
    batches: Sequence[Mapping[str, object]],
    symbols: Callable[[str], object],
    outputs: tuple[str, ...],
) -> list[Mutant]:
    """The mutants that give what the rule gives on every batch of inputs. One that fails on the
    inputs is told from the truth."""
    truths = [interpret(mirror, batch, symbols, outputs) for batch in batches]
    left: list[Mutant] = []
    for mutant in candidates:
        same = True
        for batch, truth in zip(batches, truths, strict=True):
            try:
                given = interpret(mutant.slice, batch, symbols, outputs)
            except CannotLift:
                same = False
                break
            if not all(_alike(given[name], truth[name]) for name in outputs):
                same = False
                break
        if same:
            left.append(mutant)
    return left


def _alike(first: object, second: object) -> bool:
    if isinstance(first, torch.Tensor) and isinstance(second, torch.Tensor):
        if first.shape != second.shape:
            return False
        if not first.is_floating_point():
            return torch.equal(first, second)
        return torch.allclose(first, second, RELATIVE, ABSOLUTE, equal_nan=True)
    return first == second


def _changes(
    mirror: OracleSlice, op: Op, symbols: Callable[[str], object], others: list[int]
) -> Iterator[tuple[str, Op]]:
    arguments = op.arguments
    if op.name in ("eq", "ne", "lt", "le", "gt", "ge", "isin"):
        yield from _mask_changes(op, symbols, others)
    elif op.name == "add" and len(arguments) == 2:
        yield "a term is subtracted, not added", replace(op, name="sub")
        for kept in (0, 1):
            # Broadcasting may hang on the term that goes: times 1 + 0 x keeps the shape.
            if isinstance(arguments[kept], int):
                yield f"only the {_nth(kept)} term is left", _only(op, arguments[kept])
    elif op.name in ("mul", "div") and len(arguments) == 2:
        for kept in (0, 1) if op.name == "mul" else (0,):
            if isinstance(arguments[kept], int):
                what = "factor" if op.name == "mul" else "divisor"
                yield f"the {_nth(1 - kept)} {what} is left out", _only(op, arguments[kept])
    elif op.name in ("sqrt", "square", "exp", "log", "log1p"):
        yield f"{op.name} is left out", _only(op, arguments[0])
    elif op.name == "softplus":
        yield "relu in place of softplus", replace(op, name="relu", keywords=())
    elif op.name in ("softmax", "sigmoid"):
        other = "sigmoid" if op.name == "softmax" else "softmax"
        keywords = () if other == "sigmoid" else (("dim", Const(-1)),)
        yield f"{other} in place of {op.name}", Op(other, arguments[:1], keywords, op.line)
    elif op.name == "topk":
        yield (
            "the smallest are taken",
            replace(
                op,
                keywords=(
                    *(k for k in op.keywords if k[0] != "largest"),
                    ("largest", Const(False)),
                ),
            ),
        )
    elif op.name == "gather" and arguments:
        for source in _chosen_from(mirror):
            if source != arguments[0]:
                yield (
                    "weights are taken from the values that experts are chosen by",
                    replace(op, arguments=(source, *arguments[1:])),
                )
    elif op.name == "where" and len(arguments) == 3:
        yield (
            "the condition is turned around",
            replace(op, arguments=(arguments[0], arguments[2], arguments[1])),
        )
        yield (
            "the second side is always taken",
            replace(op, arguments=(arguments[0], arguments[2], arguments[2])),
        )
        yield (
            "the first side is always taken",
            replace(op, arguments=(arguments[0], arguments[1], arguments[1])),
        )


def _mask_changes(
    op: Op, symbols: Callable[[str], object], others: list[int]
) -> Iterator[tuple[str, Op]]:
    constants = [
        (place, argument)
        for place, argument in enumerate(op.arguments)
        if isinstance(argument, Const)
    ]
    if len(constants) != 1:
        return
    place, constant = constants[0]
    value: object = constant.value
    if value is UNRESOLVED:
        value = symbols(constant.symbol or "")
    if isinstance(value, bool) or not isinstance(value, int):
        return
    name = (constant.symbol or str(value)).rsplit(":", 1)[-1]

    def with_constant(new: object) -> Op:
        arguments = list(op.arguments)
        arguments[place] = Const(new)
        return replace(op, arguments=tuple(arguments))

    yield f"{name} is one too high", with_constant(value + 1)
    yield f"{name} is one too low", with_constant(value - 1)
    if op.name == "eq":
        ids: Reference = op.arguments[1 - place]
        yield "no id is taken", replace(op, name="isin", arguments=(ids, Const((-1,))))
        for width in WIDTHS:
            taken = tuple(range(value, value + width))
            yield (
                f"{width} ids from {name} on are taken",
                replace(op, name="isin", arguments=(ids, Const(taken))),
            )
        for other in others:
            if other != value:
                yield (
                    f"{name} or {other} is taken",
                    replace(op, name="isin", arguments=(ids, Const((value, other)))),
                )


def _only(op: Op, kept: Reference) -> Op:
    return Op(IDENTITY, (kept,), (), op.line)


def _chosen_from(mirror: OracleSlice) -> list[Reference]:
    return [op.arguments[0] for op in mirror.ops if op.name == "topk"]


def _nth(place: int) -> str:
    return ("first", "second")[place]
