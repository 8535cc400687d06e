"""How much of a gate is run, what it is compared with, and how far a run is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from contract_guard.gates.model import Gate, GateInputs, GateOutput, GateRun
from contract_guard.mirrors.model import OracleSlice

GPU_ROWS, CPU_ROWS = 1_000_000, 20_000
PROPERTY_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """`rows` are for gate = oracle, `property_rows` for each other property; a batch has at most
    `tokens` rows and T x max(H, E) `elements`; `sweep` runs every token id once, where the gate
    takes ids; `tolerance` multiplies the error bound. The search ends after `search_seconds`
    whatever rows are left; `shrink_seconds` is for each cause of drift, `all_shrink_seconds` for
    all of them. Properties in `without` are not tried: they ended in a fault before, for the
    reason given."""

    device: str = "cpu"
    rows: int = CPU_ROWS
    property_rows: int = PROPERTY_ROWS
    tokens: int = 2_048
    elements: int = 1 << 20
    shapes: int = 6
    seed: int = 0
    compile: bool = False
    sweep: bool = True
    tolerance: float = 1.0
    search_seconds: float = 300.0
    shrink_seconds: float = 2.0
    all_shrink_seconds: float = 30.0
    without: Mapping[str, str] = field(default_factory=dict[str, str])


def settings_for(
    device: str,
    rows: int | None = None,
    seed: int = 0,
    compile: bool = False,
    tolerance: float = 1.0,
) -> Settings:
    """What a run on this device takes by default: 10^6 rows on a GPU, 20,000 on a CPU."""
    if device.startswith("cuda"):
        big = Settings(device, rows or GPU_ROWS, tokens=1 << 17, elements=1 << 26)
    else:
        big = Settings(device, rows or CPU_ROWS, min(PROPERTY_ROWS, rows or CPU_ROWS))
    return replace(big, seed=seed, compile=compile, tolerance=tolerance)


@dataclass(frozen=True, slots=True)
class Mirror:
    """What else says how the gate ought to route, bound to its roles: a test's expectation, or
    another gate. `slice` is there where it was lifted from a test."""

    name: str
    run: Callable[[Gate, GateInputs], GateOutput]
    slice: OracleSlice | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands: rows and causes of drift so far, the property that is being tried with
    the command that runs its case again, and all that could be reported if it ended here."""

    gate: str
    rows: int
    drifts: int
    property: str | None = None
    replay: str | None = None
    so_far: Callable[[], GateRun] | None = field(default=None, compare=False)
