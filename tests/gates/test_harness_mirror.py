"""Lifted expectations: interpreted from an allow-list, bound to a gate, tried with the test's own
inputs."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.gates.interpret import interpret, needed_inputs
from contract_guard.gates.mirror import (
    bind,
    bindings,
    outputs_of,
    production_constant,
    slice_from_json,
    slice_to_json,
)
from contract_guard.gates.model import GateShape
from contract_guard.gates.mutants import mutants, untold
from contract_guard.gates.operations import CannotLift
from contract_guard.gates.runner import run_gate
from contract_guard.gates.settings import Settings
from contract_guard.mirrors.model import Const, Op, OracleSlice
from contract_guard.mirrors.slice import lift

TEST = """
import torch
from torch.nn import functional as F
from prod.constants import FIRST
from prod.gate import Gate

def test_it(k, scale):
    gate = Gate()
    hidden, ids = torch.randn(4, 8), torch.tensor([42, FIRST, FIRST, 300])
    weights, chosen = gate(hidden, ids)
    scores = F.softplus(hidden @ gate.weight.T).sqrt()
    mask = ids == FIRST
    bias = torch.where(mask[:, None], gate.image_bias, gate.correction_bias)
    expected_ids = (scores + bias).topk(k, dim=-1).indices
    expected = scores.gather(1, expected_ids)
    expected = expected / expected.sum(-1, keepdim=True) * scale
    torch.testing.assert_close(chosen, expected_ids)
    torch.testing.assert_close(weights, expected)
