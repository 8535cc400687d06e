"""A user's own gate with a binding, and the list of all gates."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from contract_guard.gates.adapters import all_adapters, find
from contract_guard.gates.adapters.callable import from_callable, spec_from_table
from contract_guard.gates.adapters.reading import from_choices, read_output
from contract_guard.gates.model import CannotBuild, GateInputs, GateShape
from contract_guard.gates.oracle import oracle
from contract_guard.gates.spec import GateSpec, Linear, Output, Score, Selection

SHAPE = GateShape(8, 2, 16, "float32", "cpu")
SOURCE = """
import torch
from torch import nn
from contract_guard.gates.model import Domain, GateAdapter


class Gate(nn.Module):
    def __init__(self, hidden, experts, top_k, scale):
        super().__init__()
        self.top_k, self.scale = top_k, scale
        self.router = nn.Linear(hidden, experts, bias=False)
        self.correction_bias = nn.Parameter(torch.zeros(experts))

    def forward(self, x):
        scores = self.router(x).sigmoid()
        ids = (scores + self.correction_bias).topk(self.top_k, -1).indices
        weights = scores.gather(-1, ids)
        return weights / weights.sum(-1, keepdim=True) * self.scale, ids


def function(x, weight, bias, k):
    scores = (x @ weight.T).softmax(-1)
    ids = (scores + bias).topk(k, -1).indices
    return scores.gather(-1, ids), ids


def factory():
    return GateAdapter("mine", Domain((8,), (2,), (16,), ("float32",)), build=None)


def raises():
    raise RuntimeError("no such luck")


