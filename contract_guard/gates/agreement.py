"""Runs production beside a copy of it in a test, on drawn inputs, in a process of its own.

The test's side is interpreted from a list of operations; only calls of production run the code of
the project. `python -m contract_guard.gates.agreement` reads one job a line and answers each with
one line: a JSON object that `Outcome` describes. It first says that it is ready.
"""
# torch's stubs leave the results of many methods unknown, and Hypothesis those of strategies.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import importlib
import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any, Literal, cast

import torch
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from contract_guard.gates.interpret import Failed, Machine
from contract_guard.gates.operations import CannotLift
from contract_guard.gates.python_operations import PYTHON_OPERATIONS
from contract_guard.mirrors.agreement import Program, from_json, unknown_inputs

EXAMPLES = 200
SECONDS = 20.0  # after which no further input is drawn
MEMORY = 8 << 30
_LOOK = 1.0  # seconds between two looks at whether anybody still asks
# Making an input takes a run of the test's own setup: neither its time nor its size is a fault.
_SLOW = [
    HealthCheck.too_slow,
    HealthCheck.data_too_large,
    HealthCheck.filter_too_much,
    HealthCheck.large_base_example,
]
_SEEDS = st.integers(0, 2**31)
_MOST_ELEMENTS = 64  # of an integer array that is drawn one by one
_MOST_TEXT = 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """What running both sides told. `inputs` counts those on which both were compared, `refused`
    those on which one side raised. With "part", `at` are the smallest inputs found on which they
    differ, as Python text, and `expected` and `actual` what each side gave; `line` is the
    assertion. `reason` says why nothing was run ("cannot"), or nothing compared ("stopped")."""

    status: Literal["agree", "part", "cannot", "stopped"]
    inputs: int = 0
    refused: int = 0
    line: int = 0
    at: Mapping[str, str] = field(default_factory=dict[str, str])
    expected: str = ""
    actual: str = ""
    reason: str = ""


class _Parted(Exception):
    pass


def compare(program: Program, examples: int = EXAMPLES, seconds: float = SECONDS) -> Outcome:
    """Compares both sides of a program on drawn inputs. The same inputs every time."""
    unknown = next(unknown_inputs(program), None)
    if unknown is not None:
        return Outcome("cannot", reason=f"nothing tells what {unknown} could be")
    compared = refused = 0
    last: dict[str, Any] = {}
    said = ""
    until = time.monotonic() + seconds

    def check(data: st.DataObject) -> None:
        nonlocal compared, refused, said
        if time.monotonic() > until and not last:
            return
        run = _Run(program, data)
        for comparison in program.comparisons:
            try:
                expected = run.machine.value(comparison.expected)
                actual = run.machine.value(comparison.actual)
            except Failed as error:
                refused += 1
                said = str(error)
                assume(condition=False)
                return
            if not same(expected, actual):
                last.update(
                    line=comparison.line,
                    at=dict(run.inputs.drawn),
                    expected=shown(expected),
                    actual=shown(actual),
                )
                raise _Parted
        compared += 1

    test = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=_SLOW,
    )(given(st.data())(check))
    try:
        test()
    except _Parted:
        return Outcome("part", compared, refused, **last)
    except CannotLift as error:
        return Outcome("cannot", reason=str(error).removeprefix("cannot be lifted: "))
    except Exception as error:
        if not compared:
            return Outcome("stopped", refused=refused, reason=said or _first_line(error))
        raise
    if not compared:
        return Outcome("stopped", refused=refused, reason=said or "no input could be drawn")
    return Outcome("agree", compared, refused)


class _Run:
    """One evaluation of a program, with inputs that are drawn when they are needed."""

    def __init__(self, program: Program, data: st.DataObject) -> None:
        self.inputs = _Inputs(program, data, self)
        self.machine = _Machine(program, self.inputs)


