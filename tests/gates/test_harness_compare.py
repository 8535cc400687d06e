"""The comparison: what the error bound explains, and what it does not."""

import dataclasses

import pytest
import torch

from contract_guard.gates import tensors
from contract_guard.gates.adapters.reading import read_output
from contract_guard.gates.bounds import bounds, logit_error
from contract_guard.gates.case import ROW_KINDS, Case
from contract_guard.gates.compare import GateFault, compare
from contract_guard.gates.model import Gate, GateInputs, GateOutput, GateShape
from contract_guard.gates.oracle import oracle
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Linear,
    Output,
    Renormalization,
    Score,
    Selection,
    Special,
)

SHAPE = GateShape(4, 2, 8, "float32", "cpu")


def logits_gate(spec: GateSpec, output: GateOutput) -> Gate:
    return Gate("x", SHAPE, spec, {}, lambda _: output)


def softmax_spec(**changes) -> GateSpec:
    spec = GateSpec(4, ("logits",), Linear("none"), Score("softmax"), Selection(2))
    return dataclasses.replace(spec, **changes)


def dense(choices: list[dict[int, float]]) -> GateOutput:
    weights = torch.zeros(len(choices), 4)
    chosen = torch.zeros(len(choices), 4, dtype=torch.bool)
    for row, choice in enumerate(choices):
        for expert, weight in choice.items():
            weights[row, expert] = weight
            chosen[row, expert] = True
    return GateOutput(weights, chosen)


def judged(logits: list[float], choice: dict[int, float], spec: GateSpec | None = None):
    output = dense([choice])
    inputs = GateInputs(logits=torch.tensor([logits]))
    return compare(logits_gate(spec or softmax_spec(), output), inputs, output)


LOGITS = [2.0, 1.0, 0.0, -1.0]
SHARES = torch.tensor(LOGITS, dtype=torch.float64).softmax(-1).tolist()


def test_the_right_choice_agrees():
    result = judged(LOGITS, {0: SHARES[0], 1: SHARES[1]})
    assert not result.bad.any()
    assert not result.excused.any()


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        ({0: SHARES[0], 2: SHARES[2]}, ("choice",)),
        ({0: SHARES[0]}, ("count",)),
        ({0: SHARES[0], 1: SHARES[1], 2: SHARES[2]}, ("count",)),
        ({0: SHARES[0] * 1.0001, 1: SHARES[1]}, ("weights",)),
        ({0: float("nan"), 1: SHARES[1]}, ("finite",)),
        ({0: float("inf"), 1: SHARES[1]}, ("finite",)),
    ],
)
def test_what_is_wrong_is_told(choice, parts):
    assert judged(LOGITS, choice).parts(0) == parts


def test_weights_are_judged_on_the_gates_own_choice():
    tied = [2.0, 1.0, 1.0, -1.0]
    shares = torch.tensor(tied, dtype=torch.float64).softmax(-1).tolist()
    assert not judged(tied, {0: shares[0], 2: shares[2]}).bad.any()
    assert judged(tied, {0: shares[0], 2: shares[1] * 1.01}).parts(0) == ("weights",)


def test_a_near_tie_is_excused_and_a_wider_gap_is_not():
    near = [2.0, 1.0 + 1e-7, 1.0, -1.0]
    shares = torch.tensor(near).double().softmax(-1).tolist()
    result = judged(near, {0: shares[0], 2: shares[2]})
    assert not result.bad.any()
    assert result.excused.all()
    apart = [2.0, 1.0 + 1e-4, 1.0, -1.0]
    assert judged(apart, {0: shares[0], 2: shares[2]}).parts(0) == ("choice",)


def test_ties_go_to_the_lowest_id_where_the_spec_says_so():
    tied = [2.0, 1.0, 1.0, -1.0]
    share = torch.tensor(tied).double().softmax(-1).tolist()
    rule = softmax_spec(selection=Selection(2, ties="lowest"))
    assert not judged(tied, {0: share[0], 1: share[1]}, rule).bad.any()
    assert judged(tied, {0: share[0], 2: share[2]}, rule).parts(0) == ("ties",)


def test_nan_is_greatest_or_least_as_the_spec_says():
    logits = [2.0, float("nan"), 0.0, -1.0]
    for rule, wanted in (("greatest", {1: float("nan")}), ("least", {0: 0.880797})):
        spec = softmax_spec(score=Score("sigmoid"), selection=Selection(1, nan=rule))
        assert not judged(logits, wanted, spec).bad.any()
        other = {0: 0.880797} if rule == "greatest" else {1: float("nan")}
        assert judged(logits, other, spec).bad.all()


