"""Runs gates in a process of its own: jobs come in as JSON lines, progress and results go out.

A gate may hang, crash its process or poison its CUDA context; the process that asked for the run
outlives it, and knows what there was to report until then. Started as
`python -m contract_guard.gates.worker`. SIGUSR1 makes it write where it is to standard error.
"""

import faulthandler
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import IO, TYPE_CHECKING, cast

if TYPE_CHECKING:
    from contract_guard.gates.model import GateRun

# Seconds for the search of one gate.
SEARCH = 300.0
# Progress is told at most so often, in seconds, and all that could be reported now less often.
PAUSE, PAUSE_SO_FAR = 0.2, 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """One gate to run: `binding` is its table of the configuration if it has one, `mirror` the
    lifted expectation as text, `bind` and `expects` what the configuration says of it. `options`
    keep options of the gate at one value. `versus` is another gate to compare with, `kept` are
    replay tokens to begin with, `without` properties that ended in a fault before."""

    gate: str
    device: str
    rows: int | None = None
    seed: int = 0
    compile: bool = False
    tolerance: float = 1.0
    binding: Mapping[str, object] | None = None
    mirror_name: str | None = None
    mirror: str | None = None
    bind: Mapping[str, object] = field(default_factory=dict[str, object])
    expects: Mapping[str, str] = field(default_factory=dict[str, str])
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    versus: str | None = None
    versus_options: Mapping[str, object] = field(default_factory=dict[str, object])
    boundaries: tuple[int, ...] = ()
    kept: tuple[str, ...] = ()
    only_kept: bool = False
    search_seconds: float = SEARCH
    without: Mapping[str, str] = field(default_factory=dict[str, str])
    paths: tuple[str, ...] = ()


def run_job(job: Job, tell: "IO[str] | None" = None) -> "GateRun":
    """Runs one job here. Faults of the gate, its binding and its mirror are verdicts."""
    from contract_guard.gates.adapters import find
    from contract_guard.gates.case import BadToken, decode
    from contract_guard.gates.interpret import CannotLift
    from contract_guard.gates.mirror import bind, slice_from_json
    from contract_guard.gates.model import CannotBuild, GateRun
    from contract_guard.gates.overrides import configured, with_options
    from contract_guard.gates.runner import run_gate
    from contract_guard.gates.settings import Progress, settings_for
    from contract_guard.gates.versus import shared_domain, versus

    for path in reversed(job.paths):
        if path not in sys.path:
            sys.path.insert(0, path)
    settings = replace(
        settings_for(job.device, job.rows, job.seed, job.compile, job.tolerance),
        search_seconds=job.search_seconds,
        without=job.without,
    )
    last = last_so_far = 0.0
    trying: str | None = None

    def on_progress(progress: Progress) -> None:
        nonlocal last, last_so_far, trying
        now = time.monotonic()
        # What is being tried must be known before it ends the process.
        if tell is None or (now - last < PAUSE and progress.property == trying):
            return
        last, trying = now, progress.property
        said: dict[str, object] = {
            "gate": progress.gate,
            "rows": progress.rows,
            "drifts": progress.drifts,
            "property": trying,
            "replay": progress.replay,
        }
        record: dict[str, object] = {"progress": said}
        if progress.so_far is not None and now - last_so_far >= PAUSE_SO_FAR:
            last_so_far = now
            record["so_far"] = asdict(progress.so_far())
        _say(tell, record)

    try:
        adapter = with_options(configured(job.gate, job.binding), job.options)
        mirror = None
        if job.mirror is not None:
            lifted = slice_from_json(job.mirror)
            mirror = bind(job.mirror_name or "mirror", lifted, job.bind, job.expects)
        elif job.versus is not None:
            other = with_options(find(job.versus), job.versus_options)
            adapter = shared_domain(adapter, other)
            mirror = versus(other)
        kept = tuple(decode(token) for token in job.kept)
        # Imports are over: from here on silence means that the gate hangs.
        on_progress(Progress(adapter.name, 0, 0))
    except (CannotBuild, CannotLift, BadToken) as error:
        verdict = "error" if isinstance(error, BadToken) else "unverified"
        name = job.mirror_name or job.versus
        return GateRun(job.gate, name, verdict, job.device, 0, 0, 0.0, 0.0, 0.0, reason=str(error))
    return run_gate(adapter, settings, mirror, job.boundaries, kept, job.only_kept, on_progress)


def job_from(record: Mapping[str, object]) -> Job:
    """A job as `asdict` and JSON leave it."""
    values = dict(record)
    for name in ("boundaries", "kept", "paths"):
        values[name] = tuple(cast("list[object]", values.get(name, [])))
    return Job(**values)  # pyright: ignore[reportArgumentType]


def main() -> None:
    """Reads jobs until the input ends."""
    # Libraries print; the pipe that results go through must be ours alone.
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if hasattr(signal, "SIGUSR1"):
        faulthandler.register(signal.SIGUSR1, all_threads=False)
    for line in sys.stdin:
        run = run_job(job_from(json.loads(line)), out)
        _say(out, {"run": asdict(run)})


def _say(out: "IO[str]", record: Mapping[str, object]) -> None:
    out.write(json.dumps(record, default=str) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
