"""Gates of the installed transformers: every router class, found in its sources."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from contract_guard.gates.adapters.reading import read_output
from contract_guard.gates.adapters.transformers.building import Built, build, option_values
from contract_guard.gates.adapters.transformers.classes import (
    ROUTING_METHOD,
    RouterClass,
    router_classes,
)
from contract_guard.gates.adapters.transformers.forwards import (
    FORWARDS,
    Forward,
)
from contract_guard.gates.adapters.transformers.values import owned_bias
from contract_guard.gates.describe import describe
from contract_guard.gates.model import (
    CannotBuild,
    Domain,
    Gate,
    GateAdapter,
    GateInputs,
    GateOutput,
    GateShape,
)
from contract_guard.gates.spec import GateSpec

if TYPE_CHECKING:
    from torch import Tensor

PREFIX = "transformers:"
_EXPERTS = (4, 8, 16, 60, 64, 128, 256)
_CHOICES = (1, 2, 3, 4, 6, 8)
_HIDDEN = (64, 512)


def adapters() -> list[GateAdapter]:
    """One adapter a router class, by name."""
    return [_adapter(router) for router in router_classes()]


def table_rows() -> list[tuple[str, str, str, str]]:
    """(class, digest of its forward, rule in words or the reason why there is none, domain in
    words), by name, for each router as it is loaded in bfloat16."""
    rows: list[tuple[str, str, str, str]] = []
    for router in router_classes():
        forward = FORWARDS.get(router.digest)
        choices = forward.top_k if forward is not None else None
        try:
            gate = _build(router, GateShape(16, choices or 2, 64, "bfloat16", "cpu"))
            words = describe(gate.spec)
        except CannotBuild as reason:
            words = f"unverified: {reason}"
        domain = [f"k = {choices}"] if choices is not None else []
        domain += sorted(_adapter(router).options)
        rows.append((router.name, router.digest, words, ", ".join(domain)))
    return rows


def _adapter(router: RouterClass) -> GateAdapter:
    forward = FORWARDS.get(router.digest)
    choices = forward.top_k if forward is not None else None
    domain = Domain(
        experts=_EXPERTS,
        top_k=_CHOICES if choices is None else (choices,),
        hidden=_HIDDEN,
        dtypes=("float32", "bfloat16"),
        valid=_fewer,
    )
    return GateAdapter(
        name=PREFIX + router.name,
        domain=domain,
        build=partial(_build, router),
        options=option_values(router) | dict(forward.options if forward is not None else ()),
        sources=lambda: (router.path,),
    )


def _fewer(experts: int, top_k: int) -> bool:
    return top_k <= experts


def _build(router: RouterClass, shape: GateShape) -> Gate:
    forward = FORWARDS.get(router.digest)
    if forward is None:
        raise CannotBuild(f"no specification for this forward (digest {router.digest})")
    built = build(router, shape)
    spec = forward.spec(built)
    parameters = _parameters(forward, built)
    return Gate(
        name=PREFIX + router.name,
        shape=shape,
        spec=spec,
        parameters=parameters,
        call=partial(_call, built, forward, spec, parameters),
    )


def _parameters(forward: Forward, built: Built) -> "Mapping[str, Tensor]":
    tensors = {**dict(built.router.named_parameters()), **dict(built.router.named_buffers())}
    parameters = {role: tensors[name] for role, name in forward.roles if name in tensors}
    bias = owned_bias(built)
    if bias is not None:
        parameters["bias"] = bias
    return parameters


def _call(
    built: Built,
    forward: Forward,
    spec: GateSpec,
    parameters: "Mapping[str, Tensor]",
    inputs: GateInputs,
) -> GateOutput:
    hidden = inputs.hidden
    if hidden is None:
        raise ValueError("the gate takes hidden, and the batch has none")
    arguments: list[Any] = [hidden[None] if forward.batched else hidden]
    for kind in spec.inputs[1:]:
        match kind:
            case "input_ids":
                arguments.append(inputs.input_ids)
            case "bias":
                arguments.append(parameters["bias"] if inputs.bias is None else inputs.bias)
            case "padding":
                arguments.append(None if inputs.padding is None else ~inputs.padding)
            case "state":
                state = inputs.state
                arguments.append(None if state is None else state[None])
            case _:
                raise ValueError(f"a router does not take {kind}")
    with torch.no_grad():
        result = built.router(*arguments)
        if hasattr(built.owner, ROUTING_METHOD):
            result = getattr(built.owner, ROUTING_METHOD)(result)
    return read_output(spec, hidden.shape[0], result, inputs.padding)