class _Machine(Machine):
    def __init__(self, program: Program, inputs: "_Inputs") -> None:
        super().__init__(program.ops, inputs, _symbol, torch.device("cpu"))
        self._production = program.production
        self._inputs = inputs

    def function(self, index: int) -> Callable[..., object] | None:
        name = self.ops[index].name
        if index in self._production:
            return lambda *arguments, **words: self._produced_here(name, arguments, words)
        if name == "getattr":
            return _attribute
        return PYTHON_OPERATIONS.get(name) or super().function(index)

    def _produced_here(
        self, name: str, arguments: Sequence[Any], words: Mapping[str, Any]
    ) -> object:
        """What production gives, in this process alone: a fork of it must not answer too."""
        own = os.getpid()
        try:
            return self._produced(name, arguments, words)
        finally:
            if os.getpid() != own:
                os._exit(0)

    def _produced(self, name: str, arguments: Sequence[Any], words: Mapping[str, Any]) -> object:
        """What production gives for a call: of a dotted name, of an object (`call`), or of a
        method of one."""
        if name == "call":
            function, arguments = arguments[0], arguments[1:]
        elif "." in name:
            function = _imported(name)
        else:
            function, arguments = getattr(arguments[0], name), arguments[1:]
        copies = [_copied(value) for value in arguments]
        try:
            with torch.no_grad():
                result = function(*copies, **{key: _copied(v) for key, v in words.items()})
        except Exception as error:
            said = f"production raises {type(error).__name__}: {_first_line(error)}"
            raise Failed(said) from error
        if isinstance(result, torch.nn.Module):
            self._inputs.fill(result)
        return result


class _Inputs(Mapping[str, object]):
    """The values of inputs by name without "$", drawn on first use; `drawn` are those that may
    differ from run to run, as text."""

    def __init__(self, program: Program, data: st.DataObject, run: "_Run") -> None:
        self.drawn: dict[str, str] = {}
        self._sources = {name: (index, path) for name, index, path in program.sources}
        self._rows = program.rows
        self._named = dict(program.named)
        self._production = program.production
        self._data = data
        self._run = run
        self._values: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        if name not in self._values:
            self._values[name] = self._value(f"${name}")
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return True  # those that nothing is known of were refused before

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def _value(self, name: str) -> object:
        for names, rows in self._rows:
            if name in names:
                row = self._data.draw(st.sampled_from(rows))
                for each, value in zip(names, row, strict=True):
                    known = self._run.machine.value(value)
                    self._values[each[1:]] = known
                    self.drawn[each[1:]] = shown(known)
                return self._values[name[1:]]
        if name in self._named:
            return self._draw(name, self._named[name].value)
        index, path = self._sources[name]
        value = self._run.machine.value(index)
        for part in path.split(".") if path else ():
            value = getattr(value, part)
        if path or index in self._production:
            return _copied(value)
        return self._draw(name, value)

    def _draw(self, name: str, like: object) -> object:
        if isinstance(like, torch.Tensor) and like.is_floating_point():
            seed = self._data.draw(_SEEDS)
            self.drawn[name[1:]] = f"torch.randn({list(like.shape)}) by seed {seed}"
            return _normal(like.shape, seed).to(like.dtype)
        value = self._data.draw(values_like(like))
        self.drawn[name[1:]] = shown(value)
        return value

    def fill(self, module: torch.nn.Module) -> None:
        """Other weights than the ones that the module was made with."""
        name = type(module).__name__
        seed = self._data.draw(_SEEDS)
        self.drawn[f"weights of {name}"] = f"torch.randn by seed {seed}"
        with torch.no_grad():
            for number, tensor in enumerate((*module.parameters(), *module.buffers())):
                if tensor.is_floating_point():
                    tensor.copy_(_normal(tensor.shape, seed + number))
        module.eval()


def values_like(like: object) -> st.SearchStrategy[Any]:
    """Values of the kind of one example: arrays of its shape and data type, numbers of its size,
    texts. What is of another kind stays as it is."""
    if isinstance(like, torch.Tensor):
        return _arrays_like(like)
    if isinstance(like, bool):
        return st.booleans()
    if isinstance(like, int):
        return st.integers(0 if like >= 0 else 2 * like, max(2 * abs(like), 16))
    if isinstance(like, float):
        low, high = (like / 4, like * 4) if like > 0 else (-4 * abs(like) - 1, 4 * abs(like) + 1)
        return st.floats(low, high, allow_nan=False)
    if isinstance(like, str):
        return st.text("abcXYZ019_-. /", max_size=12)
    if isinstance(like, list | tuple):
        items = cast("Sequence[object]", like)
        return st.tuples(*map(values_like, items)).map(type(items))  # type: ignore[arg-type]
    return st.just(like)


