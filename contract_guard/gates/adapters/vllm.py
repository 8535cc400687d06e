"""The fused gates of an installed vLLM, on CUDA: they take logits and give ids and weights.

Read from vLLM 0.33.0: `fused_topk` and `fused_topk_bias` are compiled kernels with special cases
for the expert counts below, and a general one; `dsv4_topk` is a Triton kernel for 256 or 384
experts and 6 choices, which `fused_topk_bias` also goes to where it can; `grouped_topk` is the
compiled kernel for groups. All compute in float32 and break ties by the lower id.
"""

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, cast

import torch

from contract_guard.gates.adapters.reading import from_choices
from contract_guard.gates.describe import describe
from contract_guard.gates.model import (
    CannotBuild,
    Domain,
    Gate,
    GateAdapter,
    GateInputs,
    GateOutput,
    GateShape,
    one_line,
)
from contract_guard.gates.spec import (
    Correction,
    GateSpec,
    Groups,
    ImageBias,
    Input,
    Linear,
    Output,
    Renormalization,
    Scale,
    Score,
    Selection,
    Special,
)

PREFIX = "vllm:"
_ROUTER = "vllm.model_executor.layers.fused_moe.router."
_SPECIAL_COUNTS = (8, 16, 64, 128, 192, 256, 320, 384, 448, 512, 576)
_OTHER_COUNTS = (60, 72, 100, 160)
_CHOICES = (1, 2, 4, 6, 8)
_IMAGE_FIRST, _IMAGE_COUNT, _VOCABULARY = 129_264, 5, 129_280

_FLAGS = (True, False)
_FACTORS = (1.0, 2.5)


@dataclass(frozen=True, slots=True)
class _Kernel:
    """A function of vLLM: its module, the domain, and how to call it and what it promises."""

    module: str
    function: str
    prepare: Callable[["_Setting"], GateSpec]
    call: Callable[[Callable[..., Any], "_Setting", GateInputs, torch.Tensor], Any]
    domain: Domain
    options: Mapping[str, tuple[object, ...]]
    alignment: int = 1


@dataclass(frozen=True, slots=True)
class _Setting:
    """One configuration, with the tensors that go with it."""

    shape: GateShape
    parameters: dict[str, torch.Tensor] = field(default_factory=dict[str, torch.Tensor])

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.shape.options.get(name, default))

    @property
    def factor(self) -> float:
        return float(cast("float", self.shape.options.get("routed_scaling_factor", 1.0)))

    @property
    def scoring(self) -> str:
        return str(self.shape.options.get("scoring_func", "softmax"))


def adapters() -> list[GateAdapter]:
    """All of them, whether vLLM is there or not: building says what is missing."""
    return [
        GateAdapter(
            name=PREFIX + name,
            domain=kernel.domain,
            build=partial(_build, name),
            options=kernel.options,
            sources=partial(_sources, name),
        )
        for name, kernel in _KERNELS.items()
    ]


def table_rows() -> list[tuple[str, str, str]]:
    """(name, rule in words with the first value of each option, domain in words) of each kernel;
    needs no device."""
    rows: list[tuple[str, str, str]] = []
    for name, kernel in _KERNELS.items():
        domain = kernel.domain
        first = {option: values[0] for option, values in kernel.options.items()}
        shape = GateShape(domain.experts[0], domain.top_k[0], 64, "float32", "cpu", first)
        experts = ", ".join(str(count) for count in domain.experts)
        choices = ", ".join(str(count) for count in domain.top_k)
        words = f"{experts} experts; k = {choices}; {', '.join(domain.dtypes)} logits; "
        if kernel.alignment > 1:
            words += f"at a multiple of {kernel.alignment} bytes; "
        rows.append((name, describe(kernel.prepare(_Setting(shape))), words + ", ".join(first)))
    return rows


def _sources(name: str) -> tuple[str, ...]:
    spec = importlib.util.find_spec("vllm")
    if spec is None or not spec.submodule_search_locations:
        return ()
    parts = f"{_ROUTER}{_KERNELS[name].module}".split(".")[1:]
    return (str(Path(spec.submodule_search_locations[0], *parts).with_suffix(".py")),)


def _build(name: str, shape: GateShape) -> Gate:
    kernel = _KERNELS[name]
    if importlib.util.find_spec("vllm") is None:
        raise CannotBuild("vLLM is not installed")
    if not torch.cuda.is_available():
        raise CannotBuild("the kernels of vLLM need a CUDA device, and there is none")
    if not shape.device.startswith("cuda"):
        raise CannotBuild(f"the kernels of vLLM run on cuda, not on {shape.device}")
    try:
        module = importlib.import_module(_ROUTER + kernel.module)
        importlib.import_module("vllm._custom_ops")
        function = getattr(module, kernel.function)
    except Exception as error:
        raise CannotBuild(one_line(error)) from error
    setting = _Setting(shape)
    spec = kernel.prepare(setting)
    return Gate(
        name=PREFIX + name,
        shape=shape,
        spec=spec,
        parameters=setting.parameters,
        call=partial(_call, kernel, function, setting, spec),
        alignment=kernel.alignment,
    )


