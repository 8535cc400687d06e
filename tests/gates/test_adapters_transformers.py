"""Every router of the installed transformers: found, built, run and compared with the oracle."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.gates.adapters import transformers as family
from contract_guard.gates.adapters.transformers.building import fit_groups
from contract_guard.gates.adapters.transformers.classes import (
    RouterClass,
    router_classes,
    routers_in,
    version,
)
from contract_guard.gates.adapters.transformers.forwards import FORWARDS
from contract_guard.gates.model import CannotBuild, Gate, GateAdapter, GateInputs, GateShape
from contract_guard.gates.oracle import oracle
from contract_guard.gates.spec import unit_roundoff

READ_VERSIONS = ("5.17.0", "5.24.0")
ADAPTERS = {adapter.name: adapter for adapter in family.adapters()}
ONE_OF_EACH = {
    family.PREFIX + name for name in {r.digest: r.name for r in router_classes()}.values()
}
TOKENS, HIDDEN, EXPERTS = 200, 64, 16


def shape_of(adapter: GateAdapter, dtype: str, **options: object) -> GateShape:
    k = min(adapter.domain.top_k[-1], 4)
    return GateShape(EXPERTS, k, HIDDEN, dtype, "cpu", options)


def inputs_of(gate: Gate) -> GateInputs:
    generator = torch.Generator().manual_seed(3)
    hidden = torch.randn(TOKENS, gate.shape.hidden, generator=generator)
    hidden = hidden.to(getattr(torch, gate.shape.dtype))
    takes = gate.spec.inputs
    if "table" in gate.parameters:
        table = gate.parameters["table"]
        table.copy_(
            torch.rand(len(table), EXPERTS, generator=generator).argsort(-1)[:, : table.shape[1]]
        )
    inputs = GateInputs(hidden=hidden)
    if "input_ids" in takes:
        inputs = replace(inputs, input_ids=torch.randint(0, 64, (TOKENS,), generator=generator))
    if "padding" in takes:
        inputs = replace(inputs, padding=torch.rand(TOKENS, generator=generator) > 0.2)
    if "state" in takes:
        state = torch.randn(TOKENS, 16, generator=generator).to(hidden.dtype)
        inputs = replace(inputs, state=state)
    return inputs


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", ADAPTERS)
def test_gate_agrees_with_the_oracle(name: str, dtype: str) -> None:
    """Judged with the gate's own logits where it gives them. What is left are near-ties of
    bfloat16 scores, and weights within a few roundings."""
    if version() not in READ_VERSIONS:
        pytest.skip(f"forwards of transformers {version()} were not read")
    gate = ADAPTERS[name].build(shape_of(ADAPTERS[name], dtype))
    inputs = inputs_of(gate)
    output = gate.call(inputs)
    if output.logits is not None:
        inputs = replace(inputs, logits=output.logits)
    truth = oracle(gate.spec, gate.parameters, inputs)
    same = (output.chosen == truth.chosen).all(-1)
    narrow = "bfloat16" in (gate.spec.choice_dtype, gate.spec.score.dtype, gate.spec.compute_dtype)
    assert same.float().mean() >= (0.93 if narrow else 0.995)
    assert str(output.dense.dtype).removeprefix("torch.") == gate.spec.output_dtype
    decided = truth.inner_margin > 1e-2 if gate.spec.score.jitter else torch.ones_like(same)
    roundings = 8 * unit_roundoff(gate.spec.output_dtype)
    if output.logits is None:
        roundings += 16 * unit_roundoff(gate.spec.compute_dtype)
    error = (output.dense.double() - truth.dense).abs()[same & decided]
    assert error.max() <= roundings * truth.dense.abs().max()


@pytest.mark.parametrize("name", sorted(name for name in ONE_OF_EACH if ADAPTERS[name].options))
def test_every_option_changes_gate_and_specification_alike(name: str) -> None:
    if version() not in READ_VERSIONS:
        pytest.skip(f"forwards of transformers {version()} were not read")
    for option, values in ADAPTERS[name].options.items():
        for value in values:
            gate = ADAPTERS[name].build(shape_of(ADAPTERS[name], "float32", **{option: value}))
            inputs = inputs_of(gate)
            output = gate.call(inputs)
            truth = oracle(gate.spec, gate.parameters, inputs)
            same = (output.chosen == truth.chosen).all(-1)
            assert same.float().mean() >= 0.99, (option, value)
            scale = truth.dense.abs().max()
            error = (output.dense.double() - truth.dense).abs()[same].max()
            assert error <= 1e-5 * scale, (option, value)


def test_no_router_is_dropped() -> None:
    if version() != "5.24.0":
        pytest.skip("counted for transformers 5.24.0")
    assert len(ADAPTERS) == 78
    assert len({router.digest for router in router_classes()}) == 40
    assert {router.digest for router in router_classes()} <= set(FORWARDS)


@pytest.mark.parametrize(
    ("name", "role", "dtype"),
    [
        ("DeepseekV3TopkRouter", "weight", "float32"),
        ("DeepseekV3TopkRouter", "bias", "float32"),
        ("MixtralTopKRouter", "weight", "bfloat16"),
        ("DeepseekV4TopKRouter", "weight", "bfloat16"),
        ("DeepseekV4TopKRouter", "bias", "float32"),
        ("MiniMaxM2TopKRouter", "bias", "bfloat16"),
        ("LongcatFlashTopkRouter", "bias", "bfloat16"),
        ("Lfm2MoeTopKRouter", "bias", "float32"),
        ("AfmoeTokenChoiceRouter", "bias", "float32"),
    ],
)
def test_dtypes_are_those_of_a_loaded_checkpoint(name: str, role: str, dtype: str) -> None:
    adapter = ADAPTERS[family.PREFIX + name]
    gate = adapter.build(shape_of(adapter, "bfloat16"))
    assert str(gate.parameters[role].dtype) == f"torch.{dtype}"


def test_parameters_are_those_of_the_module() -> None:
    adapter = ADAPTERS["transformers:DeepseekV3TopkRouter"]
    gate = adapter.build(shape_of(adapter, "float32"))
    inputs = inputs_of(gate)
    gate.parameters["bias"].zero_()
    gate.parameters["bias"][5] = 100.0
    assert gate.call(inputs).chosen[:, 5].all()


def test_a_bias_argument_overrides_the_loaded_one() -> None:
    adapter = ADAPTERS["transformers:MiniMaxM2TopKRouter"]
    gate = adapter.build(shape_of(adapter, "float32"))
    bias = torch.zeros(EXPERTS)
    bias[7] = 100.0
    given = replace(inputs_of(gate), bias=bias)
    assert gate.call(given).chosen[:, 7].all()
    assert oracle(gate.spec, gate.parameters, given).chosen[:, 7].all()


def test_padded_tokens_of_nllb_go_nowhere() -> None:
    adapter = ADAPTERS["transformers:NllbMoeTop2Router"]
    gate = adapter.build(shape_of(adapter, "float32"))
    inputs = inputs_of(gate)
    assert inputs.padding is not None
    chosen = gate.call(inputs).chosen.sum(-1)
    assert torch.equal(chosen, torch.where(inputs.padding, 2, 0))


def test_capacity_of_switch_drops_the_same_tokens() -> None:
    adapter = ADAPTERS["transformers:SwitchTransformersTop1Router"]
    gate = adapter.build(replace(shape_of(adapter, "float32", expert_capacity=3), top_k=1))
    assert gate.spec.output.capacity == 3
    inputs = inputs_of(gate)
    chosen = gate.call(inputs).chosen
    assert torch.equal(chosen, oracle(gate.spec, gate.parameters, inputs).chosen)
    assert int(chosen.sum(0).max()) == 3


def test_an_unknown_forward_is_reported_with_its_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    router = next(r for r in router_classes() if r.name == "MixtralTopKRouter")
    monkeypatch.delitem(FORWARDS, router.digest)
    adapter = next(a for a in family.adapters() if a.name == "transformers:MixtralTopKRouter")
    with pytest.raises(CannotBuild) as caught:
        adapter.build(shape_of(adapter, "float32"))
    assert str(caught.value) == f"no specification for this forward (digest {router.digest})"


def test_sources_are_the_modeling_file() -> None:
    (source,) = ADAPTERS["transformers:MixtralTopKRouter"].sources()
    assert Path(source).name == "modeling_mixtral.py"


ROUTER = '''
class ThingTopKRouter(nn.Module):
    """Chooses experts."""
    def __init__(self, config: ThingConfig):
        self.top_k = config.num_experts_per_tok
        self.weight = nn.Parameter(torch.zeros(config.num_experts, config.hidden_size))

    def forward(self, x):{doc}
        scores = F.linear(x, self.weight).softmax(-1)
        return torch.topk(scores * {factor}, self.top_k)


class ThingGate(nn.Module):
    def forward(self, x):
        return x.sigmoid()


class ThingBlock(nn.Module):
    def __init__(self, config):
        self.gate = ThingTopKRouter(config)


class ThingLayer(nn.Module):
    def __init__(self, config):
        self.mlp = ThingBlock(config)


class ThingModel(ThingPreTrainedModel):
    def __init__(self, config):
        self.layers = nn.ModuleList([ThingLayer(config) for _ in range(2)])
'''


def routers(folder: Path, **parts: str) -> list[RouterClass]:
    path = folder / "modeling_thing.py"
    path.write_text(ROUTER.format(**({"doc": "", "factor": "2"} | parts)), encoding="utf-8")
    return list(routers_in(path, "transformers.models.thing.modeling_thing"))


def test_a_router_is_found_with_its_place_in_the_model(tmp_path: Path) -> None:
    (router,) = routers(tmp_path)  # ThingGate chooses no experts
    assert router.name == "ThingTopKRouter"
    assert router.config == "ThingConfig"
    assert router.fields == ("hidden_size", "num_experts", "num_experts_per_tok")
    assert router.host is not None
    assert (router.host.name, router.host.model) == ("ThingBlock", "ThingModel")
    assert router.host.path == ("layers", "0", "mlp", "gate")
    assert not router.needs_host


def test_digest_is_of_what_acts(tmp_path: Path) -> None:
    (plain,) = routers(tmp_path)
    (commented,) = routers(tmp_path, doc='\n        """Says so."""\n        # and so\n')
    (changed,) = routers(tmp_path, factor="3")
    assert plain.digest == commented.digest
    assert plain.digest != changed.digest


@given(st.integers(1, 256), st.integers(1, 16), st.integers(1, 16))
def test_groups_divide_the_experts_and_hold_k(experts: int, top_k: int, wanted: int) -> None:
    top_k = min(top_k, experts)
    count, kept = fit_groups(experts, top_k, wanted)
    size = experts // count
    assert count * size == experts
    assert count <= wanted
    assert 1 <= kept <= count
    assert kept * size >= top_k
    assert count == 1 or size >= 2