number = 3
"""
BINDING: dict[str, object] = {
    "gate": "own_gates:Gate",
    "build": {"hidden": "hidden", "experts": "experts", "top_k": "top_k", "scale": 2.5},
    "parameters": {"weight": "router.weight", "bias": "correction_bias"},
    "spec": {
        "score": {"function": "sigmoid"},
        "correction": {"on": "scores"},
        "renormalization": {"when": "always"},
        "scale": {"factor": 2.5},
        "output": {"order": ["weights", "ids"]},
    },
}


@pytest.fixture(autouse=True)
def _own_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "own_gates.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("own_gates", None)


def test_a_bound_class_agrees_with_its_specification() -> None:
    gate = from_callable("own_gates:Gate", BINDING).build(SHAPE)
    gate.parameters["bias"].copy_(torch.linspace(-0.3, 0.3, 8))
    inputs = GateInputs(hidden=torch.randn(50, 16, generator=torch.Generator().manual_seed(0)))
    output = gate.call(inputs)
    truth = oracle(gate.spec, gate.parameters, inputs)
    assert torch.equal(output.chosen, truth.chosen)
    torch.testing.assert_close(output.dense.double(), truth.dense, rtol=1e-5, atol=1e-7)
    assert gate.spec.linear.weight_dtype == "float32"


def test_a_function_takes_its_parameters_as_arguments() -> None:
    binding = {
        "inputs": ["hidden", "weight", "bias"],
        "arguments": {"k": "top_k"},
        "spec": {"correction": {"on": "scores"}, "output": {"order": ["weights", "ids"]}},
    }
    gate = from_callable("own_gates:function", binding).build(SHAPE)
    assert gate.parameters["weight"].shape == (8, 16)
    assert gate.parameters["bias"].shape == (8,)
    assert gate.spec.inputs == ("hidden", "bias")
    inputs = GateInputs(hidden=torch.ones(3, 16))
    truth = oracle(gate.spec, gate.parameters, inputs)
    torch.testing.assert_close(gate.call(inputs).dense.double(), truth.dense, rtol=1e-5, atol=1e-7)


def test_a_factory_gives_its_own_adapter() -> None:
    assert find("own_gates:factory").name == "mine"


def test_sources_are_the_file_of_the_callable(tmp_path: Path) -> None:
    adapter = from_callable("own_gates:Gate", BINDING)
    assert adapter.sources() == (str(tmp_path / "own_gates.py"),)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("own_gates:absent", "AttributeError: module 'own_gates' has no attribute 'absent'"),
        ("no_such_module:x", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("own_gates:number", "own_gates:number is not callable"),
        ("own_gates:raises", "RuntimeError: no such luck"),
        ("own_gates:function", "TypeError: function() missing 4 required positional arguments"),
    ],
)
def test_what_cannot_be_had_is_said_in_one_line(name: str, reason: str) -> None:
    with pytest.raises(CannotBuild) as caught:
        find(name)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("spec", {"scores": {}}, "spec: unknown key 'scores'"),
        ("spec", {"score": {"function": "relu"}}, "spec.score.function: 'relu' is not one of"),
        ("spec", {"scale": {"factor": "much"}}, "spec.scale.factor: 'much' is not"),
        ("spec", {"groups": {"count": 2}}, "spec.groups: 'kept' is missing"),
        ("parameters", {"weight": "gate.w"}, "parameters.weight: 'gate.w' is not a tensor"),
        ("build", {"hidden": "hidden"}, "missing 3 required positional arguments"),
        ("build", 3, "build: expected a table"),
        ("experts", "many", "experts: expected whole numbers above 0"),
        ("dtypes", [1], "dtypes: expected a list of strings"),
    ],
)  # fmt: skip
def test_a_wrong_binding_names_the_key(key: str, value: object, reason: str) -> None:
    with pytest.raises(CannotBuild) as caught:
        from_callable("own_gates:Gate", BINDING | {key: value}).build(SHAPE)
    assert reason in str(caught.value)


def test_spec_from_nested_tables() -> None:
    spec = spec_from_table(
        {
            "experts": 8,
            "inputs": ["hidden", "input_ids"],
            "linear": {"kind": "linear", "soft_cap": 30},
            "score": {"function": "sigmoid"},
            "selection": {"k": 2, "ties": "lowest"},
            "image": {"first_id": 10, "count": 5},
        }
    )
    assert spec.linear.soft_cap == 30.0
    assert spec.inputs == ("hidden", "input_ids")
    assert spec.image is not None
    assert spec.image.count == 5


def test_a_misspelt_name_gets_the_closest_ones() -> None:
    with pytest.raises(CannotBuild) as caught:
        find("transformers:MixtralTopkRouter")
    assert "did you mean transformers:MixtralTopKRouter" in str(caught.value)


def test_all_gates_are_listed_once_by_name() -> None:
    names = [adapter.name for adapter in all_adapters()]
    assert names == sorted(set(names))
    assert {"vllm:dsv4_topk", "vllm:fused_topk_bias", "transformers:MixtralTopKRouter"} <= set(
        names
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="says what is missing without CUDA")
@pytest.mark.parametrize(
    "name", [adapter.name for adapter in all_adapters() if adapter.name.startswith("vllm:")]
)
def test_vllm_says_what_is_missing(name: str) -> None:
    adapter = find(name)
    experts, k = adapter.domain.experts[-1], adapter.domain.top_k[-1]
    with pytest.raises(CannotBuild, match=r"vLLM is not installed|need a CUDA device"):
        adapter.build(GateShape(experts, k, 64, "float32", "cpu"))


def form(form: str, *order: str, experts: int = 3) -> GateSpec:
    return GateSpec(
        experts, ("hidden",), Linear("linear"), Score("softmax"), Selection(2),
        output=Output(form, order),  # type: ignore[arg-type]
    )  # fmt: skip


def test_gathered_output_is_spread_over_the_experts() -> None:
    result = (torch.tensor([[0.7, 0.3], [1.0, 0.0]]), torch.tensor([[2, 0], [1, -1]]))
    read = read_output(form("gathered", "weights", "ids"), 2, result)
    torch.testing.assert_close(read.dense, torch.tensor([[0.3, 0.0, 0.7], [0.0, 1.0, 0.0]]))
    assert read.chosen.tolist() == [[True, False, True], [False, True, False]]


def test_a_dense_output_hides_a_choice_of_weight_0() -> None:
    logits = torch.tensor([[1.0, -500.0, -300.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    dense = torch.tensor([[0.7, 0.0, 0.0], [0.3, 0.7, 0.0], [0.0, 0.0, 0.0]])
    padding = torch.tensor([True, True, False])
    read = read_output(form("dense", "dense", "logits"), 3, (dense, logits), padding)
    assert read.chosen.tolist() == [[True, False, True], [True, True, False], [False] * 3]


def test_ids_out_of_range_are_no_choice() -> None:
    read = from_choices(3, torch.tensor([[0, 3]]), torch.tensor([[0.5, 0.5]]))
    assert read.chosen.tolist() == [[True, False, False]]


def test_one_hot_output_carries_one_weight() -> None:
    result = (torch.tensor([[[0, 1, 0], [0, 0, 0]]]), torch.tensor([[[0.9], [0.8]]]))
    read = read_output(form("one-hot", "one_hot", "weights"), 2, result)
    torch.testing.assert_close(read.dense, torch.tensor([[0.0, 0.9, 0.0], [0.0, 0.0, 0.0]]))


def test_grouped_output_is_sorted_by_expert() -> None:
    # token 1 and 0 at expert 0, token 0 at expert 2
    result = (torch.tensor([1, 0, 0]), torch.tensor([0.4, 0.6, 0.5]), [2, 0, 1])
    read = read_output(form("grouped", "tokens", "weights", "counts"), 2, result)  # type: ignore[arg-type]
    torch.testing.assert_close(read.dense, torch.tensor([[0.6, 0.0, 0.5], [0.4, 0.0, 0.0]]))


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ((torch.zeros(2, 2),), "gives 1 values, not 2"),
        (
            (torch.zeros(2, 2), torch.zeros(2, 1, dtype=torch.long)),
            "ids of shape \\(2, 1\\) for 2 x 2 values",
        ),
    ],
)
def test_output_of_another_form_is_refused(result: tuple[torch.Tensor, ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read_output(form("gathered", "weights", "ids"), 2, result)
