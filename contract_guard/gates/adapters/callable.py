"""A user's own gate, `module:callable`, with a binding from the configuration.

    [tool.contract_guard.gates.mine]
    gate = "package.router:Gate"
    build = {hidden = "hidden", experts = "experts", top_k = "top_k", scale = 2.5}
    inputs = ["hidden", "input_ids"]
    parameters = {weight = "weight", bias = "correction_bias"}

    [tool.contract_guard.gates.mine.spec]
    score = {function = "sigmoid"}
    correction = {on = "scores"}
    renormalization = {when = "always"}
    output = {order = ["weights", "ids"]}

`build` are the arguments of a class, made anew for every shape ("hidden", "experts" and "top_k"
stand for the numbers drawn); a plain function has none. `inputs` are the arguments of a call, in
order: inputs of a gate by name, or roles of parameters (`weight`, `bias`, ...) where a function
takes its parameters as arguments. `arguments` are keyword arguments of a call. `parameters` says
which attribute of the object has which role. `experts`, `top_k`, `hidden`, `dtypes` and `devices`
bound what is drawn. `spec` is a `GateSpec`; fields not named are as for a plain linear gate.

A callable without a binding is called without arguments and returns a `GateAdapter`.
"""

import importlib
import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from typing import Any, cast

import torch
from torch import nn

from contract_guard.gates.adapters.reading import read_output
from contract_guard.gates.model import (
    CannotBuild,
    Domain,
    Gate,
    GateAdapter,
    GateInputs,
    GateOutput,
    GateShape,
    one_line,
)
from contract_guard.gates.spec import GateSpec, Input

KEYS = frozenset(
    {"gate", "build", "inputs", "arguments", "parameters", "spec"}
    | {"experts", "top_k", "hidden", "dtypes", "devices"}
)
"""What a binding may hold. Other keys of the table (mirror, bind, tolerances) are not looked at."""

_INPUTS = frozenset(typing.get_args(Input))
_SIZES = ("hidden", "experts", "top_k")


def from_callable(name: str, binding: Mapping[str, object] | None = None) -> GateAdapter:
    """The gate `module:callable`; imports the module, which must be importable.

    Raises CannotBuild where it cannot be imported or the binding is not right, with the key.
    """
    target = _imported(name)
    if binding is None:
        adapter = _called(target, name)
        if not isinstance(adapter, GateAdapter):
            raise CannotBuild(f"{name} gives {type(adapter).__name__}, and has no binding")
        return adapter
    table = dict(binding)
    return GateAdapter(
        name=name,
        domain=Domain(
            experts=_numbers(table, "experts", (8, 16, 60, 64)),
            top_k=_numbers(table, "top_k", (1, 2, 4, 6)),
            hidden=_numbers(table, "hidden", (64, 512)),
            dtypes=_words(table, "dtypes", ("float32", "bfloat16")),
            devices=_words(table, "devices", ("cpu", "cuda")),
            valid=_fewer,
        ),
        build=partial(_build, name, target, table),
        sources=partial(_sources, target),
    )


def _fewer(experts: int, top_k: int) -> bool:
    return top_k <= experts


def _imported(name: str) -> Callable[..., object]:
    module_name, _, attribute = name.partition(":")
    try:
        target = importlib.import_module(module_name)
        for part in attribute.split("."):
            target = getattr(target, part)
    except Exception as error:
        raise CannotBuild(f"{name}: {one_line(error)}") from error
    if not callable(target):
        raise CannotBuild(f"{name} is not callable")
    return target


def _called(target: Callable[..., object], name: str, **arguments: object) -> object:
    try:
        return target(**arguments)
    except Exception as error:
        raise CannotBuild(f"{name}: {one_line(error)}") from error


def _sources(target: Callable[..., object]) -> tuple[str, ...]:
    path = inspect.getsourcefile(inspect.unwrap(target))
    return (path,) if path is not None else ()


def _build(
    name: str, target: Callable[..., object], table: dict[str, object], shape: GateShape
) -> Gate:
    sizes = {"hidden": shape.hidden, "experts": shape.experts, "top_k": shape.top_k}
    call = target
    if isinstance(target, type):
        arguments = _with_sizes(_table(table, "build"), sizes)
        torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
        call = cast("Callable[..., object]", _called(target, name, **arguments))
        if isinstance(call, nn.Module):
            call = call.to(shape.device).eval().requires_grad_(False)
    takes = _words(table, "inputs", ("hidden",))
    parameters = _parameters(name, call, table, takes, shape)
    weight = parameters.get("weight")
    loaded = str(weight.dtype).removeprefix("torch.") if weight is not None else shape.dtype
    given: tuple[str, ...] = tuple(entry for entry in takes if entry in _INPUTS)
    defaults: dict[str, object] = {
        "experts": shape.experts,
        "inputs": given,
        "linear": {"kind": "linear" if weight is not None else "none", "weight_dtype": loaded},
        "score": {"function": "softmax"},
        "selection": {"k": shape.top_k},
    }
    spec = spec_from_table(_merged(defaults, _with_sizes(_table(table, "spec"), sizes)))
    keywords = _with_sizes(_table(table, "arguments"), sizes)
    return Gate(
        name, shape, spec, parameters, partial(_call, call, spec, parameters, takes, keywords)
    )


