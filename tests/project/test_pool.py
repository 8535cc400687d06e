"""The pool through scripts: workers that start by `spawn` find functions by their module's name."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from contract_guard.project import encoding, pool
from contract_guard.project.extraction import extract

SOURCES = {f"m{number}.py": f"X{number} = {number}\n".encode() * 200 for number in range(60)}
EXPECTED = {path: encoding.encode(extract(source)) for path, source in SOURCES.items()}


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_same_for_any_number_of_jobs(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "WORTH_WORKERS", 1)
    monkeypatch.setattr(pool, "SHARE_BYTES", 20_000)
    assert dict(pool.extract_all(SOURCES.items(), jobs=jobs)) == EXPECTED


def test_few_sources_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_context", None)  # would fail if it were called
    assert dict(pool.extract_all(SOURCES.items(), jobs=8)) == EXPECTED


def test_none() -> None:
    assert list(pool.extract_all([], jobs=2)) == []


def test_an_error_in_this_process_is_not_hidden() -> None:
    def extract(source: bytes) -> None:
        raise ZeroDivisionError(source)

    with pytest.raises(ZeroDivisionError):
        list(pool.extract_all([("a", b"")], jobs=1, extract=extract))


SCRIPT = """
import json, os, signal, sys, threading, time
from contract_guard.project import encoding, pool
from contract_guard.project.extraction import extract

pool.WORTH_WORKERS = 1
pool.SHARE_BYTES = 40

def odd(source):
    if source == b"exit":
        os._exit(3)
    if source == b"kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if source == b"hang":
        time.sleep(60)
    if source == b"raise":
        raise ZeroDivisionError("in the extractor")
    return extract(b"x = 1")

def run(sources, seconds=30.0):
    pairs = list(enumerate(sources))
    results = dict(pool.extract_all(pairs, jobs=2, seconds=seconds, extract=odd))
    facts = [encoding.decode(results[key]) for key, _ in pairs]
    return [getattr(fact, "reason", "facts") for fact in facts]

if __name__ == "__main__":
    # A process that a shell starts in the background ignores interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if "spawn" in sys.argv:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        assert pool._context().get_start_method() == "spawn"
    print(json.dumps(eval(sys.argv[1])), flush=True)
"""


def run_script(expression: str, tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    return subprocess.run(
        [sys.executable, str(script), expression, *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_worker_s_death_costs_one_file(tmp_path: Path) -> None:
    done = run_script("run([b'ok' * 5, b'exit', b'ok' * 6, b'kill', b'kill', b'ok'])", tmp_path)
    assert done.stderr == ""
    died = "worker-died"
    assert json.loads(done.stdout) == ["facts", died, "facts", died, died, "facts"]


def test_spawned_workers(tmp_path: Path) -> None:
    done = run_script("run([b'ok' * 30, b'exit', b'ok' * 30])", tmp_path, "spawn")
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["facts", "worker-died", "facts"]


def test_a_hang_costs_one_file(tmp_path: Path) -> None:
    done = run_script("run([b'ok', b'hang', b'ok', b'ok'], seconds=0.5)", tmp_path)
    assert done.stderr == ""
    assert json.loads(done.stdout) == ["facts", "timeout", "facts", "facts"]


def test_an_error_in_a_worker_is_not_hidden(tmp_path: Path) -> None:
    done = run_script("run([b'ok', b'raise', b'ok'])", tmp_path)
    assert done.returncode == 1
    assert "ZeroDivisionError: in the extractor" in done.stderr


def test_an_interrupt_ends_at_once_and_leaves_no_worker(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT.replace("time.sleep(60)", "(print(os.getpid(), flush=True), time.sleep(60))")
    )
    process = subprocess.Popen(
        [sys.executable, str(script), "run([b'hang', b'hang' ])"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    worker = int(process.stdout.readline())
    # As a terminal does, to the whole group.
    os.killpg(process.pid, signal.SIGINT)
    _, error = process.communicate(timeout=30)
    assert process.returncode == -2
    assert error.count("Traceback") == 1  # that of the parent alone
    assert not Path(f"/proc/{worker}").exists() or sys.platform != "linux"
