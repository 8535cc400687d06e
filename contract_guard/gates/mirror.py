"""Binds a lifted expectation to a gate: which of its inputs is which part of the gate, which of its
outputs are expert ids and which are weights."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import torch

from contract_guard.gates.constants import production_constant
from contract_guard.gates.interpret import CannotLift, interpret, needed_inputs, not_listed
from contract_guard.gates.model import Gate, GateInputs, GateOutput
from contract_guard.gates.settings import Mirror
from contract_guard.mirrors.model import (
    UNRESOLVED,
    Check,
    Const,
    Op,
    OracleSlice,
    Range,
    Reference,
)

# Names under which tests and models know the parts of a gate: the last component decides.
KNOWN_NAMES: dict[str, str] = {
    "hidden": "hidden",
    "hidden_states": "hidden",
    "x": "hidden",
    "logits": "logits",
    "router_logits": "logits",
    "gating_output": "logits",
    "ids": "input_ids",
    "input_ids": "input_ids",
    "token_ids": "input_ids",
    "weight": "weight",
    "correction_bias": "bias",
    "e_score_correction_bias": "bias",
    "image_bias": "image_bias",
    "bias_vl": "image_bias",
    "tid2eid": "table",
    "top_k": "top_k",
    "topk": "top_k",
    "k": "top_k",
    "num_experts_per_tok": "top_k",
    "num_experts": "experts",
    "experts": "experts",
    "n_routed_experts": "experts",
    "num_local_experts": "experts",
    "scale": "scale",
    "routed_scaling_factor": "scale",
}
ID_WORDS = ("ids", "indices", "experts", "chosen", "index")
WEIGHT_WORDS = ("weights", "weight", "scores", "probs")
ROLES = ("hidden", "logits", "input_ids", "bias", "padding", "state")


def outputs_of(mirror: OracleSlice, said: Mapping[str, str]) -> dict[str, str]:
    """The names of the outputs that are `ids` and `weights`: as said, or by what they are compared
    with. Raises CannotLift where there are no ids to be found."""
    found = dict(said)
    checks = dict(zip((name for name, _ in mirror.outputs), mirror.checks, strict=False))
    for role, words in (("ids", ID_WORDS), ("weights", WEIGHT_WORDS)):
        if role in found:
            continue
        for name, reference in mirror.outputs:
            check = checks.get(name)
            # The name alone, where the expectation is compared with nothing that has one.
            text = f"{check.actual if check else ''} {name}".lower()
            if (
                name not in found.values()
                and _is_computed(mirror, reference)
                and any(
                    text.split()[0].rstrip("]\"')").endswith(word) or word in name for word in words
                )
            ):
                found[role] = name
                break
    if "ids" not in found:
        names = ", ".join(name for name, _ in mirror.outputs) or "nothing"
        raise CannotLift(f"no output is known to be expert ids (say expects.ids); it has {names}")
    return found


def _is_computed(mirror: OracleSlice, reference: Reference) -> bool:
    return isinstance(reference, int) and mirror.ops[reference].name not in ("tuple", "list")


def bindings(
    mirror: OracleSlice, said: Mapping[str, object], outputs: Mapping[str, str]
) -> tuple[dict[str, object], tuple[str, ...]]:
    """What each needed input stands for: a role (a string), or a value. Second, those for which
    nothing is known. Symbols of production are left to be read where the gate is."""
    bound: dict[str, object] = {}
    unbound: list[str] = []
    for name in needed_inputs(mirror, tuple(outputs.values())):
        last = name.replace(":", ".").rsplit(".", 1)[-1]
        if name in said or last in said:
            bound[name] = said.get(name, said.get(last))
        elif ":" in name:
            continue
        elif last in KNOWN_NAMES:
            bound[name] = KNOWN_NAMES[last]
        else:
            unbound.append(name)
    return bound, tuple(unbound)


def with_given_results(mirror: OracleSlice, said: Mapping[str, object]) -> OracleSlice:
    """The slice with an operation's result taken as an input, where `said` binds the operation by
    its name: `mm = "logits"` puts the logits of a gate that takes them where the test makes its
    own. Raises CannotLift where several operations have that name."""
    replaced: dict[int, str] = {}
    for name in said:
        places = [index for index, op in enumerate(mirror.ops) if op.name == name]
        if len(places) > 1:
            raise CannotLift(f"bind {name!r}: {len(places)} operations have that name")
        if places and not any(i == name or i.endswith("." + name) for i in mirror.inputs):
            replaced[places[0]] = "$" + name
    if not replaced:
        return mirror

    def given(reference: Reference) -> Reference:
        return replaced.get(reference, reference) if isinstance(reference, int) else reference

    ops = tuple(
        replace(
            op,
            arguments=tuple(given(value) for value in op.arguments),
            keywords=tuple((key, given(value)) for key, value in op.keywords),
        )
        for op in mirror.ops
    )
    outputs = tuple((name, given(reference)) for name, reference in mirror.outputs)
    names = tuple(name[1:] for name in replaced.values())
    return replace(mirror, inputs=(*mirror.inputs, *names), ops=ops, outputs=outputs)


def with_values(mirror: OracleSlice, symbols: Mapping[str, object]) -> OracleSlice:
    """The slice with the values of these production constants in place."""

    def known(reference: Reference) -> Reference:
        if isinstance(reference, Const) and reference.value is UNRESOLVED:
            return replace(reference, value=symbols.get(reference.symbol or "", UNRESOLVED))
        return reference

    ops = tuple(
        replace(
            op,
            arguments=tuple(known(value) for value in op.arguments),
            keywords=tuple((key, known(value)) for key, value in op.keywords),
        )
        for op in mirror.ops
    )
    return replace(mirror, ops=ops)


def bind(
    name: str,
    mirror: OracleSlice,
    said: Mapping[str, object] | None = None,
    expects: Mapping[str, str] | None = None,
) -> Mirror:
    """A mirror that can be run beside a gate. Raises CannotLift for what cannot be bound."""
    if mirror.refused:
        raise CannotLift(f"cannot be lifted: {', '.join(mirror.refused)}")
    outputs = outputs_of(mirror, expects or {})
    mirror = with_given_results(mirror, said or {})
    if unlisted := not_listed(mirror, tuple(outputs.values())):
        raise CannotLift(f"cannot be lifted: {', '.join(unlisted)}")
    bound, unbound = bindings(mirror, said or {}, outputs)
    if unbound:
        raise CannotLift(f"nothing is bound to {', '.join(unbound)}")

    # Known before the run: a value that cannot be had, or takes an import, is no case's doing.
    symbols = {
        path: bound[path] if path in bound else production_constant(path)
        for path in needed_inputs(mirror, tuple(outputs.values()))
        if ":" in path
    }
    mirror = with_values(mirror, symbols)

    def run(gate: Gate, inputs: GateInputs) -> GateOutput:
        values = {key: _value(role, gate, inputs) for key, role in bound.items() if ":" not in key}
        results = interpret(mirror, values, symbols.__getitem__, tuple(outputs.values()))
        return _dense(gate, results, outputs)

    return Mirror(name, run, mirror)


def _value(role: object, gate: Gate, inputs: GateInputs) -> object:
    if not isinstance(role, str):
        return role
    if role in gate.parameters:
        return gate.parameters[role]
    if role in ROLES:
        value = getattr(inputs, role)
        if value is None:
            raise CannotLift(f"the gate takes no {role}")
        return value
    numbers: dict[str, object] = {
        "top_k": gate.shape.top_k,
        "experts": gate.shape.experts,
        "hidden_size": gate.shape.hidden,
        "scale": gate.spec.scale.factor,
        "dtype": getattr(torch, gate.shape.dtype),
    }
    if role in numbers:
        return numbers[role]
    raise CannotLift(f"the gate has no {role!r}")


def _dense(gate: Gate, results: Mapping[str, object], outputs: Mapping[str, str]) -> GateOutput:
    ids = results[outputs["ids"]]
    if not isinstance(ids, torch.Tensor) or ids.ndim != 2:
        raise CannotLift(f"{outputs['ids']} is not a tensor [T, K]")
    ids = ids.long()
    weights = results[outputs["weights"]] if "weights" in outputs else None
    if weights is None:
        weights = torch.ones(ids.shape, device=ids.device)
    if not isinstance(weights, torch.Tensor) or weights.shape != ids.shape:
        raise CannotLift(f"{outputs.get('weights')} is not of the shape of {outputs['ids']}")
    size = (ids.shape[0], gate.spec.experts)
    dense = torch.zeros(size, dtype=weights.dtype, device=ids.device).scatter_(1, ids, weights)
    chosen = torch.zeros(size, dtype=torch.bool, device=ids.device).scatter_(1, ids, True)
    return GateOutput(dense, chosen, ids, weights)


def slice_to_json(mirror: OracleSlice) -> str:
    """The slice as text, for machines that have no analyzer to lift it with."""

    def reference(value: Reference) -> object:
        if isinstance(value, Const):
            known = value.value is not UNRESOLVED
            return {"value": value.value if known else None, "symbol": value.symbol, "known": known}
        return value

    record = {
        "version": 1,
        "inputs": mirror.inputs,
        "ops": [
            [
                op.name,
                [reference(a) for a in op.arguments],
                [[key, reference(value)] for key, value in op.keywords],
                op.line,
            ]
            for op in mirror.ops
        ],
        "outputs": [[name, reference(value)] for name, value in mirror.outputs],
        "ranges": [[r.path, r.start, r.end] for r in mirror.ranges],
        "refused": mirror.refused,
        "fingerprint": mirror.fingerprint,
        "checks": [[c.form, c.line, c.actual] for c in mirror.checks],
    }
    return json.dumps(record, indent=1)


def slice_from_json(text: str) -> OracleSlice:
    """The slice of a text that `slice_to_json` wrote. Raises CannotLift for anything else."""

    def reference(value: Any) -> Reference:
        if isinstance(value, dict):
            record = cast("dict[str, Any]", value)
            return Const(record["value"] if record["known"] else UNRESOLVED, record["symbol"])
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise TypeError("a reference is a number, a name or a constant")
        return value

    try:
        record = json.loads(text)
        return OracleSlice(
            inputs=tuple(record["inputs"]),
            ops=tuple(
                Op(
                    name,
                    tuple(reference(a) for a in arguments),
                    tuple((key, reference(value)) for key, value in keywords),
                    line,
                )
                for name, arguments, keywords, line in record["ops"]
            ),
            outputs=tuple((name, reference(value)) for name, value in record["outputs"]),
            ranges=tuple(Range(*entry) for entry in record["ranges"]),
            refused=tuple(record["refused"]),
            fingerprint=record["fingerprint"],
            checks=tuple(Check(*entry) for entry in record["checks"]),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise CannotLift(f"not a lifted expectation: {error}") from error
