"""A library's gate with parts of its spec said otherwise by the configuration.

[tool.contract_guard.gates.mine]
gate = "transformers:MixtralTopKRouter"
spec = {output = {dtype = "bfloat16"}}
options = {norm_topk_prob = true}
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import cast

from contract_guard.gates.adapters import find
from contract_guard.gates.adapters.callable import from_callable, spec_from_table
from contract_guard.gates.model import CannotBuild, Gate, GateAdapter, GateShape

LIBRARIES = ("transformers:", "vllm:")


def configured(name: str, table: Mapping[str, object] | None) -> GateAdapter:
    """The gate of that name: a library's, whose `spec` the table may override in part, or a user's
    own, which the table binds. Raises CannotBuild."""
    if table is None:
        return find(name)
    if not name.startswith(LIBRARIES):
        return from_callable(name, table)
    own = sorted({"build", "inputs", "arguments", "parameters"} & table.keys())
    if own:
        raise CannotBuild(f"{name}: {own[0]} is of no use: its adapter knows how to build it")
    changes = table.get("spec", {})
    if not isinstance(changes, Mapping):
        raise CannotBuild(f"{name}: spec: expected a table")
    adapter = find(name)

    def build(shape: GateShape) -> Gate:
        gate = adapter.build(shape)
        merged = _merged(asdict(gate.spec), cast("Mapping[str, object]", changes))
        return replace(gate, spec=spec_from_table(merged))

    return replace(adapter, build=build)


def with_options(adapter: GateAdapter, kept: Mapping[str, object]) -> GateAdapter:
    """The adapter with some of its options kept at one value. Raises CannotBuild for one that it
    does not have."""
    for name, value in kept.items():
        if value not in adapter.options.get(name, ()):
            known = "; ".join(f"{key} of {values}" for key, values in adapter.options.items())
            raise CannotBuild(f"options: {name} = {value!r} is not among {known or 'none'}")
    return replace(adapter, options={**adapter.options, **{k: (v,) for k, v in kept.items()}})


def _merged(base: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            below = cast("Mapping[str, object]", below)
            value = _merged(below, cast("Mapping[str, object]", value))
        merged[key] = value
    return merged
