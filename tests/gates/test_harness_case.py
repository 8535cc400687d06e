"""Cases, their tokens, and the tensors that they stand for."""

import dataclasses

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from contract_guard.gates import boundaries, strategies, tensors
from contract_guard.gates.case import BadToken, Case, decode, describe, encode
from contract_guard.gates.model import Domain, GateAdapter, GateShape

SHAPE = GateShape(16, 2, 64, "float32", "cpu")


def refuse(shape):
    raise AssertionError


def adapter_of(**domain) -> GateAdapter:
    return GateAdapter("x", Domain(**domain), refuse, options={"flag": (False, True)})


WIDE = adapter_of(
    experts=(8, 16, 60), top_k=(1, 2, 8), hidden=(64, 512), dtypes=("float32", "bfloat16")
)
SHAPES = strategies.shapes(WIDE, "cpu", 6)
CASES = strategies.cases(SHAPES, 1 << 16, 512, with_ids=True)


@given(CASES)
def test_a_token_gives_back_its_case(case):
    assert decode(encode(case)) == case


@given(st.text(max_size=60))
def test_what_is_no_token_is_refused(text):
    with pytest.raises(BadToken):
        decode(text)


@pytest.mark.parametrize(
    "changes", [{"kinds": ("new",)}, {"weights": "new"}, {"bias": "new"}, {"keep": (9,)}]
)
def test_a_token_of_another_version_is_refused(changes):
    with pytest.raises(BadToken, match=r"another version|does not have"):
        decode(encode(dataclasses.replace(Case(SHAPE, 4, 0), **changes)))


def test_shapes_show_every_value_of_the_domain():
    assert {(s.experts, s.top_k) for s in SHAPES} >= {(8, 1), (8, 8)}
    assert {s.experts for s in SHAPES} == {8, 16, 60}
    assert {s.hidden for s in SHAPES} == {64, 512}
    assert {s.dtype for s in SHAPES} == {"float32", "bfloat16"}
    assert {s.options["flag"] for s in SHAPES} == {False, True}
    assert SHAPES[0].experts == 8
    assert len(SHAPES) <= 6


def test_an_empty_domain_has_no_shapes():
    nothing = Domain((8,), (16,), (64,), ("float32",))
    assert strategies.shapes(GateAdapter("x", nothing, refuse), "cpu", 6) == ()


def test_only_what_is_special_is_described():
    plain = describe(Case(SHAPE, 4, 7))
    assert plain == {"experts": 16, "top_k": 2, "hidden": 64, "dtype": "float32", "tokens": 4}
    cut = describe(Case(SHAPE, 4, 7, ("nan", "axis"), bias="one", keep=(2,)))
    assert cut == plain | {"tokens": 1, "kinds": ["nan"], "bias": "one"}


def gate_for(planted, shape=SHAPE):
    return planted.adapter().build(shape)


@settings(deadline=None, max_examples=30)
@given(case=CASES)
def test_a_case_means_the_same_tensors_every_time(planted, case):
    shape = dataclasses.replace(SHAPE, dtype=case.shape.dtype)
    case = dataclasses.replace(case, shape=shape)
    gate = gate_for(planted, shape)
    first = tensors.inputs(case, gate, (300,))
    tensors.load(case, gate)
    weight = gate.parameters["weight"].clone()
    tensors.load(case, gate)
    second = tensors.inputs(case, gate, (300,))
    assert first.hidden.dtype == getattr(torch, shape.dtype)
    assert torch.equal(first.hidden.nan_to_num(), second.hidden.nan_to_num())
    assert torch.equal(first.input_ids, second.input_ids)
    assert torch.equal(weight, gate.parameters["weight"])


def test_kept_rows_are_those_of_the_whole_batch(planted):
    gate = gate_for(planted)
    whole = Case(SHAPE, 32, 5, ("normal", "large"), ids="boundary")
    cut = dataclasses.replace(whole, keep=(3, 17))
    batch, rows = tensors.inputs(whole, gate, (300,)), tensors.inputs(cut, gate, (300,))
    assert torch.equal(rows.hidden, batch.hidden[[3, 17]])
    assert torch.equal(rows.input_ids, batch.input_ids[[3, 17]])


def rows_of(planted, kind, dtype="float32"):
    shape = dataclasses.replace(SHAPE, dtype=dtype)
    return tensors.inputs(Case(shape, 64, 1, (kind,)), gate_for(planted, shape)).hidden


def test_row_kinds_are_what_they_say(planted):
    assert rows_of(planted, "nan").isnan().sum(1).eq(1).all()
    assert rows_of(planted, "inf").isinf().sum(1).eq(1).all()
    assert rows_of(planted, "axis").ne(0).sum(1).eq(1).all()
    assert not rows_of(planted, "zero").any()
    assert (rows_of(planted, "negative") <= 0).all()
    tiny = rows_of(planted, "subnormal").abs()
    assert tiny.max() < torch.finfo(torch.float32).tiny
    assert tiny.max() > 0
    wide = rows_of(planted, "wide").abs().amax(1).log2()
    assert wide.max() - wide.min() > 60
    assert rows_of(planted, "large").isfinite().all()
    assert rows_of(planted, "wide", "float16").isfinite().all()


def test_twins_have_equal_rows_of_weights_and_close_ones_nearly(planted):
    gate = gate_for(planted)
    tensors.load(Case(SHAPE, 1, 0, weights="twins"), gate)
    weight = gate.parameters["weight"]
    assert torch.equal(weight[0::2], weight[1::2])
    tensors.load(Case(SHAPE, 1, 0, weights="close"), gate)
    gap = (weight[0::2] - weight[1::2]).abs() / weight[0::2].abs()
    assert gap.max() > 0
    assert gap.max() < 1e-6


def test_a_sweep_takes_each_id_in_turn(planted):
    case = Case(SHAPE, 5, 0, ids="sweep", first_id=131_070)
    assert tensors.inputs(case, gate_for(planted)).input_ids.tolist() == [131070, 131071, 0, 1, 2]


def test_ids_at_boundaries_stay_within_the_vocabulary(planted):
    case = Case(SHAPE, 500, 0, ids="boundary")
    ids = tensors.inputs(case, gate_for(planted), (0, 300)).input_ids
    assert set(ids.tolist()) == {0, 1, 2, 298, 299, 300, 301, 302}


def test_corners_sweep_each_range_of_ids_once():
    ranges = ((0, 1000), (9000, 128))
    swept = [
        (case.first_id, case.tokens)
        for case in strategies.corners(SHAPES, 1 << 16, 512, ranges, 0)
        if case.ids == "sweep"
    ]
    assert swept == [(0, 512), (512, 512), (9000, 128)]


def test_a_number_that_is_no_token_id_does_not_make_a_vocabulary():
    texts = ["SEED = 2139062143\nPAD = 128_815\n", "def f(x):\n    return x < 1 << 40, x > 1_000\n"]
    assert boundaries.of_sources(texts) == {128_815, 1_000}


@pytest.mark.parametrize("vocabulary", [1000, 1 << 17, 1 << 18, 1 << 19, 1 << 30])
def test_a_sweep_costs_no_more_than_a_large_vocabulary(vocabulary):
    edges = (5, 300_000, vocabulary - 1)
    ranges = boundaries.swept(tuple(e for e in edges if e < vocabulary), vocabulary)
    assert sum(count for _, count in ranges) <= (1 << 18) + 4 * boundaries.AROUND
    for edge in (e for e in edges if e < vocabulary):
        assert any(first <= edge < first + count for first, count in ranges)
