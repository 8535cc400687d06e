"""Gate against gate: another library's router stands where a mirror would."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import replace

from contract_guard.gates.compare import check_form
from contract_guard.gates.model import (
    CannotBuild,
    Domain,
    Gate,
    GateAdapter,
    GateInputs,
    GateOutput,
)
from contract_guard.gates.settings import Mirror


def shared_domain(adapter: GateAdapter, other: GateAdapter) -> GateAdapter:
    """The adapter, drawn only in shapes that both take. Raises CannotBuild where there are none."""
    own, its = adapter.domain, other.domain
    experts = tuple(count for count in own.experts if count in its.experts)
    top_k = tuple(count for count in own.top_k if count in its.top_k)
    dtypes = tuple(name for name in own.dtypes if name in its.dtypes)
    devices = tuple(name for name in own.devices if name in its.devices)
    if not (experts and top_k and dtypes and devices):
        raise CannotBuild(f"no number of experts, top-k, dtype and device suits {other.name} too")

    def valid(count: int, chosen: int) -> bool:
        return own.valid(count, chosen) and its.valid(count, chosen)

    return replace(adapter, domain=Domain(experts, top_k, own.hidden, dtypes, devices, valid))


def versus(other: GateAdapter) -> Mirror:
    """The other gate as an expectation: built in the same shape, given the same parameters by
    role, and run on the same inputs. Raises CannotBuild when it is run, where that cannot be."""
    built: dict[str, Gate] = {}

    def run(gate: Gate, inputs: GateInputs) -> GateOutput:
        key = repr(gate.shape)
        if key not in built:
            options = {name: values[0] for name, values in other.options.items()}
            shape = type(gate.shape)(
                gate.shape.experts,
                gate.shape.top_k,
                gate.shape.hidden,
                gate.shape.dtype,
                gate.shape.device,
                options | {k: v for k, v in gate.shape.options.items() if k in options},
            )
            built[key] = other.build(shape)
        twin = built[key]
        for role, parameter in twin.parameters.items():
            if role in gate.parameters:
                parameter.copy_(gate.parameters[role].reshape(parameter.shape))
        output = twin.call(_as_it_takes(twin, gate, inputs))
        check_form(output, inputs, gate.spec.experts)
        return output

    return Mirror(other.name, run)


def _as_it_takes(twin: Gate, gate: Gate, inputs: GateInputs) -> GateInputs:
    """Logits for a gate that takes them, of hidden states and weight, in float32."""
    if "logits" not in twin.spec.inputs or inputs.logits is not None or inputs.hidden is None:
        return inputs
    weight = gate.parameters["weight"].float()
    logits = inputs.hidden.float() @ weight.T
    return GateInputs(
        logits=logits, input_ids=inputs.input_ids, bias=inputs.bias, padding=inputs.padding
    )