def _call(
    kernel: _Kernel,
    function: Callable[..., Any],
    setting: _Setting,
    spec: GateSpec,
    inputs: GateInputs,
) -> GateOutput:
    if inputs.logits is None:
        raise ValueError("the gate takes logits, and the batch has none")
    result = kernel.call(function, setting, inputs, inputs.logits)
    weights, ids = result[0], result[1]
    return from_choices(spec.experts, ids, weights)


def _random(shape: GateShape, *size: int, spread: float = 0.1) -> torch.Tensor:
    generator = torch.Generator(shape.device).manual_seed(0)
    return torch.randn(size, generator=generator, device=shape.device) * spread


def _table(shape: GateShape) -> torch.Tensor:
    generator = torch.Generator(shape.device).manual_seed(0)
    noise = torch.rand(_VOCABULARY, shape.experts, generator=generator, device=shape.device)
    return noise.topk(shape.top_k, dim=-1).indices.contiguous()


def _spec(
    setting: _Setting,
    score: Score,
    nan: Literal["greatest", "least", "zero"],
    inputs: tuple[Input, ...] = ("logits",),
    **more: Any,
) -> GateSpec:
    shape = setting.shape
    fields: dict[str, Any] = {
        "selection": Selection(shape.top_k, ties="lowest", nan=nan),
        "output": Output(order=("weights", "ids")),
    }
    linear = Linear("none", output_dtype=shape.dtype)
    return GateSpec(shape.experts, inputs, linear, score, **(fields | more))


def _score(scoring: str) -> Score:
    match scoring:
        case "softmax":
            return Score("softmax")
        case "sigmoid":
            return Score("sigmoid", fast=True)
        case "sqrtsoftplus":
            return Score("sqrt-softplus", form="log(1+exp)", fast=True)
        case _:
            raise CannotBuild(f"no specification for the scoring function {scoring!r}")


def _renormalized(setting: _Setting) -> Renormalization:
    on = setting.flag("renormalize", default=True)
    return Renormalization("always" if on else "never", flag="renormalize", guard=True)


def _fused_topk(setting: _Setting) -> GateSpec:
    renormalization = _renormalized(setting)
    return _spec(setting, _score(setting.scoring), "zero", renormalization=renormalization)


def _call_fused_topk(
    function: Callable[..., Any], setting: _Setting, inputs: GateInputs, logits: torch.Tensor
) -> Any:
    return function(
        logits,
        logits,
        setting.shape.top_k,
        setting.flag("renormalize", default=True),
        scoring_func=setting.scoring,
    )


def _goes_to_dsv4(setting: _Setting) -> bool:
    shape = setting.shape
    return (
        setting.scoring == "sqrtsoftplus"
        and shape.experts in (256, 384)
        and shape.top_k == 6
        and shape.dtype == "float32"
        and setting.flag("renormalize", default=True)
        and not setting.flag("hash")
    )


def _fused_topk_bias(setting: _Setting) -> GateSpec:
    shape = setting.shape
    softplus = setting.scoring == "sqrtsoftplus"
    hashed, image = softplus and setting.flag("hash"), softplus and setting.flag("image")
    setting.parameters["bias"] = _random(shape, shape.experts)
    if image:
        setting.parameters["image_bias"] = _random(shape, shape.experts)
    selection = Selection(
        shape.top_k, ties="lowest", nan="least" if _goes_to_dsv4(setting) else "zero"
    )
    if hashed:
        setting.parameters["table"] = _table(shape)
        selection = Selection(shape.top_k, "hash", ties="lowest", nan="zero", sorted=False)
    return _spec(
        setting,
        _score(setting.scoring),
        selection.nan,
        ("logits", "input_ids") if hashed or image else ("logits",),
        selection=selection,
        correction=Correction() if hashed else Correction("scores"),
        image=ImageBias(_IMAGE_FIRST, _IMAGE_COUNT) if image else None,
        renormalization=_renormalized(setting),
        scale=Scale(setting.factor, "routed_scaling_factor"),
    )


def _call_fused_topk_bias(
    function: Callable[..., Any], setting: _Setting, inputs: GateInputs, logits: torch.Tensor
) -> Any:
    parameters = setting.parameters
    image = "image_bias" in parameters
    return function(
        logits,
        logits,
        setting.scoring,
        None if "table" in parameters else parameters["bias"],
        setting.shape.top_k,
        setting.flag("renormalize", default=True),
        input_tokens=inputs.input_ids,
        hash_indices_table=parameters.get("table"),
        routed_scaling_factor=setting.factor,
        bias_vl=parameters.get("image_bias"),
        image_sentinel_lo=_IMAGE_FIRST if image else 0,
    )