def test_the_order_of_the_ids_is_judged_where_it_is_promised():
    output = dense([{0: SHARES[0], 1: SHARES[1]}])
    inputs = GateInputs(logits=torch.tensor([LOGITS]))
    for ids, bad in (([0, 1], False), ([1, 0], True)):
        told = dataclasses.replace(output, ids=torch.tensor([ids]))
        assert compare(logits_gate(softmax_spec(), told), inputs, told).bad.item() is bad
    unsorted = softmax_spec(selection=Selection(2, sorted=False))
    told = dataclasses.replace(output, ids=torch.tensor([[1, 0]]))
    assert not compare(logits_gate(unsorted, told), inputs, told).bad.any()


def test_a_padded_token_must_get_nothing():
    spec = softmax_spec(inputs=("logits", "padding"), special=Special(padding="weight 0"))
    inputs = GateInputs(logits=torch.tensor([LOGITS]), padding=torch.tensor([False]))
    nothing, something = dense([{}]), dense([{0: 0.5, 1: 0.5}])
    assert not compare(logits_gate(spec, nothing), inputs, nothing).bad.any()
    assert compare(logits_gate(spec, something), inputs, something).bad.all()


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (GateOutput(torch.zeros(1, 3), torch.zeros(1, 4).bool()), r"weights of shape \(1, 3\)"),
        (GateOutput(torch.zeros(2, 4), torch.zeros(2, 4).bool()), r"expected \(1, 4\)"),
        (
            GateOutput(torch.zeros(1, 4, device="meta"), torch.zeros(1, 4).bool()),
            "weights on meta, inputs on cpu",
        ),
        (GateOutput(torch.zeros(1, 4).long(), torch.zeros(1, 4).bool()), "dtype torch.int64"),
    ],
)
def test_what_is_no_routing_is_a_fault_of_the_gate(output, message):
    with pytest.raises(GateFault, match=message):
        compare(logits_gate(softmax_spec(), output), GateInputs(logits=torch.zeros(1, 4)), output)


CROWDED = [[3.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1.0, 0.0]]


@pytest.mark.parametrize(
    ("logits", "kept", "wrong"),
    [
        (CROWDED, [0, 0, 1, None], []),
        (CROWDED, [0, 0, 1, 0], [3]),
        (CROWDED, [0, None, 1, None], [1]),
        (CROWDED, [0, 0, None, None], [2]),
        # Either of the two may have chosen expert 0 first: what follows is not told.
        ([[1.0, 1.0], [2.0, 0.0], [2.0, 0.0]], [0, 0, None], []),
        ([[1.0, 1.0], [2.0, 0.0], [2.0, 0.0]], [1, 0, 0], []),
        ([[1.0, 1.0], [2.0, 0.0], [2.0, 0.0]], [1, None, 0], [1]),
    ],
)
def test_an_expert_takes_as_many_tokens_as_it_has_room_for(logits, kept, wrong):
    scores = torch.tensor(logits).softmax(-1)
    chosen = torch.tensor([[kept_id == e for e in (0, 1)] for kept_id in kept])
    output = GateOutput(torch.where(chosen, scores, 0.0), chosen)
    spec = GateSpec(
        2, ("logits",), Linear("none"), Score("softmax"), Selection(1, "argmax"),
        output=Output("one-hot", capacity=2),
    )  # fmt: skip
    inputs = GateInputs(logits=torch.tensor(logits))
    result = compare(logits_gate(spec, output), inputs, output)
    assert result.bad.nonzero()[:, 0].tolist() == wrong
    assert all(result.parts(row) == ("count",) for row in wrong)


