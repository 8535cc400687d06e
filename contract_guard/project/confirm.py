"""`check --confirm`: copies and what they copy are run on the same inputs, in another process.

The only part of `check` that runs code of the project: calls of production in the tests that the
findings name. The process has a bound on its memory, and each comparison one on its time; it is no
sandbox.
"""

import ast
import contextlib
import importlib.util
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, cast

import msgspec

from contract_guard.detectors.statement import decode
from contract_guard.errors import UserError
from contract_guard.findings import Confirmation, Finding
from contract_guard.mirrors.agreement import CannotLift, program, to_json
from contract_guard.mirrors.scopes import FunctionNode
from contract_guard.mirrors.shadow import beside_production

RULES = frozenset({"CG301", "CG302", "CG304"})
PATIENCE = 60.0  # seconds for one comparison
START = 120.0  # seconds for the process to start: it imports torch
_ENDING = 5.0  # seconds for it to end after its last word
_NEEDED = ("torch", "hypothesis")


def confirmed(
    root: Path, findings: Iterable[Finding], patience: float = PATIENCE
) -> tuple[Finding, ...]:
    """The findings, those of mirrored logic with what running both sides told.

    Raises UserError where torch or Hypothesis is not installed beside contract-guard.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(
            f"--confirm needs {' and '.join(missing)}: pip install 'contract-guard[gate]'"
        )
    worker = _Worker(root)
    try:
        return tuple(
            _told(finding, _confirmation(root, finding, worker, patience))
            if finding.rule in RULES
            else finding
            for finding in findings
        )
    finally:
        worker.stop()


def _confirmation(root: Path, finding: Finding, worker: "_Worker", patience: float) -> Confirmation:
    path, _, name = (finding.test or "").partition("::")
    try:
        tree = ast.parse(decode((root / path).read_bytes()))
        here = [line for related in finding.related for line, _ in related.aligned]
        if finding.rule == "CG304":
            tree = _beside_production(root, finding, tree)
        lifted = program(
            tree,
            name.replace("::", "."),
            min(here, default=finding.line),
            max(here, default=finding.end_line),
            _packages(root),
        )
        job = {"program": to_json(lifted), "paths": _import_paths(root)}
    except (CannotLift, LookupError) as error:
        return Confirmation(status="cannot", reason=str(error))
    except (OSError, SyntaxError, RecursionError) as error:
        return Confirmation(status="cannot", reason=f"{path}: {type(error).__name__}")
    return worker.run(job, patience)


def _beside_production(root: Path, finding: Finding, tree: ast.Module) -> ast.Module:
    """The test file with production called beside the shadow copy."""
    name = (finding.test or "").partition("::")[2]
    functions = (node for node in tree.body if isinstance(node, FunctionNode))
    around = (f.name for f in functions if f.lineno <= finding.line <= (f.end_lineno or 0))
    copied = next(around, name)
    if copied == name:
        raise CannotLift("the test calls nothing of production, and has no function of the copy")
    production = ast.parse(decode((root / finding.related[0].path).read_bytes()))
    return beside_production(tree, name.replace("::", "."), copied, production, finding.symbol)


def _told(finding: Finding, confirmation: Confirmation) -> Finding:
    severity = finding.severity
    if confirmation.status == "part" and finding.rule == "CG304":
        severity = "error"
    message = f"{finding.message}; {outcome(confirmation)}"
    return msgspec.structs.replace(
        finding, message=message, severity=severity, confirmed=confirmation
    )


def outcome(confirmation: Confirmation) -> str:
    """The outcome in words."""
    inputs = f"{confirmation.inputs:,} input{'s' * (confirmation.inputs != 1)}"
    left_out = f" ({confirmation.refused} on which a side raises left out)"
    if confirmation.status == "agree":
        return f"run: both still agree on {inputs}{left_out if confirmation.refused else ''}"
    if confirmation.status == "cannot":
        return f"not run, cannot be lifted: {confirmation.reason}"
    if confirmation.status == "stopped":
        return f"run, and nothing was compared: {confirmation.reason}"
    at = ", ".join(f"{name} = {value}" for name, value in confirmation.at.items())
    return (
        f"run: they part{f' at {at}' if at else ''}: the test expects {confirmation.expected}, "
        f"production gives {confirmation.actual}"
    )


def _packages(root: Path) -> frozenset[str]:
    """Import roots of the project: directories that hold Python files, without tests."""
    found: set[str] = set()
    for place in (root, root / "src"):
        if place.is_dir():
            found.update(
                child.name
                for child in place.iterdir()
                if child.is_dir()
                and any(child.glob("*.py"))
                and child.name not in ("tests", "test")
            )
    return frozenset(found)


def _import_paths(root: Path) -> list[str]:
    places = [root, root / "src"]
    return [str(place.resolve()) for place in places if place.is_dir()]


class _Worker:
    """The process that runs comparisons, started for the first and again after one that ended or
    hung it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: IO[bytes] | None = None

    def run(self, job: Mapping[str, object], patience: float) -> Confirmation:
        """What came of one job."""
        if self._process is None:
            self._start()
            ready = self._answer(START)
            if isinstance(ready, Confirmation):
                return ready
        process = self._process
        assert process is not None
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it ended: the answer says how
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
        line = self._answer(patience)
        if isinstance(line, Confirmation):
            return line
        record: dict[str, Any] = json.loads(line)
        record.pop("line")
        return msgspec.convert(_printable(record), Confirmation)

    def _answer(self, patience: float) -> str | Confirmation:
        """The next line; where none comes, what became of the process, which is then ended."""
        try:
            line = self._lines.get(timeout=patience)
        except queue.Empty:
            self.stop()
            return Confirmation(status="stopped", reason=f"no answer within {patience:.0f} s")
        if line is None:
            said = self._last_words()
            self.stop()
            return Confirmation(status="stopped", reason=f"the process ended: {said}")
        return line

    def _start(self) -> None:
        self._lines = queue.Queue()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        self._process = subprocess.Popen(
            # Without the project among the places that it starts from (-P): a queue.py there is
            # not the standard library's.
            [sys.executable, "-P", "-m", "contract_guard.gates.agreement"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            encoding="utf-8",
            cwd=self._root,
            env=_environment(),
            start_new_session=True,
        )
        reader = threading.Thread(target=_read, args=(self._process, self._lines), daemon=True)
        reader.start()

    def _last_words(self) -> str:
        assert self._process is not None
        assert self._errors is not None
        try:
            code = self._process.wait(timeout=_ENDING)
        except subprocess.TimeoutExpired:
            return "it closed its output, and ran on"
        self._errors.seek(0)
        lines = self._errors.read()[-4096:].decode(errors="replace").strip().splitlines()
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"{how}{': ' + lines[-1][:200] if lines else ''}"

    def stop(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            if hasattr(os, "killpg"):
                # What production started ends as well; nothing may be left of the group.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdin is not None
            assert self._errors is not None
            self._process.stdin.close()
            self._errors.close()
        self._process = None


def _printable(value: Any) -> Any:
    """Without what no report can show: what production says may hold controls, or half of a
    character."""
    if isinstance(value, dict):
        return {key: _printable(each) for key, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, str):
        return "".join(each if each.isprintable() else "?" for each in value)
    return value


def _read(process: "subprocess.Popen[str]", lines: "queue.Queue[str | None]") -> None:
    assert process.stdout is not None
    with process.stdout:
        for line in process.stdout:
            lines.put(line)
    lines.put(None)


def _environment() -> dict[str, str]:
    """The process finds this package where this one found it, installed or not."""
    here = str(Path(__file__).resolve().parents[2])
    before = os.environ.get("PYTHONPATH")
    path = here if not before else os.pathsep.join((here, before))
    return os.environ | {"PYTHONPATH": path, "HF_HUB_OFFLINE": "1", "CUDA_VISIBLE_DEVICES": ""}