"""


@pytest.fixture(scope="module")
def mirror() -> OracleSlice:
    return lift(TEST, "t.py::test_it")


def first_is(value):
    return {"prod.constants:FIRST": value}.__getitem__


def batch(ids, experts=6, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return {
        "hidden": torch.randn(len(ids), 8, generator=generator),
        "ids": torch.tensor(ids),
        "gate.weight": torch.randn(experts, 8, generator=generator),
        "gate.correction_bias": torch.randn(experts, generator=generator),
        "gate.image_bias": torch.randn(experts, generator=generator),
        "k": 2,
        "scale": 2.5,
    }


def test_a_slice_computes_what_the_test_would(mirror):
    given = batch([42, 200, 200, 300])
    result = interpret(mirror, given, first_is(200), ("expected_ids", "expected"))
    scores = torch.nn.functional.softplus(given["hidden"] @ given["gate.weight"].T).sqrt()
    mask = (given["ids"] == 200)[:, None]
    choice = scores + torch.where(mask, given["gate.image_bias"], given["gate.correction_bias"])
    ids = choice.topk(2).indices
    weights = scores.gather(1, ids)
    assert torch.equal(result["expected_ids"], ids)
    torch.testing.assert_close(result["expected"], weights / weights.sum(-1, keepdim=True) * 2.5)


def test_inputs_are_bound_by_their_names_and_the_rest_is_named(mirror):
    outputs = outputs_of(mirror, {})
    assert outputs == {"ids": "expected_ids", "weights": "expected"}
    assert "prod.constants:FIRST" in needed_inputs(mirror, tuple(outputs.values()))
    bound, unbound = bindings(mirror, {}, outputs)
    assert unbound == ()
    assert bound == {
        "gate.correction_bias": "bias",
        "gate.image_bias": "image_bias",
        "gate.weight": "weight",
        "hidden": "hidden",
        "ids": "input_ids",
        "k": "top_k",
        "scale": "scale",
    }
    strange = lift(TEST.replace("gate.image_bias", "gate.special"), "t.py::test_it")
    assert bindings(strange, {}, outputs)[1] == ("gate.special",)
    assert bindings(strange, {"special": "image_bias"}, outputs)[1] == ()
    with pytest.raises(CannotLift, match=r"nothing is bound to gate\.special"):
        bind("t", strange)


def test_a_stale_mask_is_found_in_the_mirror_and_not_in_the_gate(planted, mirror):
    bound = bind("t.py::test_it", mirror, {"prod.constants:FIRST": planted.FIRST_IMAGE_ID})
    adapter = planted.adapter()
    # The mirror knows no groups: as many as there are kept.
    planted.GROUPS, before = planted.KEPT, planted.GROUPS
    try:
        quick = Settings(rows=1000, property_rows=1, elements=1 << 18, shapes=2, sweep=False)
        run = run_gate(adapter, quick, bound)
    finally:
        planted.GROUPS = before
    assert run.mirror == "t.py::test_it"
    assert run.verdict == "drift"
    assert run.buckets[0].label == "mirror: mask rule"
    assert run.buckets[0].minimal["token_id"] in range(129_253, 129_257)
    assert "by t.py::test_it" in run.buckets[0].snippet


def test_slices_travel_as_text(mirror):
    assert slice_from_json(slice_to_json(mirror)).ops == mirror.ops
    read = slice_from_json(slice_to_json(mirror))
    assert (read.inputs, read.outputs, read.fingerprint) == (
        mirror.inputs, mirror.outputs, mirror.fingerprint
    )  # fmt: skip


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists))
def test_what_is_no_slice_is_refused(value):
    with pytest.raises(CannotLift):
        slice_from_json(json.dumps(value))


def program(*ops: Op, output=None, refused=()) -> OracleSlice:
    return OracleSlice(
        inputs=("x",), ops=ops, outputs=(("y", len(ops) - 1 if output is None else output),),
        ranges=(), refused=refused,
    )  # fmt: skip


def value_of(slice_: OracleSlice, **inputs) -> object:
    return interpret(slice_, inputs, {}.__getitem__, ("y",))["y"]


@pytest.mark.parametrize("name", ["open", "os.system", "load", "from_file", "exec", "__import__"])
def test_what_is_not_on_the_list_cannot_be_lifted(name):
    with pytest.raises(CannotLift, match=rf"^cannot be lifted: {name} at line 7$"):
        value_of(program(Op(name, (Const("/etc/passwd"),), (), 7)))


def test_refusals_of_the_slicer_stand():
    with pytest.raises(CannotLift, match=r"^cannot be lifted: open$"):
        value_of(program(Op("add", ("$x", "$x")), refused=("open",)), x=1)
    with pytest.raises(CannotLift, match="cannot be lifted: open"):
        bind("t", lift("def test_a():\n    assert open('x').read() == g()\n", "t.py::test_a"))


def test_what_no_list_allows_is_named_before_anything_runs():
    source = TEST.replace("* scale", "* float(urlopen('http://x').read())")
    source = "from urllib.request import urlopen\n" + source
    said = r"^cannot be lifted: read at line 17, urllib\.request\.urlopen at line 17$"
    with pytest.raises(CannotLift, match=said):
        bind("t", lift(source, "t.py::test_it"), {"prod.constants:FIRST": 200})


def test_attributes_are_no_way_out():
    with pytest.raises(CannotLift, match=r"cannot be lifted: \.__class__"):
        value_of(program(Op("getattr", ("$x", Const("__class__")))), x=torch.ones(1))


def test_only_the_taken_side_of_a_choice_is_evaluated():
    ops = (
        Op("open", (Const("x"),)),
        Op("add", ("$x", Const(1))),
        Op("ifelse", (Const(False), 0, 1)),
    )
    assert value_of(program(*ops), x=1) == 2


def test_bounds_hold():
    with pytest.raises(CannotLift, match="beyond bounds"):
        value_of(program(Op("pow", (Const(10), Const(10**10)))))
    with pytest.raises(CannotLift, match="too large"):
        value_of(program(Op("expand", ("$x", Const(1 << 20), Const(1 << 20)))), x=torch.ones(1, 1))
    with pytest.raises(CannotLift, match="not in order"):
        value_of(program(Op("add", (1, 1)), Op("add", (0, 0))))


def test_a_failing_operation_is_named_with_its_line():
    with pytest.raises(CannotLift, match=r"^matmul at line 3 fails: RuntimeError"):
        value_of(program(Op("matmul", ("$x", "$x"), (), 3)), x=torch.ones(2, 3))


def test_a_long_program_needs_no_deep_stack():
    ops = [Op("add", ("$x", Const(1)))]
    ops += [Op("add", (index, Const(1))) for index in range(20_000)]
    assert value_of(program(*ops), x=0) == 20_001


def test_only_plain_constants_of_production_are_read():
    assert production_constant("string:digits") == "0123456789"
    with pytest.raises(CannotLift, match="is a builtin_function_or_method, not a constant"):
        production_constant("os:getcwd")
    with pytest.raises(CannotLift, match="is not to be had"):
        production_constant("no_such_module_anywhere:NAME")


def untold_by(mirror, ids, boundaries=(280,)) -> set[str]:
    symbols = first_is(200)
    candidates = mutants(mirror, symbols, boundaries)
    names = ("expected_ids", "expected")
    batches = [batch(ids, seed=seed) for seed in range(8)]
    return {mutant.what for mutant in untold(mirror, candidates, batches, symbols, names)}


def test_inputs_that_tell_less_leave_more_mutants(mirror):
    before, after = untold_by(mirror, [42, 200, 280, 300]), untold_by(mirror, [42, 200, 200, 300])
    assert "FIRST or 280 is taken" not in before
    assert "FIRST or 280 is taken" in after
    assert before < after
    assert "5 ids from FIRST on are taken" in after
    assert "5 ids from FIRST on are taken" not in untold_by(mirror, [42, 200, 203, 300])


def test_mutants_beyond_the_mask_are_told_by_any_input(mirror):
    left = untold_by(mirror, [42, 200, 200, 300])
    assert all("taken" in what for what in left)
    every = {mutant.what for mutant in mutants(mirror, first_is(200))}
    assert {"sqrt is left out", "the smallest are taken", "relu in place of softplus"} <= every


def test_a_gate_of_the_same_rule_can_stand_for_the_mirror(planted):
    from contract_guard.gates.versus import versus

    quick = Settings(rows=1000, property_rows=1, elements=1 << 18, shapes=2, sweep=False)
    same = run_gate(planted.adapter(), quick, versus(planted.adapter()))
    assert same.verdict == "agree"
    assert same.properties["gate = mirror"].startswith("agree: ")
    other = run_gate(planted.adapter(), quick, versus(planted.adapter("scale-lost")))
    assert other.properties["gate = oracle"].startswith("agree: ")
    assert other.buckets[0].label == "mirror: scaling"
    assert GateShape(1, 1, 1, "float32", "cpu").options == {}
