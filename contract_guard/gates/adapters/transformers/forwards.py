"""What each distinct forward of a transformers router promises: read from its source, as data.

One entry a forward, under the digests of `classes.py`; an entry has several where releases of the
library say the same in other words. An unknown digest means that the rule has changed, or is new:
the gate is then unverified until someone has read it and written its entry here.
"""

from collections.abc import Callable
from dataclasses import dataclass

from contract_guard.gates.adapters.transformers import argmax_rules, sigmoid_rules, softmax_rules
from contract_guard.gates.adapters.transformers.building import Built
from contract_guard.gates.spec import GateSpec


@dataclass(frozen=True, slots=True)
class Forward:
    """`roles` says which tensor of the router has which role in the oracle; `batched` routers want
    hidden states [1, T, H]. `spec` reads the numbers of one configuration. `options` are values of
    configuration fields that only this forward takes; `top_k` is K where the code fixes it."""

    spec: Callable[[Built], GateSpec]
    roles: tuple[tuple[str, str], ...] = (("weight", "weight"),)
    batched: bool = False
    options: tuple[tuple[str, tuple[object, ...]], ...] = ()
    top_k: int | None = None


_OWN_BIAS = (("weight", "weight"), ("bias", "e_score_correction_bias"))
_CLASSIFIER = (("weight", "classifier.weight"), ("linear_bias", "classifier.bias"))
_ERNIE_ROLES = (("weight", "weight"), ("bias", "moe_statics.e_score_correction_bias"))
_LONGCAT_ROLES = (("weight", "classifier.weight"), ("bias", "e_score_correction_bias"))
_INKLING_ROLES = (*_OWN_BIAS, ("scale", "global_scale"))
_ZAYA_ROLES = (
    ("weight", "router_mlp.out_proj.weight"),
    ("down_weight", "down_proj.weight"),
    ("down_bias", "down_proj.bias"),
    ("state_scale", "router_states_scale"),
    ("norm_weight", "router_mlp.norm.weight"),
    ("fc1_weight", "router_mlp.fc1.weight"),
    ("fc1_bias", "router_mlp.fc1.bias"),
    ("fc2_weight", "router_mlp.fc2.weight"),
    ("fc2_bias", "router_mlp.fc2.bias"),
    ("bias", "balancing_biases"),
)

FORWARDS: dict[str, Forward] = {
    "b70233da0041": Forward(sigmoid_rules.deepseek_v3, _OWN_BIAS),
    "bf0893b00d29": Forward(
        sigmoid_rules.axk2, _OWN_BIAS, options=(("n_group", (None, 1, 2, 4, 8)),)
    ),
    "fb56b929ffb9": Forward(sigmoid_rules.afmoe, (("weight", "gate.weight"),), batched=True),
    "51ff3b807e04": Forward(softmax_rules.softmax_of_chosen),
    "383565567b63": Forward(sigmoid_rules.beam, _OWN_BIAS),
    "7e97d0535f83": Forward(softmax_rules.cohere2),
    "0e21b8baccb0": Forward(softmax_rules.dbrx, (("weight", "layer.weight"),)),
    "cd261833a764": Forward(softmax_rules.deepseek_v2),
    "e9ad82685944": Forward(
        sigmoid_rules.deepseek_v4_hash, (("weight", "weight"), ("table", "tid2eid"))
    ),
    "f81ab15a5947": Forward(sigmoid_rules.deepseek_v4, _OWN_BIAS),
    "a138a94134bf": Forward(
        softmax_rules.gemma4,
        (("weight", "proj.weight"), ("input_scale", "scale"), ("expert_scale", "per_expert_scale")),
    ),
    "f4f46f11dbf6": Forward(sigmoid_rules.hy_v3),
    "c5b37a15f001": Forward(softmax_rules.ernie, _ERNIE_ROLES),
    "0b6a7b1ab2be": Forward(softmax_rules.qwen2),
    "5a8354e28623": Forward(sigmoid_rules.flint),
    "471f06ea0bac": Forward(softmax_rules.gpt_oss, (("weight", "weight"), ("linear_bias", "bias"))),
    "e098276e9f5e": Forward(softmax_rules.granite),
    "84082d8a1512": Forward(softmax_rules.hunyuan, (("weight", "wg.weight"),)),
    "c5a3e2d06d91": Forward(sigmoid_rules.inkling2, _OWN_BIAS),
    "1e65e91994e7": Forward(sigmoid_rules.inkling, _INKLING_ROLES),
    "a28592ebbcbc": Forward(softmax_rules.jamba),
    "6fdf82e574f6": Forward(softmax_rules.jetmoe, (("weight", "layer.weight"),)),
    "9f64e101f8d3": Forward(sigmoid_rules.kolibri, _OWN_BIAS),
    "74511a41baac": Forward(sigmoid_rules.laguna, _OWN_BIAS),
    "7290cd147ce3": Forward(softmax_rules.lara),
    "2963dab7872d": Forward(sigmoid_rules.lfm2),
    "e67ac26ae726": Forward(sigmoid_rules.llama4),
    "dc1553068f16": Forward(
        softmax_rules.longcat,
        (("weight", "classifier.weight"), ("bias", "e_score_correction_bias")),
    ),
    "f94f037d92ed": Forward(sigmoid_rules.minimax_m2),
    "fcab785a9f17": Forward(sigmoid_rules.minimax_m3, _OWN_BIAS),
    "bfaa8bbbaf25": Forward(softmax_rules.mixtral),
    "1bb3bea1986a": Forward(softmax_rules.mistral4),
    "5d9502c41600": Forward(softmax_rules.mistral_large4),
    "d37a1c9cbf0f": Forward(sigmoid_rules.muse_spark, _OWN_BIAS),
    "fc42e2ce1531": Forward(argmax_rules.nllb, _CLASSIFIER, top_k=2),
    "f5eb3014e7bd": Forward(
        softmax_rules.openai_privacy, (("weight", "weight"), ("linear_bias", "bias"))
    ),
    "a5a5f6ac5024": Forward(argmax_rules.phimoe, top_k=2),
    "af486dec6b00": Forward(softmax_rules.qwen3_5),
    "01de8a087590": Forward(argmax_rules.switch, _CLASSIFIER, batched=True, top_k=1),
    "fa91026ef729": Forward(softmax_rules.zaya, _ZAYA_ROLES, batched=True),
    # the same rules as transformers 5.17 words them
    "4e38246b2aa8": Forward(softmax_rules.ernie, _ERNIE_ROLES),
    "e8f36e7ee14f": Forward(softmax_rules.granite_first_ids),
    "acdd37769d71": Forward(sigmoid_rules.inkling_in_model_dtype, _INKLING_ROLES),
    "ce895b8200d7": Forward(softmax_rules.longcat_without_logits, _LONGCAT_ROLES),
    "f5aafc46fb5d": Forward(
        argmax_rules.switch_probability_as_logits, _CLASSIFIER, batched=True, top_k=1
    ),
}
