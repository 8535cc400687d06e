"""Whole runs of one gate: faults found and shrunk, properties, and gates that are at fault
themselves."""

import dataclasses
import json

import pytest
import torch

from contract_guard.gates.case import decode, encode
from contract_guard.gates.model import CannotBuild, GateOutput, GateShape
from contract_guard.gates.overrides import configured
from contract_guard.gates.report_text import to_json
from contract_guard.gates.runner import run_gate
from contract_guard.gates.settings import Progress, Settings

QUICK = Settings(
    rows=2000, property_rows=500, tokens=512, elements=1 << 18, shapes=3, sweep=False,
    shrink_seconds=0.2,
)  # fmt: skip


def test_the_example_gate_agrees(planted):
    seen: list[Progress] = []
    with_ids = dataclasses.replace(QUICK, sweep=True, tokens=8192)
    run = run_gate(planted.adapter(), with_ids, on_progress=seen.append)
    assert run.buckets == ()
    assert run.verdict == "agree"
    assert run.rows >= 131_072 + QUICK.rows
    assert run.excused < 0.01
    assert seen[-1] == Progress("example", run.rows, 0)
    assert run.properties["gate = oracle"] == f"agree: {run.rows} rows"
    assert run.properties["CUDA graph = eager"].startswith("unverified: ")
    assert all(status.split(":")[0] != "drift" for status in run.properties.values())


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        ("range-short", "mask rule"),
        ("range-one", "mask rule"),
        ("bias-leaks", "weights"),
        ("scale-twice", "scaling"),
        ("norm-lost", "renormalization"),
        ("unsorted", "order of the experts"),
        ("groups-more", "groups"),
        ("linear-bfloat16", "dtype"),
        ("score-form", "score underflow or overflow"),
        ("duplicate", "number of experts"),
    ],
)
def test_a_planted_fault_is_found_by_its_cause(planted, fault, cause):
    run = run_gate(planted.adapter(fault), QUICK)
    assert run.verdict == "drift"
    assert run.buckets[0].label == cause


def test_drift_shrinks_to_one_token_that_replays(planted):
    adapter = planted.adapter("range-short")
    first = run_gate(adapter, dataclasses.replace(QUICK, shrink_seconds=5.0)).buckets[0]
    assert first.minimal["token_id"] == planted.FIRST_IMAGE_ID + planted.IMAGE_IDS - 1
    assert first.minimal["tokens"] == 1
    assert first.minimal["experts"] == 16
    case = decode(first.replay.rsplit(" ", 1)[-1])
    again = run_gate(adapter, QUICK, replay=(case,), only_replay=True)
    assert (again.rows, again.verdict) == (1, "drift")
    assert again.buckets[0].replay.endswith(encode(case))
    right = run_gate(planted.adapter(), QUICK, replay=(case,), only_replay=True)
    assert right.verdict == "agree"


def test_the_snippet_shows_the_drift_without_contract_guard(planted, capsys):
    run = run_gate(planted.adapter("smallest"), QUICK)
    snippet = run.buckets[0].snippet
    assert "contract_guard" not in snippet
    exec(snippet, {})  # written by this program, from numbers alone
    expected, given = capsys.readouterr().out.strip().split("] [")
    assert expected.strip("[]") != given.strip("[]")


def broken(planted, call, **build):
    """The example gate with another call."""
    whole = planted.adapter()

    def built(shape):
        gate = whole.build(shape)
        return dataclasses.replace(gate, call=lambda inputs: call(gate.call(inputs), inputs))

    return dataclasses.replace(whole, build=built)


def raising(output, inputs):
    raise ValueError("no such expert\nat all")


def out_of_memory(output, inputs):
    raise torch.OutOfMemoryError("CUDA out of memory")


def out_of_memory_on_cpu(output, inputs):
    return torch.empty(1 << 50)


def too_narrow(output, inputs):
    return dataclasses.replace(output, dense=output.dense[:, 1:])


def moved(output, inputs):
    return dataclasses.replace(output, dense=output.dense.to("meta"))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (raising, "no such expert"),
        (out_of_memory, "out of memory at 1 tokens of 64"),
        (out_of_memory_on_cpu, "out of memory at 1 tokens of 64"),
        (too_narrow, "weights of shape (1, 15), expected (1, 16)"),
        (moved, "weights on meta, inputs on cpu"),
    ],
)
def test_a_gate_at_fault_is_an_error_with_its_case(planted, call, reason):
    run = run_gate(broken(planted, call), QUICK)
    assert run.verdict == "error"
    assert reason in run.reason
    assert "\n" not in run.reason
    assert decode(run.buckets[-1].replay.rsplit(" ", 1)[-1]).tokens == 1