def _parameters(
    name: str,
    call: object,
    table: dict[str, object],
    takes: tuple[str, ...],
    shape: GateShape,
) -> dict[str, torch.Tensor]:
    parameters: dict[str, torch.Tensor] = {}
    for role, path in _table(table, "parameters").items():
        value: object = call
        for part in str(path).split("."):
            value = getattr(value, part, None)
        if not isinstance(value, torch.Tensor):
            raise CannotBuild(f"{name}: parameters.{role}: {path!r} is not a tensor of the gate")
        parameters[role] = value
    generator = torch.Generator()
    generator.manual_seed(0)
    for role in takes:
        if (role == "bias" or role not in _INPUTS) and role not in parameters:
            size = (shape.experts, shape.hidden) if role == "weight" else (shape.experts,)
            spread = shape.hidden**-0.5 if role == "weight" else 0.1
            values = torch.randn(size, generator=generator) * spread
            parameters[role] = values.to(shape.device)
    return parameters


def _call(
    call: Callable[..., Any],
    spec: GateSpec,
    parameters: Mapping[str, torch.Tensor],
    takes: tuple[str, ...],
    keywords: Mapping[str, object],
    inputs: GateInputs,
) -> GateOutput:
    arguments: list[object] = []
    tokens = 0
    for name in takes:
        value = getattr(inputs, name) if name in _INPUTS else parameters[name]
        if value is None and name == "bias":
            value = parameters.get("bias")
        if name in ("hidden", "logits", "input_ids") and value is not None:
            tokens = int(value.shape[0])
        arguments.append(value)
    with torch.no_grad():
        result = call(*arguments, **keywords)
    if isinstance(result, torch.Tensor):
        result = (result,)
    return read_output(spec, tokens, result, inputs.padding)


def spec_from_table(table: Mapping[str, object]) -> GateSpec:
    """A `GateSpec` from nested tables. Raises CannotBuild, with the dotted key."""
    return cast("GateSpec", _from_table(GateSpec, table, "spec"))


def _from_table(kind: type, table: Mapping[str, object], where: str) -> object:
    hints = typing.get_type_hints(kind)
    names = {entry.name: entry for entry in fields(kind)}
    values: dict[str, object] = {}
    for key, value in table.items():
        if key not in names:
            raise CannotBuild(f"{where}: unknown key {key!r}; it has {', '.join(names)}")
        values[key] = _converted(hints[key], value, f"{where}.{key}")
    for name, entry in names.items():
        wanted = entry.default is MISSING and entry.default_factory is MISSING
        if wanted and name not in values:
            raise CannotBuild(f"{where}: {name!r} is missing")
    return kind(**values)


def _converted(hint: Any, value: object, where: str) -> object:
    options = typing.get_args(hint) if _is_union(hint) else (hint,)
    for option in options:
        origin = typing.get_origin(option)
        if is_dataclass(option) and isinstance(value, Mapping):
            return _from_table(cast("type", option), cast("Mapping[str, object]", value), where)
        if origin is typing.Literal:
            if value in typing.get_args(option):
                return value
            raise CannotBuild(f"{where}: {value!r} is not one of {typing.get_args(option)}")
        if origin is tuple and isinstance(value, list | tuple):
            return tuple(cast("list[object]", value))
        if option is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        if isinstance(option, type) and type(value) is option:
            return value
    raise CannotBuild(f"{where}: {value!r} is not {hint}")


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in (typing.Union, types.UnionType)


def _with_sizes(table: Mapping[str, object], sizes: Mapping[str, int]) -> dict[str, object]:
    return {
        key: sizes[value] if isinstance(value, str) and value in _SIZES else value
        for key, value in table.items()
    }


def _merged(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            value = _merged(
                cast("Mapping[str, object]", below), cast("Mapping[str, object]", value)
            )
        result[key] = value
    return result


def _table(table: Mapping[str, object], key: str) -> Mapping[str, object]:
    value = table.get(key, {})
    if not isinstance(value, Mapping):
        raise CannotBuild(f"{key}: expected a table")
    return cast("Mapping[str, object]", value)


def _numbers(table: Mapping[str, object], key: str, default: tuple[int, ...]) -> tuple[int, ...]:
    value = table.get(key, default)
    values = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else (value,)
    if not values or not all(isinstance(v, int) and v > 0 for v in values):
        raise CannotBuild(f"{key}: expected whole numbers above 0")
    return cast("tuple[int, ...]", values)


def _words(table: Mapping[str, object], key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = table.get(key, default)
    values = tuple(cast("list[object]", value)) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(v, str) for v in values):
        raise CannotBuild(f"{key}: expected a list of strings")
    return cast("tuple[str, ...]", values)
