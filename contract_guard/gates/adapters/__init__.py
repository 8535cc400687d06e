"""All gates that can be found here: of the installed transformers and vLLM, and the user's own.

To add a family: a module with `PREFIX` and `adapters() -> list[GateAdapter]`, named below.
"""

import difflib
import importlib

from contract_guard.gates.adapters.callable import from_callable
from contract_guard.gates.model import CannotBuild, GateAdapter

_FAMILIES = (
    "contract_guard.gates.adapters.transformers",
    "contract_guard.gates.adapters.vllm",
)


def all_adapters() -> list[GateAdapter]:
    """Every gate of every family, by name. Libraries are looked at, not imported."""
    found = [gate for family in _FAMILIES for gate in importlib.import_module(family).adapters()]
    return sorted(found, key=lambda gate: gate.name)


def find(name: str) -> GateAdapter:
    """The gate of that name: `transformers:Class`, `vllm:function`, or `module:callable`, where the
    callable returns a `GateAdapter`. Raises CannotBuild, with the closest names, if there is none.
    """
    gates = {gate.name: gate for gate in all_adapters()}
    if name in gates:
        return gates[name]
    family = name.partition(":")[0]
    if ":" in name and family not in ("transformers", "vllm"):
        return from_callable(name)
    close = difflib.get_close_matches(name, gates, n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise CannotBuild(f"no gate {name!r}{hint}")
