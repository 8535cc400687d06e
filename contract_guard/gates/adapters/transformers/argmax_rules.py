"""Routers that choose by rounds of argmax."""

import torch

from contract_guard.gates.adapters.transformers.building import UNLIMITED, Built
from contract_guard.gates.adapters.transformers.values import (
    HIDDEN,
    classifier_bias,
    dtype_name,
    linear,
)
from contract_guard.gates.spec import (
    GateSpec,
    Output,
    Renormalization,
    Score,
    Selection,
    Special,
    narrowest,
)


def nllb(built: Built) -> GateSpec:
    """NLLB (arXiv 2207.04672), after GShard (arXiv 2006.16668): top-2 by two rounds
    of argmax. The evaluation capacity at 1 stands for as many as there are tokens: none dropped."""
    compute = dtype_name(built.field("dtype"))
    padded = not built.field("router_ignore_padding_tokens")
    return GateSpec(
        int(built.field("num_experts")),
        ("hidden", "padding") if padded else HIDDEN,
        linear(built, compute, "classifier.weight", bias=classifier_bias(built)),
        Score("softmax", dtype=compute),
        Selection(2, "argmax", ties="lowest"),
        narrowest(compute, built.dtype),
        built.dtype,
        renormalization=Renormalization(
            "always", clamp=torch.finfo(getattr(torch, built.dtype)).eps
        ),
        special=Special(padding="weight 0" if padded else "none"),
        output=Output("dense", ("first", "dense", "logits"), built.dtype),
    )


def switch(built: Built, order: tuple[str, ...] = ("one_hot", "weights", "logits")) -> GateSpec:
    """Switch Transformer (arXiv 2101.03961, section 2.1)."""
    compute = dtype_name(built.field("dtype"))
    capacity = int(built.field("expert_capacity"))
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built, compute, "classifier.weight", bias=classifier_bias(built)),
        Score("softmax", dtype=compute),
        Selection(1, "argmax", ties="lowest"),
        narrowest(compute, built.dtype),
        built.dtype,
        output=Output("one-hot", order, built.dtype, capacity if capacity < UNLIMITED else None),
    )


def switch_probability_as_logits(built: Built) -> GateSpec:
    return switch(built, ("weights", "one_hot", "probabilities"))


def phimoe(built: Built) -> GateSpec:
    """SparseMixer (arXiv 2409.12136): two rounds, each with a softmax over the logits near its
    winner."""
    return GateSpec(
        int(built.field("num_experts")),
        HIDDEN,
        linear(built),
        Score("sparsemixer", dtype=built.dtype, jitter=float(built.field("router_jitter_noise"))),
        Selection(2, "argmax", ties="lowest"),
        built.dtype,
        built.dtype,
        output=Output(dtype=built.dtype),
    )
