"""Routers that score each expert by itself: sigmoid, square root of softplus."""

from contract_guard.gates.adapters.transformers.building import Built
from contract_guard.gates.adapters.transformers.values import (
    HIDDEN,
    dtype_name,
    flag,
    given_bias,
    groups,
    linear,
    loaded,
    own_bias,
    promoted,
    score_by_name,
    top_k,
)
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
    Special,
)


def deepseek_v3(built: Built, fill: float = float("-inf"), sorted: bool = False) -> GateSpec:
    """DeepSeek-V3 (arXiv 2412.19437, section 2.1.2), no auxiliary loss."""
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("sigmoid"),
        top_k(built, sorted),
        correction=own_bias(built),
        groups=groups(built, "top-sum", fill) if built.field("num_group") is not None else None,
        renormalization=flag(built, epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
    )


def axk2(built: Built) -> GateSpec:
    return deepseek_v3(built, fill=0.0)


def beam(built: Built) -> GateSpec:
    factor = float(built.config.routed_scaling_factor)
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("sigmoid"),
        top_k(built),
        correction=own_bias(built),
        groups=groups(built, "top-sum", float("-inf")),
        renormalization=flag(built, epsilon=1e-20),
        scale=Scale(factor, "routed_scaling_factor", at="output"),
    )


def afmoe(built: Built) -> GateSpec:
    bias = given_bias(built)
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "bias"),
        linear(built, weight="gate.weight"),
        Score("sigmoid"),
        top_k(built),
        choice_dtype=promoted("float32", bias.dtype),
        correction=bias,
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("route_scale")), "route_scale"),
    )


def deepseek_v4(built: Built) -> GateSpec:
    bias = own_bias(built)
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        score_by_name(built, built.dtype),
        top_k(built, sorted=False),
        promoted(built.dtype, bias.dtype),
        built.dtype,
        correction=bias,
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
        output=Output(dtype=built.dtype),
    )


def deepseek_v4_hash(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "input_ids"),
        linear(built),
        score_by_name(built, built.dtype),
        Selection(int(built.field("top_k")), "hash", sorted=False),
        built.dtype,
        built.dtype,
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
        output=Output(dtype=built.dtype),
    )


def inkling2(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        score_by_name(built, "float32"),
        top_k(built, sorted=False),
        correction=own_bias(built),
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
    )


def inkling(built: Built, compute: str = "float32") -> GateSpec:
    bias = own_bias(built)
    out = promoted(compute, loaded(built, "global_scale"))
    return GateSpec(
        int(built.field("n_total_experts")),
        HIDDEN,
        linear(built, compute),
        Score("sigmoid", dtype=compute, form="log-space"),
        top_k(built, sorted=False),
        promoted(compute, bias.dtype),
        compute,
        correction=bias,
        renormalization=Renormalization("always", over="chosen and shared"),
        scale=Scale(float(built.field("route_scale")), "route_scale", learned=True),
        special=Special(shared=int(built.field("n_shared_experts"))),
        output=Output(
            order=("routed logits", "weights", "ids", "shared"),
            dtype=built.dtype if compute == "float32" else out,
        ),
    )


def inkling_in_model_dtype(built: Built) -> GateSpec:
    return inkling(built, built.dtype)


def hy_v3(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "bias"),
        linear(built, "float32"),
        Score("sigmoid"),
        top_k(built, sorted=False),
        correction=given_bias(built),
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("router_scaling_factor")), "router_scaling_factor"),
    )


def flint(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("sigmoid"),
        top_k(built),
        renormalization=flag(built),
    )


def kolibri(built: Built) -> GateSpec:
    bias = own_bias(built)
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("sigmoid", "after"),
        top_k(built),
        correction=Correction("logits", bias.dtype),
        renormalization=flag(built),
    )


def laguna(built: Built) -> GateSpec:
    cap = float(built.field("router_logit_softcapping"))
    bias = dtype_name(built.router.get_parameter("e_score_correction_bias").dtype)
    factor = float(built.config.moe_routed_scaling_factor)
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, soft_cap=cap if cap > 0 else None),
        Score("sigmoid"),
        top_k(built),
        correction=Correction("scores", bias),
        renormalization=Renormalization("always"),
        scale=Scale(factor, "moe_routed_scaling_factor", at="output"),
        output=Output(dtype=built.dtype),
    )


def lfm2(built: Built) -> GateSpec:
    biased = bool(built.field("use_expert_bias"))
    bias = given_bias(built) if biased else Correction()
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "bias") if biased else HIDDEN,
        linear(built),
        Score("sigmoid", dtype=built.dtype),
        top_k(built),
        promoted(built.dtype, bias.dtype) if biased else built.dtype,
        built.dtype,
        correction=bias,
        renormalization=flag(built, epsilon=1e-6),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
        output=Output(dtype=built.dtype),
    )


def llama4(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("sigmoid", "after"),
        top_k(built),
        built.dtype,
        output=Output("dense", ("dense", "logits"), built.dtype, applies_to="input"),
    )


def minimax_m2(built: Built) -> GateSpec:
    weight, bias = loaded(built, "weight"), given_bias(built)
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "bias"),
        linear(built, weight),
        Score("sigmoid"),
        top_k(built, sorted=False),
        promoted("float32", bias.dtype),
        correction=bias,
        renormalization=Renormalization("always"),
    )


def minimax_m3(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, loaded(built, "weight")),
        Score("sigmoid"),
        top_k(built, sorted=False),
        correction=own_bias(built),
        renormalization=Renormalization("always"),
    )


def muse_spark(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32", multiplier=float(built.field("output_multiplier"))),
        Score("sigmoid"),
        top_k(built, sorted=False),
        correction=own_bias(built),
        renormalization=Renormalization("always", epsilon=float(built.field("norm_topk_prob_eps"))),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
    )
