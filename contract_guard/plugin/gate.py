"""`contract_guard_gate`: a gate run as a test."""

import importlib.util
from typing import Protocol

import pytest

from contract_guard.errors import UserError
from contract_guard.gates.model import GateRun

_WIDTH = 100


class RunGate(Protocol):
    """What the fixture gives: runs one gate and returns the record of the run."""

    def __call__(
        self,
        name: str,
        *,
        device: str | None = None,
        rows: int | None = None,
        seed: int | None = 0,
        versus: str | None = None,
        hang_after: float = 120.0,
        record: bool = False,
    ) -> GateRun: ...


def gate_runner(request: pytest.FixtureRequest) -> RunGate:
    """The runner of one test. `name` is a gate as `contract-guard gate list` shows it, or one of
    the configuration. `record` adds the run to the evidence ledger."""

    def run_gate(
        name: str,
        *,
        device: str | None = None,
        rows: int | None = None,
        seed: int | None = 0,
        versus: str | None = None,
        hang_after: float = 120.0,
        record: bool = False,
    ) -> GateRun:
        __tracebackhide__ = True
        for needed in ("torch", "hypothesis"):
            if importlib.util.find_spec(needed) is None:
                pytest.skip(f"{needed} is not installed: pip install 'contract-guard[gate]'")
        from contract_guard.gates import report_text
        from contract_guard.project import gate_runs
        from contract_guard.project.gate_files import gate_root

        root = gate_root(request.config.rootpath)
        try:
            plan = gate_runs.plan(
                root,
                (name,),
                gate_runs.devices(device, None),
                rows=rows,
                seed=seed,
                versus=versus,
            )
        except UserError as error:
            pytest.fail(str(error), pytrace=False)
        (run,) = gate_runs.execute(plan, hang_after, lambda _: None, lambda _job, _run: None)
        if record:
            gate_runs.record(plan, (run,))
        if run.verdict == "unverified":
            pytest.skip(f"unverified: {run.reason}")
        if run.verdict != "agree":
            text = report_text.to_text((run,), _WIDTH, color=False, details=True)
            pytest.fail(f"{name}: {run.verdict}\n{text}", pytrace=False)
        return run

    return run_gate
