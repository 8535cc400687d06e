"""Runs gate jobs in worker processes, one a device, and survives what happens to them."""

import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, cast

from contract_guard.gates.model import Bucket, GateRun
from contract_guard.gates.worker import Job

# Seconds without a sign of life after which a gate is said to hang.
PATIENCE = 120.0
# Starting a worker imports torch and, for some gates, transformers.
START = 180.0
# Seconds for a process that hangs to say where.
ANSWER = 1.0

Progress = Callable[[Mapping[str, object]], None]


def run_jobs(
    jobs: Iterable[Job],
    devices: Sequence[str],
    patience: float = PATIENCE,
    on_progress: Progress = lambda _: None,
    on_run: Callable[[Job, GateRun], None] = lambda _job, _run: None,
) -> list[tuple[Job, GateRun]]:
    """Runs every job on one of the devices, one process a device, work split by gate. The results
    are in the order of the jobs; the callbacks are called in this thread, as things happen."""
    ordered = list(jobs)
    waiting = deque(enumerate(ordered))
    events: queue.Queue[tuple[str, int, object]] = queue.Queue()
    lock = threading.Lock()

    def serve(device: str) -> None:
        workers = _Workers(patience)
        try:
            while True:
                with lock:
                    if not waiting:
                        break
                    index, job = waiting.popleft()
                job = replace(job, device=device)

                def told(record: Mapping[str, object], index: int = index) -> None:
                    events.put(("progress", index, record))

                events.put(("run", index, (job, workers.run(job, told))))
        finally:
            workers.stop()
            events.put(("end", 0, None))

    threads = [threading.Thread(target=serve, args=(device,), daemon=True) for device in devices]
    for thread in threads:
        thread.start()
    results: dict[int, tuple[Job, GateRun]] = {}
    running = len(threads)
    try:
        while running:
            kind, index, value = events.get()
            if kind == "progress":
                on_progress(cast("Mapping[str, object]", value))
            elif kind == "run":
                results[index] = cast("tuple[Job, GateRun]", value)
                on_run(*results[index])
            else:
                running -= 1
    finally:
        with lock:
            waiting.clear()
    return [results[index] for index in sorted(results)]


class _Workers:
    """One process after another: a fresh one where the last is of no more use."""

    def __init__(self, patience: float) -> None:
        self.patience = patience
        self.worker: _Worker | None = None

    def run(self, job: Job, on_progress: Progress) -> GateRun:
        """The run of a job. Where the trial of a property takes the process with it, the rest of
        the gate is run without that property; the verdict stays an error."""
        faults: tuple[Bucket, ...] = ()
        while True:
            if self.worker is None or not self.worker.alive:
                self.worker = _Worker()
            run, broken = self.worker.run(job, self.patience, on_progress)
            run = replace(run, buckets=run.buckets + faults)
            ended = [b for b in run.buckets if broken and b.label.startswith(f"{broken}: ")]
            if broken is None or broken in job.without or not ended:
                return run
            faults = (*faults, ended[0])
            reason = ended[0].label.removeprefix(f"{broken}: ")
            job = replace(job, without={**job.without, broken: reason})

    def stop(self) -> None:
        """Ends the process that is there, if one is."""
        if self.worker is not None and self.worker.alive:
            self.worker.stop()


class _Worker:
    """One process. Not safe to share between threads."""

    def __init__(self) -> None:
        self.errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "contract_guard.gates.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.fresh = self.alive = True
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, job: Job, patience: float, on_progress: Progress) -> tuple[GateRun, str | None]:
        """The run, and the property whose trial ended it early, if one did. `alive` says
        afterwards whether the process is still of use."""
        started = time.monotonic()
        wait = patience + (START if self.fresh else 0.0)
        self.fresh = False
        last = _Last(job, started)
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(asdict(job)) + "\n")
            self.process.stdin.flush()
        except OSError:
            return last.ended(f"the process ended: {self._last_words()}"), None
        while True:
            try:
                line = self.lines.get(timeout=wait)
            except queue.Empty:
                place = self._place()
                self.stop()
                return last.ended(f"hangs: no answer for {wait:.0f} s{place}"), last.property
            if line is None:
                return last.ended(f"the process ended: {self._last_words()}"), last.property
            record = cast("dict[str, Any]", json.loads(line))
            wait = patience
            if "progress" in record:
                last.see(record)
                on_progress(record["progress"])
            else:
                run = run_from(record["run"])
                if run.verdict != "error":
                    return run, None
                # After a fault on the device nothing in that process can be trusted.
                if job.device.startswith("cuda"):
                    self.stop()
                return run, last.property

    def _place(self) -> str:
        """Where the process is, as far as it can say: ", in gate.py, line 7, in forward"."""
        if not hasattr(signal, "SIGUSR1"):
            return ""
        self.errors.seek(0, os.SEEK_END)
        before = self.errors.tell()
        self.process.send_signal(signal.SIGUSR1)
        end = time.monotonic() + ANSWER
        while time.monotonic() < end:
            self.errors.seek(before)
            said = self.errors.read().decode(errors="replace")
            if found := re.search(r'File "(.*?)", line (\d+) in (\S+)', said):
                return f", in {Path(found[1]).name}, line {found[2]}, in {found[3]}"
            time.sleep(0.02)
        return ""

    def _last_words(self) -> str:
        self.alive = False
        try:
            code = self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            # Its pipe is closed; what is left of it is of no use to anybody.
            self.process.kill()
            code = self.process.wait()
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 4096))
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        # Advice may follow the line that says what was wrong.
        telling = [line for line in lines if "Error: " in line] or lines
        return f"{how}{': ' + telling[-1][:200] if telling else ''}"

    def stop(self) -> None:
        """Ends the process, at once if it does not end by itself."""
        self.alive = False
        try:
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process.wait(timeout=0.2)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.errors.close()


@dataclass(slots=True)
class _Last:
    """What a worker said last: what there is to report if it says nothing more."""

    job: Job
    started: float
    so_far: GateRun | None = None
    property: str | None = None
    replay: str | None = None

    def see(self, record: Mapping[str, Any]) -> None:
        """Keeps a progress record."""
        self.property = record["progress"]["property"]
        self.replay = record["progress"]["replay"]
        if "so_far" in record:
            self.so_far = run_from(record["so_far"])

    def ended(self, reason: str) -> GateRun:
        """The run that ended for this reason, with what was seen until then."""
        seconds = time.monotonic() - self.started
        job = self.job
        known = self.so_far or GateRun(
            job.gate, job.mirror_name or job.versus, "error", job.device, 0, 0, 0.0, 0.0, 0.0
        )
        buckets = known.buckets
        if self.property is not None:
            reason = f"{self.property}: {reason}"
            buckets += (Bucket(reason, 1, {}, self.replay or ""),)
        rate = known.rows / max(seconds, 1e-9)
        return replace(
            known,
            verdict="error",
            reason=reason,
            seconds=seconds,
            rows_per_second=rate,
            buckets=buckets,
        )


def run_from(record: Mapping[str, Any]) -> GateRun:
    """A run as JSON leaves it."""
    values = dict(record)
    values["buckets"] = tuple(Bucket(**bucket) for bucket in record["buckets"])
    return GateRun(**values)


def _environment() -> dict[str, str]:
    """The worker finds this package where this process found it, installed or not."""
    here = str(Path(__file__).resolve().parents[2])
    before = os.environ.get("PYTHONPATH")
    path = here if not before else os.pathsep.join((here, before))
    return os.environ | {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "TQDM_DISABLE": "1"}
