"""Runs gate jobs in worker processes, one a device, and survives what happens to them."""

import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any, cast

from contract_guard.gates.model import Bucket, GateRun
from contract_guard.gates.worker import Job

# Seconds without a sign of life after which a gate is said to hang.
PATIENCE = 120.0
# Starting a worker imports torch and, for some gates, transformers.
START = 180.0

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
        worker: _Worker | None = None
        while True:
            with lock:
                if not waiting:
                    break
                index, job = waiting.popleft()
            job = replace(job, device=device)
            if worker is None:
                worker = _Worker()
            run, alive = worker.run(
                job, patience, lambda record, index=index: events.put(("progress", index, record))
            )
            if not alive:
                worker = None
            events.put(("run", index, (job, run)))
        if worker is not None:
            worker.stop()
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
        self.fresh = True
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def run(self, job: Job, patience: float, on_progress: Progress) -> tuple[GateRun, bool]:
        """The run, and whether the process is still of use."""
        started = time.monotonic()
        wait = patience + (START if self.fresh else 0.0)
        self.fresh = False
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps(asdict(job)) + "\n")
            self.process.stdin.flush()
        except OSError:
            return self._failed(job, f"the process ended: {self._last_words()}", started), False
        while True:
            try:
                line = self.lines.get(timeout=wait)
            except queue.Empty:
                self.stop()
                return self._failed(job, f"hangs: no answer for {wait:.0f} s", started), False
            if line is None:
                said = self._last_words()
                return self._failed(job, f"the process ended: {said}", started), False
            record = cast("dict[str, Any]", json.loads(line))
            wait = patience
            if "progress" in record:
                on_progress(record["progress"])
            else:
                run = run_from(record["run"])
                # After a fault on the device nothing in that process can be trusted.
                alive = not (run.verdict == "error" and job.device.startswith("cuda"))
                if not alive:
                    self.stop()
                return run, alive

    def _failed(self, job: Job, reason: str, started: float) -> GateRun:
        seconds = time.monotonic() - started
        return GateRun(
            job.gate,
            job.mirror_name or job.versus,
            "error",
            job.device,
            0,
            0,
            seconds,
            0.0,
            0.0,
            reason=reason,
        )

    def _last_words(self) -> str:
        code = self.process.wait(timeout=10)
        self.errors.seek(0, os.SEEK_END)
        self.errors.seek(max(0, self.errors.tell() - 4096))
        lines = self.errors.read().decode(errors="replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        # Advice may follow the line that says what was wrong.
        telling = [line for line in lines if "Error: " in line] or lines
        return f"{how}{': ' + telling[-1][:200] if telling else ''}"

    def stop(self) -> None:
        """Ends the process, at once if it does not end by itself."""
        try:
            if self.process.stdin is not None:
                self.process.stdin.close()
            self.process.wait(timeout=0.2)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.errors.close()


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
