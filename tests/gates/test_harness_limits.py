"""A run ends in time and says what it has: searches that are too long, devices that are lost in
the trial of a property, processes that hang or die."""

import dataclasses
import sys
import time
from pathlib import Path

import pytest

from contract_guard.gates import session as session_module
from contract_guard.gates.case import decode
from contract_guard.gates.runner import run_gate
from contract_guard.gates.settings import Settings
from contract_guard.gates.worker import Job
from contract_guard.project.gate_workers import run_jobs

QUICK = Settings(
    rows=2000, property_rows=500, tokens=512, elements=1 << 18, shapes=3, sweep=False,
    shrink_seconds=0.2,
)  # fmt: skip


def calling(adapter, act):
    """The adapter's gate, with `act(inputs)` before each call."""

    def build(shape):
        gate = adapter.build(shape)

        def call(inputs):
            act(inputs)
            return gate.call(inputs)

        return dataclasses.replace(gate, call=call)

    return dataclasses.replace(adapter, build=build)


def test_a_search_that_takes_too_long_reports_what_it_has(planted):
    settings = dataclasses.replace(QUICK, rows=10**9, search_seconds=1.0)
    run = run_gate(planted.adapter("scale-twice"), settings)
    assert run.verdict == "drift"
    assert 0 < run.rows < 10**9
    assert run.reason.startswith("the search was stopped after 1 s with ")
    assert run.reason.endswith(" of 1000000000 rows to go")
    assert run.buckets[0].label == "scaling"


def test_causes_that_there_is_no_time_to_shrink_are_reported_as_they_were_found(planted):
    adapter = planted.adapter("scale-twice")
    run = run_gate(adapter, dataclasses.replace(QUICK, all_shrink_seconds=0.0))
    case = decode(run.buckets[0].replay.rsplit(" ", 1)[-1])
    assert case.rows == 1
    again = run_gate(adapter, QUICK, replay=(case,), only_replay=True)
    assert (again.rows, again.verdict) == (1, "drift")


def raise_unaligned(inputs):
    if not inputs.hidden.is_contiguous():
        raise RuntimeError("CUDA error: misaligned address")


def test_a_fault_in_a_property_is_its_own_and_the_run_goes_on(planted):
    def raising(inputs):
        if inputs.hidden.shape[0] == 1:
            raise ValueError("one token is not enough")

    only_many = dataclasses.replace(QUICK)
    run = run_gate(calling(planted.adapter(), raising), only_many)
    assert run.verdict == "error"
    # The first case of every run has one token.
    assert run.reason == "raises ValueError: one token is not enough"

    def empty(inputs):
        if inputs.hidden.shape[0] == 0:
            raise ValueError("nothing to do")

    run = run_gate(calling(planted.adapter(), empty), only_many)
    assert run.verdict == "error"
    assert run.reason == "empty batch: raises ValueError: nothing to do"
    assert run.properties["empty batch"] == "error: raises ValueError: nothing to do"
    assert run.properties["strides"].startswith("agree: ")
    assert run.rows >= QUICK.rows


def test_a_lost_device_ends_the_run_and_keeps_what_was_seen(planted, monkeypatch):
    lost: list[bool] = []

    def losing(inputs):
        if not inputs.hidden.is_contiguous():
            lost.append(True)
        if lost:
            raise RuntimeError("CUDA error: misaligned address")

    monkeypatch.setattr(session_module, "is_alive", lambda device: not lost)
    told = []
    run = run_gate(calling(planted.adapter(), losing), QUICK, on_progress=told.append)
    assert run.verdict == "error"
    assert run.reason.startswith("strides: ")
    assert "misaligned address" in run.reason
    assert run.properties["gate = oracle"].startswith("agree: ")
    assert run.rows > 0
    assert told[-1].property == "strides"
    lost.clear()  # as in a fresh process
    rest = run_gate(
        calling(planted.adapter(), raise_unaligned),
        dataclasses.replace(QUICK, without={"strides": "misaligned address"}),
    )
    assert (rest.verdict, rest.reason) == ("error", "strides: misaligned address")
    assert rest.properties["strides"] == "error: misaligned address"
    assert rest.rows >= QUICK.rows


GATES = """
import os, sys, time
sys.path[:0] = [{here!r}, {planted!r}]
import dataclasses
import planted
from contract_guard.gates.model import Domain
from test_harness_limits import calling

BASE = dataclasses.replace(planted.adapter(), domain=Domain((16,), (2,), (64,), ("float32",)))

def at_odds_with_strides(act):
    return calling(BASE, lambda inputs: None if inputs.hidden.is_contiguous() else act())

def dying():
    return at_odds_with_strides(lambda: os._exit(7))

def sleeping():
    time.sleep(600)

def hanging():
    return at_odds_with_strides(sleeping)
"""


@pytest.fixture
def project(tmp_path):
    here = Path(__file__).parent
    text = GATES.format(here=str(here), planted=str(here.parents[1] / "benchmarks"))
    (tmp_path / "limits.py").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("gate", "reason"),
    [
        ("limits:dying", "strides: the process ended: exit code 7"),
        ("limits:hanging", "strides: hangs: no answer for 3 s, in limits.py, line 18, in sleeping"),
    ],
)
def test_what_a_property_takes_with_it_is_run_again_without(project, gate, reason):
    if "hang" in gate and sys.platform == "win32":
        reason = reason.partition(",")[0]
    started = time.monotonic()
    ((_, run),) = run_jobs([Job(gate, "cpu", rows=200, paths=(str(project),))], ["cpu"], 3.0)
    assert run.verdict == "error"
    assert run.reason == reason
    assert run.properties["strides"] == "error: " + reason.removeprefix("strides: ")
    assert run.properties["empty batch"].startswith("agree: ")
    assert run.rows >= 200
    (bucket,) = run.buckets
    assert bucket.label == reason
    assert decode(bucket.replay.rsplit(" ", 1)[-1]).shape.experts == 16
    assert time.monotonic() - started < 60
