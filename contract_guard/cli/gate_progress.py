"""Progress of gate runs on standard error: gate, rows/s, drifts so far."""

import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from contract_guard.gates.model import GateRun
from contract_guard.gates.worker import Job


class GateProgress:
    """A context manager; does nothing unless `wanted`."""

    def __init__(self, gates: int, wanted: bool) -> None:
        self.started = time.monotonic()
        self.rows = 0
        self.drifts = 0
        self.progress = Progress(
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
            disable=not wanted,
        )
        self.task = self.progress.add_task("starting", total=gates)

    def __enter__(self) -> "GateProgress":
        self.progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.progress.stop()

    def tell(self, record: Mapping[str, object]) -> None:
        """Rows and drifts of the gate that is running."""
        rows, drifts = record.get("rows"), record.get("drifts")
        if isinstance(rows, int) and isinstance(drifts, int):
            self._show(str(record.get("gate")), self.rows + rows, self.drifts + drifts)

    def finish(self, job: Job, run: GateRun) -> None:
        """A gate is done."""
        self.rows += run.rows
        self.drifts += len(run.buckets)
        self.progress.advance(self.task)
        self._show(job.gate, self.rows, self.drifts)

    def _show(self, gate: str, rows: int, drifts: int) -> None:
        rate = rows / max(time.monotonic() - self.started, 1e-9)
        said = f"{gate}  {rate:,.0f} rows/s  {drifts} drifts"
        self.progress.update(self.task, description=said)