def _arrays_like(like: torch.Tensor) -> st.SearchStrategy[torch.Tensor]:
    shape, dtype = like.shape, like.dtype
    if like.is_floating_point():
        return _SEEDS.map(lambda seed: _normal(shape, seed).to(dtype))
    if dtype == torch.bool:
        pool: list[Any] = [False, True]
    else:
        near = {int(v) + d for v in like.flatten().tolist()[:_MOST_ELEMENTS] for d in range(-1, 5)}
        pool = sorted({0, 1, *(n for n in near if n >= 0 or int(like.min()) < 0)})
    if like.numel() > _MOST_ELEMENTS:
        return st.just(like)
    elements = st.lists(st.sampled_from(pool), min_size=like.numel(), max_size=like.numel())
    return elements.map(lambda values: torch.tensor(values, dtype=dtype).reshape(shape))


def _normal(shape: Sequence[int], seed: int) -> torch.Tensor:
    return torch.randn(tuple(shape), generator=torch.Generator().manual_seed(seed))


def same(expected: Any, actual: Any) -> bool:
    """Whether two values agree, floats within the tolerance of their data type."""
    if isinstance(expected, torch.Tensor) or isinstance(actual, torch.Tensor):
        one, other = torch.as_tensor(expected), torch.as_tensor(actual)
        if one.shape != other.shape:
            return False
        if not (one.is_floating_point() or other.is_floating_point()):
            return bool((one == other).all())
        half = min(torch.finfo(t.dtype).bits for t in (one, other) if t.is_floating_point()) < 32
        tolerance = 2e-2 if half else 1e-4
        return torch.allclose(one.double(), other.double(), tolerance, tolerance, equal_nan=True)
    if isinstance(expected, float) or isinstance(actual, float):
        try:
            close = math.isclose(expected, actual, rel_tol=1e-6, abs_tol=1e-9)
        except TypeError:
            return False
        return close or (expected != expected and actual != actual)
    if isinstance(expected, list | tuple) and isinstance(actual, list | tuple):
        ones, others = cast("Sequence[Any]", expected), cast("Sequence[Any]", actual)
        return len(ones) == len(others) and all(map(same, ones, others))
    return bool(expected == actual)


def shown(value: object) -> str:
    """A value as short text."""
    if isinstance(value, torch.Tensor):
        text = repr(value.tolist()) if value.numel() <= _MOST_ELEMENTS else repr(value)
    else:
        text = repr(value)
    text = " ".join(text.split())
    return text if len(text) <= _MOST_TEXT else f"{text[:_MOST_TEXT]}…"


def _copied(value: object) -> object:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _attribute(value: Any, name: str) -> object:
    if name.startswith("_"):
        raise CannotLift(f"cannot be lifted: .{name}")
    return getattr(value, name)


def _imported(dotted: str) -> Any:
    """What a dotted name means: the longest part that is a module, then attributes."""
    parts = dotted.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError as error:
            if error.name is not None and ".".join(parts[:end]).startswith(error.name):
                continue
            raise CannotLift(f"{dotted} is not to be had: {_first_line(error)}") from error
        except Exception as error:
            raise CannotLift(f"{dotted} is not to be had: {_first_line(error)}") from error
        try:
            for part in parts[end:]:
                found = getattr(found, part)
        except AttributeError as error:
            raise CannotLift(f"{dotted} is not to be had: {_first_line(error)}") from error
        return found
    raise CannotLift(f"{dotted} is not to be had: no module of that name")


def _symbol(symbol: str) -> object:
    return _imported(symbol.replace(":", "."))


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:_MOST_TEXT] or type(error).__name__


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _end_with(parent: int) -> None:
    """Ends this process and all that it started when the one that asks is gone: an endless loop
    of production would go on without it."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Answers jobs until the input ends. A job: the `program`, and the import `paths`."""
    # What production prints must not get among the answers.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # Nor may it wait for, or take, what comes in.
    jobs = os.fdopen(os.dup(0), encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    _bound_memory()
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    torch.set_num_threads(1)
    _say(out, {"ready": True})
    for line in jobs:
        job = json.loads(line)
        for path in reversed(job["paths"]):
            if path not in sys.path:
                sys.path.insert(0, path)
        try:
            outcome = compare(from_json(job["program"]))
        except MemoryError:
            outcome = Outcome("stopped", reason="out of memory")
        _say(out, asdict(outcome))


def _say(out: IO[str], record: Mapping[str, object]) -> None:
    out.write(json.dumps(record) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
