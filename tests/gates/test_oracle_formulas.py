"""The oracle against routing written out for one token at a time, and against laws."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional

from contract_guard.gates.model import GateInputs
from contract_guard.gates.oracle import oracle
from contract_guard.gates.router_mlp import router_mlp
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Groups,
    ImageBias,
    Linear,
    Norm,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
    Special,
)


def softmax(row: list[float]) -> list[float]:
    total = sum(math.exp(x - max(row)) for x in row)
    return [math.exp(x - max(row)) / total for x in row]


SCORES = {
    "softmax": softmax,
    "sigmoid": lambda row: [1 / (1 + math.exp(-x)) for x in row],
    "sqrt-softplus": lambda row: [math.sqrt(math.log1p(math.exp(x))) for x in row],
}


def by_hand(spec: GateSpec, logits: list[float], bias: list[float]) -> list[float]:
    """Dense weights of one token: sorting and sums, no tensor."""
    scores = SCORES[spec.score.function](logits)
    choice = [s + b for s, b in zip(scores, bias, strict=True)]
    weighed = list(scores)
    if spec.groups is not None:
        size = len(choice) // spec.groups.count
        starts = range(0, len(choice), size)
        terms = 1 if spec.groups.score == "max" else spec.groups.top
        value = {g: sum(sorted(choice[g : g + size])[-terms:]) for g in starts}
        kept = sorted(starts, key=lambda g: -value[g])[: spec.groups.kept]
        for expert in range(len(choice)):
            if expert - expert % size not in kept:
                choice[expert] = spec.groups.fill
                if spec.groups.weights == "masked":
                    weighed[expert] = spec.groups.fill
    chosen = sorted(range(len(choice)), key=lambda e: (-choice[e], e))[: spec.top_k]
    rule = spec.renormalization
    norm = sum(abs(weighed[e]) ** rule.p for e in chosen) ** (1 / rule.p)
    if rule.clamp is not None:
        norm = max(norm, rule.clamp)
    if rule.guard and norm == 0:
        norm = 1.0
    if not spec.renormalizes:
        norm, epsilon = 1.0, 0.0
    else:
        epsilon = rule.epsilon
    return [
        spec.scale.factor * weighed[e] / (norm + epsilon) if e in chosen else 0.0
        for e in range(len(choice))
    ]


@st.composite
def routings(draw: st.DrawFn) -> tuple[GateSpec, torch.Tensor, torch.Tensor]:
    count = draw(st.sampled_from([1, 2, 4]))
    experts = count * draw(st.integers(2, 6))
    kept = draw(st.integers(1, count))
    k = draw(st.integers(1, kept * (experts // count)))
    groups = None
    if count > 1:
        groups = Groups(
            count,
            kept,
            draw(st.sampled_from(["max", "top-sum"])),
            fill=draw(st.sampled_from([0.0, -math.inf])),
            weights="unmasked",
        )
    spec = GateSpec(
        experts,
        ("logits",),
        Linear("none"),
        Score(draw(st.sampled_from(sorted(SCORES)))),
        Selection(k, ties="lowest"),
        correction=Correction("scores"),
        groups=groups,
        renormalization=Renormalization(
            draw(st.sampled_from(["never", "always", "k > 1"])),
            p=draw(st.sampled_from([1.0, 2.0])),
            epsilon=draw(st.sampled_from([0.0, 1e-20, 0.25])),
            clamp=draw(st.sampled_from([None, 1e-12, 0.5])),
        ),
        scale=Scale(draw(st.sampled_from([1.0, 2.5]))),
    )
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    logits = torch.randn(5, experts, generator=generator, dtype=torch.float64) * 3
    bias = torch.randn(experts, generator=generator, dtype=torch.float64) * 0.2
    return spec, logits, bias


@given(routings())
@settings(max_examples=80, deadline=None)
def test_same_as_routing_by_hand(case: tuple[GateSpec, torch.Tensor, torch.Tensor]) -> None:
    spec, logits, bias = case
    truth = oracle(spec, {"bias": bias}, GateInputs(logits=logits))
    expected = torch.tensor(
        [by_hand(spec, row, bias.tolist()) for row in logits.tolist()], dtype=torch.float64
    )
    torch.testing.assert_close(truth.dense, expected, rtol=1e-12, atol=1e-300)
    assert truth.chosen.sum(-1).tolist() == [spec.top_k] * 5


@given(routings(), st.sampled_from([-3.0, 0.5, 100.0]))
@settings(max_examples=25, deadline=None)
def test_a_constant_on_every_bias_changes_nothing(
    case: tuple[GateSpec, torch.Tensor, torch.Tensor], constant: float
) -> None:
    spec, logits, bias = case
    if spec.groups is not None and spec.groups.fill == 0.0:
        return  # masked experts stay at 0 while the others move
    one = oracle(spec, {"bias": bias}, GateInputs(logits=logits))
    other = oracle(spec, {"bias": bias + constant}, GateInputs(logits=logits))
    assert torch.equal(one.chosen, other.chosen)


@given(routings())
@settings(max_examples=25, deadline=None)
def test_each_token_stands_alone(case: tuple[GateSpec, torch.Tensor, torch.Tensor]) -> None:
    spec, logits, bias = case
    whole = oracle(spec, {"bias": bias}, GateInputs(logits=logits))
    for row in range(len(logits)):
        alone = oracle(spec, {"bias": bias}, GateInputs(logits=logits[row : row + 1]))
        torch.testing.assert_close(alone.dense[0], whole.dense[row], rtol=1e-14, atol=0.0)


def plain(experts: int, k: int, **more: object) -> GateSpec:
    fields = {"score": Score("softmax"), "selection": Selection(k)} | more
    return GateSpec(experts, ("hidden",), Linear("linear"), **fields)  # type: ignore[arg-type]


def test_linear_is_exact_in_loaded_values() -> None:
    weight = torch.tensor([[1.0, 2.0], [0.1, -1.0]]).bfloat16()
    hidden = torch.tensor([[0.3, 0.7]]).bfloat16()
    truth = oracle(plain(2, 1), {"weight": weight}, GateInputs(hidden=hidden))
    a, b = hidden.double()[0].tolist()
    tenth = float(weight[1, 0])
    assert truth.logits.tolist() == [[a + 2 * b, tenth * a - b]]
    assert truth.magnitude.tolist() == [[a + 2 * b, tenth * a + b]]


def test_norm_scales_and_soft_cap_come_before_the_scores() -> None:
    linear = Linear(
        "linear",
        norm=Norm(1e-6),
        input_scale=True,
        input_multiplier=0.5,
        multiplier=3.0,
        soft_cap=2.0,
        bias=True,
    )
    spec = GateSpec(2, ("hidden",), linear, Score("sigmoid"), Selection(1))
    parameters = {
        "weight": torch.tensor([[1.0, 0.0], [0.0, 1.0]]),
        "linear_bias": torch.tensor([0.25, -0.25]),
        "input_scale": torch.tensor([2.0, 4.0]),
    }
    truth = oracle(spec, parameters, GateInputs(hidden=torch.tensor([[3.0, 4.0]])))
    rms = math.sqrt(12.5 + 1e-6)
    raw = [3 / rms * 2 * 0.5 + 0.25, 4 / rms * 4 * 0.5 - 0.25]
    expected = [2 * math.tanh(3 * value / 2) for value in raw]
    torch.testing.assert_close(truth.logits, torch.tensor([expected], dtype=torch.float64))


SIGMOID_1 = 1 / (1 + math.exp(-1))


@pytest.mark.parametrize(
    ("nan", "chosen", "weight"),
    [("greatest", [1, 0], math.nan), ("least", [0, 2], SIGMOID_1), ("zero", [0, 2], SIGMOID_1)],
)
def test_nan_rules(nan: str, chosen: list[int], weight: float) -> None:
    spec = GateSpec(
        3,
        ("logits",),
        Linear("none"),
        Score("sigmoid"),
        Selection(2, nan=nan),  # type: ignore[arg-type]
    )
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[1.0, math.nan, -1.0]])))
    assert truth.chosen[0].nonzero().flatten().tolist() == sorted(chosen)
    assert truth.dense[0, chosen[0]].item() == pytest.approx(weight, nan_ok=True)


def test_ties_go_to_the_lower_id() -> None:
    spec = GateSpec(4, ("logits",), Linear("none"), Score("sigmoid"), Selection(2, ties="lowest"))
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[0.0, 1.0, 1.0, 1.0]])))
    assert truth.chosen.tolist() == [[False, True, True, False]]


def test_weights_from_masked_scores() -> None:
    """A masked expert that is chosen all the same weighs its fill."""
    logits = torch.tensor([[0.0, -1.0, 5.0, -3.0]])
    for weights, expected in (("masked", 0.0), ("unmasked", torch.tensor(0.0).sigmoid().item())):
        groups = Groups(2, 1, "max", fill=0.0, weights=weights)  # type: ignore[arg-type]
        spec = GateSpec(
            4, ("logits",), Linear("none"), Score("sigmoid"),
            Selection(3, ties="lowest"), groups=groups,
        )  # fmt: skip
        truth = oracle(spec, {}, GateInputs(logits=logits))
        assert truth.chosen.tolist() == [[True, False, True, True]]
        assert truth.dense[0, 0].item() == pytest.approx(expected)


def test_group_margin_is_per_score_in_the_sum() -> None:
    spec = GateSpec(
        4, ("logits",), Linear("none"), Score("identity"), Selection(1),
        groups=Groups(2, 1, "top-sum"),
    )  # fmt: skip
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[3.0, 1.0, 2.0, 1.5]])))
    assert truth.inner_margin.tolist() == [0.25]
    assert truth.choice.tolist() == [[3.0, 1.0, -math.inf, -math.inf]]


def test_any_of_groups_that_are_nan_may_be_kept() -> None:
    groups = Groups(2, 1, "max", fill=0.0, weights="masked")
    spec = GateSpec(4, ("logits",), Linear("none"), Score("softmax"), Selection(1), groups=groups)
    nan_row = GateInputs(logits=torch.tensor([[math.inf, math.inf, 0.0, 0.0]]))
    for expert in range(4):
        truth = oracle(spec, {}, nan_row, torch.tensor([[expert]]))
        assert truth.dense[0, expert].isnan()
        assert truth.inner_margin.isnan().all()


def test_hash_table_chooses_and_scores_weigh() -> None:
    spec = GateSpec(
        3, ("logits", "input_ids"), Linear("none"), Score("sigmoid"), Selection(2, "hash"),
        renormalization=Renormalization("always"),
    )  # fmt: skip
    table = torch.tensor([[0, 1], [2, 0]])
    logits = torch.zeros(2, 3)
    truth = oracle(
        spec, {"table": table}, GateInputs(logits=logits, input_ids=torch.tensor([1, 0]))
    )
    assert truth.dense.tolist() == [[0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    assert truth.fixed.tolist() == [True, True]


@pytest.mark.parametrize(("adds", "chosen"), [(False, 1), (True, 0)])
def test_image_bias_by_token_id(adds: bool, chosen: int) -> None:
    spec = GateSpec(
        2, ("logits", "input_ids"), Linear("none"), Score("sigmoid"), Selection(1),
        correction=Correction("scores"), image=ImageBias(10, 2, adds),
    )  # fmt: skip
    parameters = {"bias": torch.tensor([0.4, 0.0]), "image_bias": torch.tensor([0.0, 0.3])}
    ids = torch.tensor([9, 10, 11, 12])
    truth = oracle(spec, parameters, GateInputs(logits=torch.zeros(4, 2), input_ids=ids))
    assert truth.chosen.long().argmax(-1).tolist() == [0, chosen, chosen, 0]


def test_image_tokens_are_not_in_the_table() -> None:
    spec = GateSpec(
        3, ("logits", "input_ids"), Linear("none"), Score("sigmoid"), Selection(1, "hash"),
        image=ImageBias(1, 1),
    )  # fmt: skip
    parameters = {"table": torch.tensor([[0], [0]]), "image_bias": torch.tensor([0.0, 0.0, 1.0])}
    truth = oracle(
        spec, parameters, GateInputs(logits=torch.zeros(2, 3), input_ids=torch.tensor([0, 1]))
    )
    assert truth.chosen.tolist() == [[True, False, False], [False, False, True]]
    assert truth.fixed.tolist() == [True, False]


def test_shared_slots_count_in_the_norm() -> None:
    spec = GateSpec(
        4, ("logits",), Linear("none"), Score("sigmoid", form="log-space"), Selection(1),
        renormalization=Renormalization("always", over="chosen and shared"),
        scale=Scale(2.0, learned=True), special=Special(shared=1),
    )  # fmt: skip
    logits = torch.tensor([[0.0, 1.0, -1.0, 0.5], [-800.0, -900.0, -1000.0, -800.0]])
    truth = oracle(spec, {"scale": torch.tensor([3.0])}, GateInputs(logits=logits))
    a, b = 1 / (1 + math.exp(-1)), 1 / (1 + math.exp(-0.5))
    torch.testing.assert_close(
        truth.dense,
        torch.tensor([[0, 6 * a / (a + b), 0, 6 * b / (a + b)], [3, 0, 0, 3]], dtype=torch.float64),
    )
    assert truth.choice[:, -1].tolist() == [-math.inf, -math.inf]
    assert truth.chosen.tolist() == [[False, True, False, True], [True, False, False, True]]


def test_the_skip_column_is_chosen_with_weight_0() -> None:
    spec = GateSpec(
        3, ("logits",), Linear("none"), Score("softmax"), Selection(1), special=Special(skip=True)
    )
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[0.0, 1.0, 2.0]])))
    assert truth.chosen.tolist() == [[False, False, True]]
    assert truth.dense.tolist() == [[0.0, 0.0, 0.0]]


def test_padded_tokens_go_nowhere() -> None:
    spec = GateSpec(
        2, ("logits", "padding"), Linear("none"), Score("softmax"), Selection(1),
        special=Special(padding="-1, weight 0"),
    )  # fmt: skip
    padding = torch.tensor([True, False])
    truth = oracle(spec, {}, GateInputs(logits=torch.zeros(2, 2), padding=padding))
    assert truth.chosen.sum(-1).tolist() == [1, 0]
    assert truth.dense[1].tolist() == [0.0, 0.0]
    assert truth.fixed.tolist() == [False, True]


def test_capacity_drops_later_tokens() -> None:
    spec = GateSpec(
        2, ("logits",), Linear("none"), Score("softmax"), Selection(1, "argmax"),
        output=Output("one-hot", capacity=2),
    )  # fmt: skip
    logits = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    truth = oracle(spec, {}, GateInputs(logits=logits))
    assert truth.chosen.tolist() == [[True, False], [True, False], [False, True], [False, False]]
    assert not spec.row_wise


def test_sparsemixer_weighs_among_logits_near_the_winner() -> None:
    spec = GateSpec(
        4, ("logits",), Linear("none"), Score("sparsemixer", jitter=0.1), Selection(2, "argmax")
    )
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[2.0, 1.9, 1.0, 1.8]])))
    # within 20% of 2.0: all but 1.0; then within 20% of 1.9: 1.8
    first = 1 / (1 + math.exp(-0.1) + math.exp(-0.2))
    second = 1 / (1 + math.exp(-0.1))
    torch.testing.assert_close(
        truth.dense, torch.tensor([[first, second, 0, 0]], dtype=torch.float64), rtol=1e-6, atol=0
    )
    assert truth.inner_margin.item() == pytest.approx(0.2, rel=1e-5)  # 1.8 from 2.0 - 0.4


def test_scores_after_the_choice() -> None:
    logits = torch.tensor([[1.0, 2.0, 3.0]])
    chosen = [0.0, math.exp(-1) / (1 + math.exp(-1)), 1 / (1 + math.exp(-1))]
    spec = GateSpec(
        3, ("logits",), Linear("none"), Score("softmax", "after"), Selection(2),
        scale=Scale(inverse_k=True, per_expert=True),
    )  # fmt: skip
    truth = oracle(spec, {"expert_scale": torch.tensor([9.0, 2.0, 4.0])}, GateInputs(logits=logits))
    expected = torch.tensor([[0.0, chosen[1], chosen[2] * 2]], dtype=torch.float64)
    torch.testing.assert_close(truth.dense, expected)


def test_a_bias_on_logits_moves_the_choice_only() -> None:
    spec = GateSpec(
        2, ("logits", "bias"), Linear("none"), Score("sigmoid", "after"), Selection(1),
        correction=Correction("logits", source="argument"),
    )  # fmt: skip
    inputs = GateInputs(logits=torch.tensor([[0.0, 1.0]]), bias=torch.tensor([2.0, 0.0]))
    truth = oracle(spec, {}, inputs)
    assert truth.dense.tolist() == [[0.5, 0.0]]


def test_a_leaking_bias_is_in_the_weights() -> None:
    spec = GateSpec(
        2, ("logits",), Linear("none"), Score("sigmoid"), Selection(1),
        correction=Correction("scores", leaks=True),
    )  # fmt: skip
    truth = oracle(spec, {"bias": torch.tensor([0.25, 0.0])}, GateInputs(logits=torch.zeros(1, 2)))
    assert truth.dense.tolist() == [[0.75, 0.0]]


def test_given_choices_are_weighed() -> None:
    spec = GateSpec(
        3, ("logits",), Linear("none"), Score("softmax"), Selection(2),
        renormalization=Renormalization("always"),
    )  # fmt: skip
    ids = torch.tensor([[0, 2]])
    truth = oracle(spec, {}, GateInputs(logits=torch.zeros(1, 3)), ids)
    assert truth.dense.tolist() == [[0.5, 0.0, 0.5]]


def test_a_guarded_norm_of_0_divides_by_1() -> None:
    spec = GateSpec(
        2, ("logits",), Linear("none"), Score("identity"), Selection(1),
        renormalization=Renormalization("always", guard=True),
    )  # fmt: skip
    truth = oracle(spec, {}, GateInputs(logits=torch.tensor([[0.0, -1.0]])))
    assert truth.dense.tolist() == [[0.0, 0.0]]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ValueError, match="takes hidden"):
        oracle(plain(2, 1), {"weight": torch.zeros(2, 2)}, GateInputs())
    with pytest.raises(ValueError, match="takes bias"):
        oracle(
            plain(2, 1, correction=Correction("scores", source="argument")),
            {"weight": torch.zeros(2, 2)},
            GateInputs(hidden=torch.zeros(1, 2)),
        )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_router_network_stays_within_its_bound(dtype: str) -> None:
    generator = torch.Generator().manual_seed(5)
    kind = getattr(torch, dtype)

    def tensor(*size: int, spread: float) -> torch.Tensor:
        return (torch.randn(size, generator=generator) * spread).to(kind)

    parameters = {
        "down_weight": tensor(16, 64, spread=0.125),
        "down_bias": tensor(16, spread=0.1),
        "state_scale": tensor(16, spread=1.0),
        "norm_weight": tensor(16, spread=1.0),
        **{f"{name}_weight": tensor(16, 16, spread=0.25) for name in ("fc1", "fc2")},
        **{f"{name}_bias": tensor(16, spread=0.1) for name in ("fc1", "fc2")},
    }
    hidden, state = tensor(500, 64, spread=1.0), tensor(500, 16, spread=1.0)
    linear = Linear("mlp", compute_dtype=dtype, norm=Norm(1e-5, weighted=True))
    value, bound = router_mlp(linear, parameters, hidden.double(), state, 6.0)

    result = functional.linear(hidden, parameters["down_weight"], parameters["down_bias"])
    result = result + state * parameters["state_scale"]
    wide = result.float()
    normed = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)
    result = parameters["norm_weight"] * normed.to(kind)
    for name in ("fc1", "fc2"):
        result = functional.linear(result, parameters[f"{name}_weight"], parameters[f"{name}_bias"])
        result = functional.gelu(result)
    error = (result.double() - value).abs()
    assert (error <= bound).all()
    assert bound.median() < 3000 * error.median()


def test_empty_batch() -> None:
    truth = oracle(plain(4, 2), {"weight": torch.ones(4, 8)}, GateInputs(hidden=torch.zeros(0, 8)))
    assert truth.dense.shape == (0, 4)