def test_id_0_with_weight_0_may_be_an_expert_or_none():
    """Expert 0 is chosen by its bias, and its softmax is below float32: what a gate that skips
    would hand out too."""
    logits = torch.tensor([[-200.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    spec = GateSpec(
        3, ("logits",), Linear("none"), Score("softmax"), Selection(1),
        correction=Correction("scores"), special=Special(skip=True),
        output=Output(order=("ids", "weights")),
    )  # fmt: skip
    weights = torch.zeros(2, 1)
    output = read_output(spec, 2, (weights.int(), weights), None)
    gate = dataclasses.replace(
        logits_gate(spec, output), parameters={"bias": torch.tensor([8.0, 0.0, 0.0])}
    )
    result = compare(gate, GateInputs(logits=logits), output)
    assert result.bad.tolist() == [False, True]
    assert result.excused.tolist() == [True, False]


def linear_spec(compute="float32", accumulate="float32", out="float32") -> GateSpec:
    return GateSpec(
        32,
        ("hidden",),
        Linear("linear", "float32", compute, accumulate, out),
        Score("softmax"),
        Selection(4),
    )


def linear_case(seed: int, hidden: int = 512) -> tuple[dict, GateInputs]:
    generator = torch.Generator().manual_seed(seed)
    weight = torch.randn(32, hidden, generator=generator) / hidden**0.5
    return {"weight": weight}, GateInputs(hidden=torch.randn(4096, hidden, generator=generator))


@pytest.mark.parametrize("hidden", [64, 512, 2048])
def test_the_bound_of_the_linear_holds_and_tells_dtypes_apart(hidden):
    parameters, inputs = linear_case(1, hidden)
    spec = linear_spec()
    truth = oracle(spec, parameters, inputs)
    error = logit_error(spec, parameters, inputs, truth)
    single = inputs.hidden @ parameters["weight"].T
    assert ((single.double() - truth.logits).abs() < error).all()
    half = (inputs.hidden.bfloat16() @ parameters["weight"].bfloat16().T).double()
    off = (half - truth.logits).abs()
    assert (off > error).any(1).float().mean() > 0.99
    coarse = logit_error(linear_spec("bfloat16", out="bfloat16"), parameters, inputs, truth)
    assert (off < coarse).all()


@pytest.mark.parametrize("function", ["softmax", "sigmoid", "sqrt-softplus"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_bound_of_the_score_holds(function, dtype):
    spec = GateSpec(
        32, ("logits",), Linear("none"), Score(function, dtype=dtype), Selection(4),
        choice_dtype=dtype, weight_dtype=dtype,
    )  # fmt: skip
    generator = torch.Generator().manual_seed(2)
    scale = torch.exp2(torch.rand(4096, 1, generator=generator) * 12 - 4)
    logits = torch.randn(4096, 32, generator=generator) * scale
    truth = oracle(spec, {}, GateInputs(logits=logits))
    given = {
        "softmax": lambda x: x.softmax(-1),
        "sigmoid": lambda x: x.sigmoid(),
        "sqrt-softplus": lambda x: torch.nn.functional.softplus(x).sqrt(),
    }[function](logits.to(getattr(torch, dtype)))
    allowed = bounds(spec, {}, truth, torch.zeros_like(truth.logits), "float32").choice
    assert ((given.double() - truth.scores).abs() <= allowed).all()
    # A bound that allows everything would hold too.
    typical = (allowed / truth.scores.clamp(min=1e-30)).median()
    assert typical < {"float32": 1e-4, "bfloat16": 0.2}[dtype]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("give_logits", [False, True])
def test_the_example_gate_agrees_on_rows_of_every_kind(planted, dtype, give_logits):
    shape = GateShape(64, 6, 128, dtype, "cpu")
    gate = planted.adapter(None, give_logits, (dtype,)).build(shape)
    for weights, bias in (("normal", "normal"), ("twins", "zero"), ("aligned", "steps")):
        case = Case(shape, 1100, 3, ROW_KINDS, weights, 0, bias, "boundary")
        tensors.load(case, gate)
        batch = tensors.inputs(case, gate, (129_252, 129_257))
        result = compare(gate, batch, gate.call(batch))
        assert result.wrong.sum(1).tolist() == [0] * 7


def test_a_leaking_bias_is_weighed():
    spec = softmax_spec(correction=Correction("scores", leaks=True))
    gate = dataclasses.replace(
        logits_gate(spec, dense([{}])), parameters={"bias": torch.tensor([0.0, 0.0, 0.5, 0.0])}
    )
    inputs = GateInputs(logits=torch.tensor([LOGITS]))
    right, wrong = (
        dense([{0: SHARES[0], 2: SHARES[2] + 0.5}]),
        dense([{0: SHARES[0], 2: SHARES[2]}]),
    )
    assert not compare(gate, inputs, right).bad.any()
    assert compare(gate, inputs, wrong).parts(0) == ("weights",)


def test_epsilon_shows_only_where_it_is_large():
    logits = torch.tensor([[-3.0, -4.0, -9.0, -9.0]])
    raw = logits.double().sigmoid()[0]
    for epsilon in (1e-20, 1e-2):
        rule = Renormalization("always", epsilon=epsilon)
        spec = softmax_spec(score=Score("sigmoid"), renormalization=rule)
        total = raw[:2].sum() + 1e-20
        output = dense([{0: float(raw[0] / total), 1: float(raw[1] / total)}])
        result = compare(logits_gate(spec, output), GateInputs(logits=logits), output)
        assert result.bad.item() is (epsilon == 1e-2)