def _dsv4_topk(setting: _Setting) -> GateSpec:
    shape = setting.shape
    image, padding = setting.flag("image", default=True), setting.flag("padding")
    setting.parameters["bias"] = _random(shape, shape.experts)
    inputs: tuple[Input, ...] = ("logits",)
    if image:
        setting.parameters["image_bias"] = _random(shape, shape.experts)
        inputs += ("input_ids",)
    return _spec(
        setting,
        Score("sqrt-softplus", form="log(1+exp)", fast=True),
        "least",
        (*inputs, "padding") if padding else inputs,
        correction=Correction("scores"),
        image=ImageBias(_IMAGE_FIRST, _IMAGE_COUNT) if image else None,
        renormalization=Renormalization("always", guard=True),
        scale=Scale(setting.factor, "routed_scaling_factor"),
        special=Special(padding="-1, weight 0" if padding else "none"),
    )


def _call_dsv4_topk(
    function: Callable[..., Any], setting: _Setting, inputs: GateInputs, logits: torch.Tensor
) -> Any:
    image = setting.parameters.get("image_bias")
    return function(
        logits,
        setting.parameters["bias"],
        torch.int32,
        setting.factor,
        is_padding=None if inputs.padding is None else ~inputs.padding,
        input_ids=inputs.input_ids if image is not None else None,
        bias_vl=image,
        image_sentinel_lo=_IMAGE_FIRST if image is not None else 0,
    )


def _kept_groups(shape: GateShape) -> tuple[int, int]:
    count = 8 if shape.experts >= 64 else 4
    return count, max((count + 1) // 2, -(-shape.top_k * count // shape.experts))


def _grouped_topk(setting: _Setting) -> GateSpec:
    shape = setting.shape
    count, kept = _kept_groups(shape)
    setting.parameters["bias"] = _random(shape, shape.experts)
    softmax = setting.scoring == "softmax"
    # scores that are not finite are never chosen
    return _spec(
        setting,
        Score("softmax", dtype=shape.dtype) if softmax else Score("sigmoid", form="tanh"),
        "least",
        selection=Selection(shape.top_k, nan="least"),
        correction=Correction("scores"),
        groups=Groups(count, kept, "top-sum"),
        renormalization=Renormalization(
            "always" if setting.flag("renormalize", default=True) else "never",
            flag="renormalize",
            epsilon=1e-20,
        ),
        scale=Scale(setting.factor, "routed_scaling_factor"),
    )


def _call_grouped_topk(
    function: Callable[..., Any], setting: _Setting, inputs: GateInputs, logits: torch.Tensor
) -> Any:
    count, kept = _kept_groups(setting.shape)
    return function(
        logits,
        logits,
        setting.shape.top_k,
        setting.flag("renormalize", default=True),
        setting.parameters["bias"],
        num_expert_group=count,
        topk_group=kept,
        scoring_func=setting.scoring,
        routed_scaling_factor=setting.factor,
    )


def _domain(
    experts: tuple[int, ...],
    top_k: tuple[int, ...] = _CHOICES,
    dtypes: tuple[str, ...] = ("float32", "bfloat16"),
) -> Domain:
    return Domain(experts, top_k, (64,), dtypes, ("cuda",))


_SCORES = ("softmax", "sigmoid")
# The compiled kernels read so many bytes at once and end the context where a row is not aligned.
_VECTOR = 16
_KERNELS: dict[str, _Kernel] = {
    "fused_topk": _Kernel(
        "fused_topk_router", "fused_topk", _fused_topk, _call_fused_topk,
        _domain((*_SPECIAL_COUNTS, *_OTHER_COUNTS)),
        {"scoring_func": _SCORES, "renormalize": _FLAGS}, _VECTOR,
    ),
    "fused_topk_bias": _Kernel(
        "fused_topk_bias_router", "fused_topk_bias", _fused_topk_bias, _call_fused_topk_bias,
        _domain(_SPECIAL_COUNTS),
        {
            "scoring_func": (*_SCORES, "sqrtsoftplus"), "renormalize": _FLAGS, "image": _FLAGS,
            "hash": (False, True), "routed_scaling_factor": _FACTORS,
        },
        _VECTOR,
    ),
    "fused_topk_bias_general": _Kernel(
        "fused_topk_bias_router", "fused_topk_bias", _fused_topk_bias, _call_fused_topk_bias,
        _domain(_OTHER_COUNTS),
        {"scoring_func": _SCORES, "renormalize": _FLAGS, "routed_scaling_factor": _FACTORS},
        _VECTOR,
    ),
    "dsv4_topk": _Kernel(
        "dsv4_topk", "dsv4_topk", _dsv4_topk, _call_dsv4_topk,
        _domain((256, 384), (6,), ("float32",)),
        {"image": _FLAGS, "padding": (False, True), "routed_scaling_factor": _FACTORS},
    ),
    "grouped_topk": _Kernel(
        "grouped_topk_router", "fused_grouped_topk", _grouped_topk, _call_grouped_topk,
        _domain((64, 128, 256)),
        {"scoring_func": ("sigmoid", "softmax"), "renormalize": _FLAGS,
         "routed_scaling_factor": _FACTORS},
    ),
}  # fmt: skip
"""`fused_topk_bias_general` is `fused_topk_bias` at expert counts that have no kernel of their
own, which go to a general one (not for sqrtsoftplus)."""
