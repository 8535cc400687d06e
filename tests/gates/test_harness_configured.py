"""What the configuration may say of a library's gate: options kept, results of operations given."""

import pytest
import torch

from contract_guard.gates.adapters import find
from contract_guard.gates.interpret import CannotLift
from contract_guard.gates.mirror import bind, with_given_results
from contract_guard.gates.model import CannotBuild, GateInputs, GateShape
from contract_guard.gates.overrides import with_options
from contract_guard.gates.versus import shared_domain
from contract_guard.mirrors.slice import lift

TEST = b"""
import torch

def test_it():
    gate = make_gate()
    hidden = torch.randn(4, 8)
    weights, chosen = gate(hidden)
    scores = torch.softmax(torch.mm(hidden, gate.weight.t()), dim=-1)
    expected, expected_ids = scores.topk(2, dim=-1)
    torch.testing.assert_close(chosen, expected_ids)
    torch.testing.assert_close(weights, expected)
"""
NODE = "tests/test_x.py::test_it"


def test_an_option_is_kept_at_one_value() -> None:
    adapter = find("transformers:Qwen3MoeTopKRouter")
    assert set(adapter.options["norm_topk_prob"]) == {True, False}
    kept = with_options(adapter, {"norm_topk_prob": False})
    assert kept.options["norm_topk_prob"] == (False,)
    assert {k: v for k, v in kept.options.items() if k != "norm_topk_prob"} == {
        k: v for k, v in adapter.options.items() if k != "norm_topk_prob"
    }


@pytest.mark.parametrize("options", [{"norm_topk_prob": 3}, {"nowhere": True}])
def test_an_option_that_the_gate_does_not_have_is_refused(options: dict[str, object]) -> None:
    with pytest.raises(CannotBuild, match="is not among norm_topk_prob of"):
        with_options(find("transformers:Qwen3MoeTopKRouter"), options)


def test_the_logits_of_the_gate_stand_for_those_that_the_test_computes() -> None:
    mirror = bind("mirror", lift(TEST, NODE), {"mm": "logits"})
    shape = GateShape(experts=8, top_k=2, hidden=64, dtype="float32", device="cpu")
    gate = find("transformers:MixtralTopKRouter").build(shape)
    logits = torch.tensor([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]])
    output = mirror.run(gate, GateInputs(logits=logits))
    assert output.ids is not None
    assert output.ids.tolist() == [[7, 6]]
    assert torch.equal(output.dense[0, [6, 7]], logits.softmax(-1)[0, [6, 7]])


def test_an_operation_that_occurs_twice_cannot_be_given() -> None:
    source = TEST.replace(
        b"dim=-1)\n    expected", b"dim=-1) + torch.mm(hidden, hidden)\n    expected"
    )
    with pytest.raises(CannotLift, match="bind 'mm': 2 operations have that name"):
        with_given_results(lift(source, NODE), {"mm": "logits"})


def test_an_input_of_that_name_comes_before_an_operation() -> None:
    lifted = lift(TEST, NODE)
    assert with_given_results(lifted, {"hidden": "hidden", "weight": "weight"}) == lifted


def test_two_gates_meet_in_shapes_that_both_take() -> None:
    router = find("transformers:DeepseekV4TopKRouter")
    shared = shared_domain(router, find("vllm:dsv4_topk")).domain
    assert (shared.experts, shared.top_k, shared.dtypes) == ((256,), (6,), ("float32",))
    assert shared.devices == ("cuda",)
    with pytest.raises(CannotBuild, match="suits vllm:dsv4_topk too"):
        shared_domain(find("transformers:PhimoeTopKRouter"), find("vllm:dsv4_topk"))
