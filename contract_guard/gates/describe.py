"""A `GateSpec` in words."""

import math

from contract_guard.gates.spec import GateSpec


def describe(spec: GateSpec) -> str:
    """One line: how logits come about, scores, correction, groups, selection, weights, output."""
    parts = [
        _logits(spec), _scores(spec), _correction(spec), _groups(spec), _selection(spec),
        _weights(spec), _special(spec), _output(spec),
    ]  # fmt: skip
    return "; ".join(part for part in parts if part)


def _logits(spec: GateSpec) -> str:
    linear = spec.linear
    if linear.kind == "none":
        return "logits given"
    words = [f"RMS norm (eps {linear.norm.epsilon:g})"] if linear.norm is not None else []
    if linear.input_scale:
        words.append("x input scale")
    if linear.input_multiplier != 1.0:
        words.append(f"x {linear.input_multiplier:.4g}")
    if linear.kind == "mlp":
        words = ["down projection + scaled previous state", *words, "two GELU layers"]
    words.append("linear with bias" if linear.bias else "linear")
    if linear.multiplier != 1.0:
        words.append(f"logits x {linear.multiplier:g}")
    if linear.soft_cap is not None:
        words.append(f"soft cap {linear.soft_cap:g}")
    return ", ".join(words) + f" in {_dtype(linear.compute_dtype)}"


def _scores(spec: GateSpec) -> str:
    score = spec.score
    if score.when == "after":
        return f"{score.function} of the chosen"
    words = score.function
    if score.form not in ("plain", "log-space"):
        words += f" as {score.form}"
    if score.jitter:
        words += f" (jitter {score.jitter:g})"
    return f"{words} in {_dtype(score.dtype)}"


def _correction(spec: GateSpec) -> str:
    words = ""
    if spec.correction.on != "none":
        source = "bias" if spec.correction.source == "parameter" else "bias given as an argument"
        use = "and in the weights" if spec.correction.leaks else "for the choice only"
        words = f"+ {source} ({_dtype(spec.correction.dtype)}) on {spec.correction.on} {use}"
    if spec.image is not None:
        last = spec.image.first_id + spec.image.count - 1
        words += f", image bias for ids {spec.image.first_id}..{last}"
    return words.removeprefix(", ")


def _groups(spec: GateSpec) -> str:
    groups = spec.groups
    if groups is None:
        return ""
    score = "best" if groups.score == "max" else f"sum of best {groups.top}"
    fill = "-inf" if groups.fill == -math.inf else f"{groups.fill:g}"
    return f"groups by {score} score, the others at {fill}"


def _selection(spec: GateSpec) -> str:
    selection = spec.selection
    words = {"top-k": "top k", "hash": "experts by token id from a table", "argmax": ""}
    kind = words[selection.kind] or f"{selection.k} x argmax"
    return kind + (", ties to the lower id" if selection.ties == "lowest" else "")


def _weights(spec: GateSpec) -> str:
    rule, scale = spec.renormalization, spec.scale
    words: list[str] = []
    if rule.when != "never" or rule.flag is not None:
        norm = "sum" if rule.p == 1.0 else f"{rule.p:g}-norm"
        if rule.over == "chosen and shared":
            norm += " over chosen and shared"
        if rule.clamp is not None:
            norm = f"max({norm}, {rule.clamp:g})"
        if rule.epsilon:
            norm = f"({norm} + {rule.epsilon:g})"
        if rule.guard:
            norm += ", or 1 where that is 0"
        words.append(f"/ {norm}" + (f" if {rule.flag}" if rule.flag is not None else ""))
    if scale.name is not None:
        outside = " outside the gate" if scale.at == "output" else ""
        words.append(f"x {scale.name}{outside}")
    if scale.learned:
        words.append("x learned scale")
    if scale.per_expert:
        words.append("x scale per expert")
    if scale.inverse_k:
        words.append("/ k")
    return ", ".join(words)


def _special(spec: GateSpec) -> str:
    special = spec.special
    words: list[str] = []
    if special.shared:
        words.append("shared slots for every token")
    if special.zero:
        words.append("last ids compute nothing")
    if special.skip:
        words.append("last column skips (id 0, weight 0)")
    if special.padding != "none":
        words.append(f"padding gets {special.padding}")
    return ", ".join(words)


def _output(spec: GateSpec) -> str:
    output = spec.output
    words = f"{output.form} weights in {_dtype(output.dtype)}"
    if output.capacity is not None:
        words += f", at most {output.capacity} tokens an expert"
    return words + (", on the experts' input" if output.applies_to == "input" else "")


def _dtype(name: str) -> str:
    return {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float64": "fp64"}[name]
