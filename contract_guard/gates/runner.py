"""Runs one gate over many cases and says what came of it: a `GateRun`."""

import time
from collections.abc import Callable

from contract_guard.gates.case import Case
from contract_guard.gates.device import plain_numerics, usable
from contract_guard.gates.model import CannotBuild, GateAdapter, GateRun, Verdict
from contract_guard.gates.session import Session
from contract_guard.gates.settings import Mirror, Progress, Settings


def run_gate(
    adapter: GateAdapter,
    settings: Settings,
    mirror: Mirror | None = None,
    boundaries: tuple[int, ...] = (),
    replay: tuple[Case, ...] = (),
    only_replay: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> GateRun:
    """Runs one gate. `boundaries` are token ids to try beside those that spec and mirror mention;
    `replay` are cases to run before all others (only these, if `only_replay`). Never raises for a
    fault of the gate: that is a verdict."""
    started = time.monotonic()

    def nothing(verdict: Verdict, reason: str) -> GateRun:
        return GateRun(
            gate=adapter.name,
            mirror=mirror.name if mirror else None,
            verdict=verdict,
            device=settings.device,
            cases=0,
            rows=0,
            seconds=time.monotonic() - started,
            rows_per_second=0.0,
            excused=0.0,
            reason=reason,
        )

    reason = usable(settings.device)
    if reason is None and settings.device.split(":")[0] not in adapter.domain.devices:
        reason = f"runs on {', '.join(adapter.domain.devices)} only"
    if reason is not None:
        return nothing("unverified", reason)
    with plain_numerics():
        try:
            session = Session(adapter, settings, mirror, boundaries, on_progress)
        except CannotBuild as error:
            return nothing("unverified", str(error))
        session.explore(replay, only_replay)
        return session.finished()
