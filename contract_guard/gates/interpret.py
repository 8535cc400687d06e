"""Runs a lifted expectation (`OracleSlice`) on tensors, without running any code of the test.

Every operation comes from the table in `operations.py`; a name that is not there "cannot be lifted:
NAME". The slice is evaluated from its outputs back, so that only the taken side of a choice is
evaluated.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Mapping, Sequence

import torch

from contract_guard.gates.operations import MAKERS, OPERATIONS, CannotLift
from contract_guard.mirrors.model import UNRESOLVED, Const, Op, OracleSlice, Reference

# A test's own tensors are small; a slice that asks for more than this does not describe a gate.
MOST_ELEMENTS = 1 << 30


class Failed(CannotLift):
    """An operation raised on these values; on others it may not."""


def interpret(
    mirror: OracleSlice,
    inputs: Mapping[str, object],
    symbols: Callable[[str], object],
    outputs: tuple[str, ...],
) -> dict[str, object]:
    """The values of the named outputs. `inputs` hold a value for each input that these need;
    `symbols` gives the value of a production constant by its symbol (`package.module:NAME`).

    Raises CannotLift for refusals of the slice, unknown operations, missing inputs, and operations
    that fail on these values.
    """
    if mirror.refused:
        raise CannotLift(f"cannot be lifted: {mirror.refused[0]}")
    device = next(
        (value.device for value in inputs.values() if isinstance(value, torch.Tensor)),
        torch.device("cpu"),
    )
    machine = Machine(mirror.ops, inputs, symbols, device)
    roots = dict(mirror.outputs)
    missing = [name for name in outputs if name not in roots]
    if missing:
        known = ", ".join(roots) or "nothing"
        raise CannotLift(f"the expectation has no {missing[0]!r}; it computes {known}")
    return {name: machine.value(roots[name]) for name in outputs}


def needed_inputs(mirror: OracleSlice, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Inputs and unresolved symbols (`package.module:NAME`) that the named outputs depend on."""
    roots = dict(mirror.outputs)
    found: dict[str, None] = {}
    todo: list[Reference] = [roots[name] for name in outputs if name in roots]
    seen: set[int] = set()
    while todo:
        reference = todo.pop()
        if isinstance(reference, str):
            found[reference[1:]] = None
        elif isinstance(reference, Const):
            symbol = reference.symbol
            if reference.value is UNRESOLVED and symbol and not symbol.startswith("torch:"):
                found[symbol] = None
        elif reference not in seen:
            seen.add(reference)
            op = mirror.ops[reference]
            todo += [*op.arguments, *(value for _, value in op.keywords)]
    return tuple(sorted(found))


def not_listed(mirror: OracleSlice, outputs: tuple[str, ...]) -> tuple[str, ...]:
    """Operations that the named outputs need and no list allows, each with its line. What stands on
    one side of a choice alone may never be evaluated, and is not looked at."""
    roots = dict(mirror.outputs)
    todo: list[Reference] = [roots[name] for name in outputs if name in roots]
    seen: set[int] = set()
    found: set[tuple[int, str]] = set()
    while todo:
        reference = todo.pop()
        if not isinstance(reference, int) or reference in seen:
            continue
        seen.add(reference)
        op = mirror.ops[reference]
        if op.name == "ifelse":
            todo.append(op.arguments[0])
            continue
        if op.name not in OPERATIONS:
            found.add((op.line, op.name))
        todo += [*op.arguments, *(value for _, value in op.keywords)]
    return tuple(f"{name} at line {line}" for line, name in sorted(found))


class Machine:
    """Evaluates operations on demand, each once. `function` tells what an operation runs."""

    def __init__(
        self,
        ops: Sequence[Op],
        inputs: Mapping[str, object],
        symbols: Callable[[str], object],
        device: torch.device,
    ) -> None:
        self.ops, self.inputs, self.symbols, self.device = ops, inputs, symbols, device
        self.done: dict[int, object] = {}

    def value(self, reference: Reference) -> object:
        """The value of a reference; what it needs first, in order, without recursion."""
        if not isinstance(reference, int):
            return self._leaf(reference)
        todo = [reference]
        while todo:
            index = todo[-1]
            op = self.ops[index]
            if index in self.done:
                todo.pop()
                continue
            if op.name == "ifelse":
                test = op.arguments[0]
                if isinstance(test, int) and test not in self.done:
                    todo.append(test)
                    continue
                taken = op.arguments[1 if self._known(test) else 2]
                if isinstance(taken, int) and taken not in self.done:
                    todo.append(taken)
                    continue
                self.done[index] = self._known(taken)
                continue
            needs = [*op.arguments, *(value for _, value in op.keywords)]
            waiting = [need for need in needs if isinstance(need, int) and need not in self.done]
            if waiting:
                if any(need >= index for need in waiting):
                    raise CannotLift("cannot be lifted: operations are not in order")
                todo += waiting
                continue
            self.done[index] = self._apply(index)
        return self.done[reference]

    def function(self, index: int) -> Callable[..., object] | None:
        """What runs for an operation, None where it is not interpreted."""
        return OPERATIONS.get(self.ops[index].name)

    def _known(self, reference: Reference) -> object:
        return self.done[reference] if isinstance(reference, int) else self._leaf(reference)

    def _leaf(self, reference: str | Const) -> object:
        if isinstance(reference, str):
            name = reference[1:]
            if name not in self.inputs:
                raise CannotLift(f"nothing is bound to {name!r}")
            return self.inputs[name]
        if reference.value is not UNRESOLVED:
            return reference.value
        symbol = reference.symbol or ""
        if symbol.startswith("torch:"):
            dtype = getattr(torch, symbol.removeprefix("torch:"), None)
            if isinstance(dtype, torch.dtype):
                return dtype
        return self.symbols(symbol)

    def _apply(self, index: int) -> object:
        op = self.ops[index]
        function = self.function(index)
        where = f" at line {op.line}" if op.line else ""
        if function is None:
            raise CannotLift(f"cannot be lifted: {op.name}{where}")
        arguments = [self._known(argument) for argument in op.arguments]
        keywords = {name: self._known(value) for name, value in op.keywords}
        if op.name in MAKERS:
            keywords.setdefault("device", self.device)
        try:
            result = function(*arguments, **keywords)
        except CannotLift:
            raise
        except Exception as error:
            first = (str(error).splitlines() or [""])[0][:160]
            raise Failed(f"{op.name}{where} fails: {type(error).__name__}: {first}") from error
        if isinstance(result, torch.Tensor) and result.numel() > MOST_ELEMENTS:
            raise CannotLift(f"cannot be lifted: {op.name}{where} makes too large a tensor")
        return result
