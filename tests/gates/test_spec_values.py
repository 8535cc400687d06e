"""What a specification says of itself, in values and in words."""

import pytest

from contract_guard.gates.describe import describe
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Groups,
    Linear,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
    narrowest,
    unit_roundoff,
)


def spec(k: int = 2, **more: object) -> GateSpec:
    fields: dict[str, object] = {
        "linear": Linear("linear"),
        "score": Score("softmax"),
        "selection": Selection(k),
    }
    return GateSpec(8, ("hidden",), **(fields | more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("dtype", "half_the_spacing"),
    [
        ("bfloat16", 0.00390625),
        ("float16", 0.00048828125),
        ("float32", 5.960464477539063e-08),
        ("float64", 1.1102230246251565e-16),
    ],
)
def test_unit_roundoff_is_half_the_spacing_at_1(dtype: str, half_the_spacing: float) -> None:
    assert unit_roundoff(dtype) == half_the_spacing


def test_narrowest_dtype_has_the_fewest_significand_bits() -> None:
    assert narrowest("float32", "float16", "bfloat16") == "bfloat16"
    assert narrowest("float64", "float32") == "float32"


@pytest.mark.parametrize(
    ("when", "k", "on"),
    [("never", 2, False), ("always", 1, True), ("k > 1", 1, False), ("k > 1", 2, True)],
)
def test_renormalization_is_resolved_by_k(when: str, k: int, on: bool) -> None:
    assert spec(k, renormalization=Renormalization(when)).renormalizes is on  # type: ignore[arg-type]


def test_compute_dtype_is_the_narrowest_of_the_linear() -> None:
    wide_result = Linear("linear", compute_dtype="bfloat16", output_dtype="float32")
    assert spec(linear=wide_result).compute_dtype == "bfloat16"
    assert spec(linear=Linear("linear", output_dtype="float16")).compute_dtype == "float16"
    given = spec(linear=Linear("none"), score=Score("softmax", dtype="float16"))
    assert given.compute_dtype == "float16"


def test_capacity_makes_tokens_depend_on_each_other() -> None:
    assert spec().row_wise
    assert not spec(output=Output(capacity=4)).row_wise


def test_a_rule_in_words() -> None:
    said = describe(
        spec(
            score=Score("sigmoid"),
            correction=Correction("scores", "bfloat16"),
            groups=Groups(4, 2, "top-sum"),
            renormalization=Renormalization("always", flag="norm_topk_prob", epsilon=1e-20),
            scale=Scale(2.5, "routed_scaling_factor"),
        )
    )
    assert said == (
        "linear in fp32; sigmoid in fp32; + bias (bf16) on scores for the choice only; "
        "groups by sum of best 2 score, the others at -inf; top k; "
        "/ (sum + 1e-20) if norm_topk_prob, x routed_scaling_factor; gathered weights in fp32"
    )
