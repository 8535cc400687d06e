"""Routers that score by softmax, over all experts or over the chosen ones."""

from typing import cast

from contract_guard.gates.adapters.transformers.building import Built
from contract_guard.gates.adapters.transformers.values import (
    HIDDEN,
    dtype_name,
    flag,
    groups,
    linear,
    loaded,
    own_bias,
    promoted,
    top_k,
)
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Linear,
    Norm,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
    Special,
)


def softmax_of_chosen(built: Built) -> GateSpec:
    """The choice by logits, softmax over the chosen logits, all in the model's dtype."""
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax", "after", built.dtype),
        top_k(built),
        built.dtype,
        built.dtype,
        output=Output(dtype=built.dtype),
    )


def gpt_oss(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, bias=True),
        Score("softmax", "after", built.dtype),
        top_k(built),
        built.dtype,
        built.dtype,
        output=Output(dtype=built.dtype),
    )


def openai_privacy(built: Built) -> GateSpec:
    factor = float(built.field("num_experts"))
    return GateSpec(
        int(factor),
        HIDDEN,
        linear(built, "float32", bias=True),
        Score("softmax", "after"),
        top_k(built),
        scale=Scale(factor, "num_experts", at="output", inverse_k=True),
    )


def granite(built: Built, order: tuple[str, ...] = ("logits", "weights", "ids")) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax", "after"),
        top_k(built),
        built.dtype,
        output=Output(order=order, dtype=built.dtype),
    )


def granite_first_ids(built: Built) -> GateSpec:
    return granite(built, ("ids", "weights", "logits"))


def jetmoe(built: Built) -> GateSpec:
    order = ("sorted", "tokens", "weights", "counts", "logits")
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, weight="layer.weight"),
        Score("softmax", "after"),
        top_k(built),
        built.dtype,
        output=Output("grouped", order, built.dtype),
    )


def cohere2(built: Built) -> GateSpec:
    softmax = built.field("expert_selection_fn") == "softmax"
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax", "after") if softmax else Score("sigmoid", "after", built.dtype),
        top_k(built),
        built.dtype,
        "float32" if softmax else built.dtype,
        renormalization=Renormalization("never") if softmax else flag(built),
        output=Output(dtype=built.dtype),
    )


def dbrx(built: Built) -> GateSpec:
    p = built.owned("moe_normalize_expert_weights")
    rule = Renormalization(
        "never" if p is None else "always",
        flag="moe_normalize_expert_weights",
        p=1.0 if p is None else float(p),
    )
    return GateSpec(
        built.router.get_parameter("layer.weight").shape[0],
        HIDDEN,
        linear(built, weight="layer.weight"),
        Score("softmax", dtype=built.dtype),
        Selection(int(built.owned("top_k"))),
        built.dtype,
        built.dtype,
        renormalization=rule,
        output=Output(order=("weights", "ids"), dtype=built.dtype),
    )


def deepseek_v2(built: Built) -> GateSpec:
    """DeepSeek-V2 (arXiv 2405.04434, section 2.2): device-limited routing as group limits."""
    limited = built.field("topk_method") == "group_limited_greedy"
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("softmax"),
        top_k(built, sorted=False),
        groups=groups(built, "max", 0.0, "masked") if limited else None,
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
    )


def gemma4(built: Built) -> GateSpec:
    return GateSpec(
        built.router.get_parameter("proj.weight").shape[0],
        HIDDEN,
        linear(
            built,
            weight="proj.weight",
            norm=Norm(float(built.field("eps"))),
            input_scale=True,
            input_multiplier=float(built.field("scalar_root_size")),
        ),
        Score("softmax"),
        Selection(int(built.config.top_k_experts)),
        renormalization=Renormalization("always"),
        scale=Scale(per_expert=True),
        output=Output(order=("probabilities", "weights", "ids")),
    )


def ernie(built: Built) -> GateSpec:
    bias = dtype_name(built.router.get_parameter("moe_statics.e_score_correction_bias").dtype)
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("softmax"),
        top_k(built),
        correction=Correction("scores", bias),
        renormalization=Renormalization("always", clamp=float(built.field("norm_min"))),
        output=Output(dtype=built.dtype),
    )


def qwen2(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax"),
        top_k(built),
        renormalization=flag(built),
        output=Output(dtype=built.dtype),
    )


def qwen3_5(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax"),
        top_k(built),
        renormalization=Renormalization("always"),
        output=Output(dtype=built.dtype),
    )


def mixtral(built: Built) -> GateSpec:
    """Mixtral (arXiv 2401.04088, section 2.1): softmax over all, renormalized over the chosen."""
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax"),
        top_k(built),
        renormalization=Renormalization("always"),
    )


def jamba(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax"),
        top_k(built),
        output=Output(dtype=built.dtype),
    )


def lara(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("softmax"),
        top_k(built),
        renormalization=flag(built),
        output=Output(dtype=built.dtype),
    )


def hunyuan(built: Built) -> GateSpec:
    compute = "float32" if loaded(built, "wg.weight") == "float32" else built.dtype
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, compute, weight="wg.weight"),
        Score("softmax"),
        top_k(built),
        renormalization=Renormalization("always"),
        output=Output(dtype=compute),
    )


def longcat(built: Built, order: tuple[str, ...] = ("logits", "weights", "ids")) -> GateSpec:
    """LongCat-Flash (arXiv 2509.01322): experts that compute nothing among the
    others. The classifier's own bias, where `router_bias` makes one, is not used."""
    bias = own_bias(built)
    return GateSpec(
        int(built.field("n_routed_experts")),
        HIDDEN,
        linear(built, "float32", weight="classifier.weight"),
        Score("softmax"),
        top_k(built, sorted=False),
        promoted("float32", bias.dtype),
        correction=bias,
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
        special=Special(zero=int(built.config.zero_expert_num or 0)),
        output=Output(order=order),
    )


def longcat_without_logits(built: Built) -> GateSpec:
    return longcat(built, ("weights", "ids"))


def mistral4(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("softmax", dtype=built.dtype),
        top_k(built, sorted=False),
        built.dtype,
        built.dtype,
        groups=groups(built, "top-sum", 0.0),
        renormalization=flag(built, epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
        output=Output(dtype=built.dtype),
    )


def mistral_large4(built: Built) -> GateSpec:
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, "float32"),
        Score("softmax"),
        top_k(built, sorted=False),
        groups=groups(built, "top-sum", 0.0),
        renormalization=Renormalization("always", epsilon=1e-20),
        scale=Scale(float(built.field("routed_scaling_factor")), "routed_scaling_factor"),
    )


def zaya(built: Built) -> GateSpec:
    norm = built.router.get_submodule("router_mlp.norm")
    bias = dtype_name(built.router.get_buffer("balancing_biases").dtype)
    return GateSpec(
        int(built.field("num_router_classes")),
        ("hidden", "state"),
        Linear(
            "mlp",
            loaded(built, "router_mlp.out_proj.weight"),
            built.dtype,
            "float32",
            built.dtype,
            norm=Norm(float(cast("float", norm.variance_epsilon)), weighted=True),
        ),
        Score("softmax", dtype=built.dtype),
        top_k(built),
        promoted("float32", bias),
        built.dtype,
        correction=Correction("scores", bias),
        special=Special(skip=True),
        output=Output(order=("logits", "weights", "ids", "state"), dtype=built.dtype),
    )