def test_a_gate_that_writes_nan_drifts(planted):
    def with_nan(output, inputs):
        return dataclasses.replace(output, dense=torch.where(output.chosen, torch.nan, 0.0))

    run = run_gate(broken(planted, with_nan), QUICK)
    assert run.verdict == "drift"
    assert set(run.buckets[0].minimal["given"].values()) == {"nan"}
    json.loads(to_json([run]), parse_constant=pytest.fail)
    assert run.buckets[0].label == "NaN or infinity"


def test_a_gate_that_cannot_be_built_is_unverified_with_the_reason(planted):
    def refuse(shape):
        raise CannotBuild("needs a newer transformers")

    run = run_gate(dataclasses.replace(planted.adapter(), build=refuse), QUICK)
    assert (run.verdict, run.reason, run.rows) == ("unverified", "needs a newer transformers", 0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is CUDA here")
def test_without_cuda_a_run_on_cuda_is_unverified(planted):
    run = run_gate(planted.adapter(), dataclasses.replace(QUICK, device="cuda:0"))
    assert run.verdict == "unverified"
    assert run.reason.startswith("no CUDA here")


def forgets_strides(output, inputs):
    if inputs.hidden.is_contiguous():
        return output
    return GateOutput(output.dense.roll(1, 1), output.chosen.roll(1, 1))


def forgets_the_last_row(output, inputs):
    if output.dense.shape[0] == 0:
        return dataclasses.replace(output, dense=output.dense.new_zeros(1, output.dense.shape[1]))
    return output


def by_place_in_batch(output, inputs):
    turned = torch.arange(output.dense.shape[0]) % 100 == 99
    return GateOutput(
        torch.where(turned[:, None], output.dense.roll(1, 1), output.dense),
        torch.where(turned[:, None], output.chosen.roll(1, 1), output.chosen),
    )


@pytest.mark.parametrize(
    ("call", "name"),
    [(forgets_strides, "strides"), (by_place_in_batch, "alone = in a batch")],
)
def test_a_property_that_fails_is_told_by_its_name(planted, call, name):
    run = run_gate(broken(planted, call), QUICK)
    assert run.verdict == "drift"
    assert run.properties[name].startswith("drift: ")


def test_a_wrong_empty_batch_is_a_fault(planted):
    run = run_gate(broken(planted, forgets_the_last_row), QUICK)
    assert run.verdict == "error"
    assert "expected (0, " in run.reason


def test_a_tolerance_multiplies_the_bound(planted):
    fault = planted.adapter("weights-bfloat16")
    strict = dataclasses.replace(QUICK, rows=500)
    assert run_gate(fault, strict).verdict == "drift"
    assert run_gate(fault, dataclasses.replace(strict, tolerance=1e5)).verdict == "agree"


def test_a_library_gate_takes_overrides_of_its_spec():
    changed = configured("transformers:MixtralTopKRouter", {"spec": {"scale": {"factor": 2.0}}})
    assert changed.build(changed_shape()).spec.scale.factor == 2.0
    run = run_gate(changed, dataclasses.replace(QUICK, rows=500))
    assert run.buckets[0].label == "scaling"
    with pytest.raises(CannotBuild, match="build is of no use"):
        configured("transformers:MixtralTopKRouter", {"build": {}})


def changed_shape():
    return GateShape(8, 2, 64, "float32", "cpu")


@pytest.mark.parametrize(("alignment", "status"), [(1, "error: raises "), (16, "agree: ")])
def test_inputs_keep_the_alignment_that_a_gate_asks_for(planted, alignment, status):
    def needs_16_bytes(output, inputs):
        if inputs.hidden.data_ptr() % 16:
            raise ValueError("misaligned address")
        return output

    whole = broken(planted, needs_16_bytes)

    def built(shape):
        return dataclasses.replace(whole.build(shape), alignment=alignment)

    run = run_gate(dataclasses.replace(whole, build=built), QUICK)
    assert run.properties["strides"].startswith(status)
