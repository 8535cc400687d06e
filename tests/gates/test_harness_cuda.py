"""The same on a GPU: no false drift, faults found, graphs replayed."""

import dataclasses

import pytest

from contract_guard.gates.case import decode
from contract_guard.gates.device import device_name
from contract_guard.gates.runner import run_gate
from contract_guard.gates.settings import settings_for

pytestmark = pytest.mark.contract_guard(requires="cuda")


def settings():
    return dataclasses.replace(settings_for("cuda:0", rows=200_000), shrink_seconds=0.5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("give_logits", [False, True])
def test_the_example_gate_agrees(planted, dtype, give_logits):
    run = run_gate(planted.adapter(None, give_logits, (dtype,)), settings())
    assert run.buckets == ()
    assert run.device == device_name("cuda:0")
    assert run.excused < 0.01
    assert run.properties["CUDA graph = eager"].startswith("agree: ")


@pytest.mark.parametrize("fault", ["range-short", "linear-bfloat16", "epsilon", "score-form"])
def test_a_planted_fault_is_found_and_replays(planted, fault):
    adapter = planted.adapter(fault)
    run = run_gate(adapter, settings())
    assert run.verdict == "drift"
    case = decode(run.buckets[0].replay.rsplit(" ", 1)[-1])
    again = run_gate(adapter, settings(), replay=(case,), only_replay=True)
    assert again.verdict == "drift"
    assert again.rows == case.rows
