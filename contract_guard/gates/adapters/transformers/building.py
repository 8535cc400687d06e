"""Builds a router from its own configuration, shrunk, and loads it the way a user gets it.

In float32 the router is as its constructor makes it. In bfloat16 it has been through
`save_pretrained` and `from_pretrained(dtype=bfloat16)` of the model class that holds it, with
everything but the router (or its block, where that owns a bias or goes on routing) left out, under
the parameter names of the real model: so the dtype of every tensor is what the library makes it.
"""

import importlib
import inspect
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard, cast
from unittest.mock import patch

import torch
from torch import nn

from contract_guard.gates.adapters.transformers.classes import RouterClass
from contract_guard.gates.model import CannotBuild, GateShape, one_line

_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_CHOICES = ("num_experts_per_tok", "moe_topk", "moe_top_k", "moe_k", "top_k_experts")
_HIDDEN = ("hidden_size", "d_model")
_WIDTHS = (
    "intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size",
    "ffn_hidden_size", "expert_ffn_hidden_size", "expert_ffn_dim", "encoder_ffn_dim",
    "decoder_ffn_dim", "d_ff",
)  # fmt: skip
UNLIMITED = 2**31 - 1
"""An expert capacity that no batch reaches."""

_OPTIONS: dict[str, tuple[object, ...]] = {
    "norm_topk_prob": (True, False),
    "n_group": (1, 2, 4, 8),
    "topk_method": ("greedy", "group_limited_greedy"),
    "scoring_func": ("sqrtsoftplus", "sigmoid"),
    "expert_selection_fn": ("softmax", "sigmoid"),
    "use_expert_bias": (True, False),
    "moe_router_logit_softcapping": (0.0, 30.0),
    "moe_normalize_expert_weights": (None, 1.0, 2.0),
    "normalize_router_prob_before_dropping": (False, True),
    "router_bias": (False, True),
    "zero_expert_num": (0, 4),
    "expert_capacity": (UNLIMITED, 3, 64),
    "n_shared_experts": (1, 2),
    "routed_scaling_factor": (1.0, 2.5),
    "router_scaling_factor": (1.0, 2.5),
    "route_scale": (1.0, 2.5),
    "output_multiplier": (1.0, 0.5),
    "moe_norm_min": (1e-12, 0.5),
}
"""Configuration fields that change the rule, with the values to draw from."""


@dataclass(frozen=True, slots=True)
class Built:
    """A router ready to call. `owner` is its block where that was built too, else the router.
    `options` are those asked for; `dtype` is the name of the hidden states' dtype."""

    router: nn.Module
    owner: nn.Module
    config: Any
    dtype: str
    options: Mapping[str, object]

    def owned(self, name: str) -> Any:
        """An attribute of the router's block."""
        return getattr(self.owner, name)

    def field(self, name: str) -> Any:
        """An attribute of the router, else of its configuration."""
        return (
            getattr(self.router, name) if hasattr(self.router, name) else getattr(self.config, name)
        )


def build(router: RouterClass, shape: GateShape) -> Built:
    """Raises CannotBuild, with the reason on one line."""
    try:
        return _build(router, shape)
    except CannotBuild:
        raise
    except Exception as error:
        raise CannotBuild(one_line(error)) from error


def _build(router: RouterClass, shape: GateShape) -> Built:
    module = importlib.import_module(router.module)
    config = _config(module, router)
    _shrink(config, router, shape)
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    owner = _construct(module, router, config)
    for name, tensor in [*owner.named_parameters(), *owner.named_buffers()]:
        _fill(name, tensor)
    if shape.dtype != "float32":
        owner = _through_checkpoint(module, router, config, owner, getattr(torch, shape.dtype))
    owner = owner.to(shape.device).eval().requires_grad_(False)
    gate = owner
    if router.host is not None and router.needs_host:
        gate = cast("nn.Module", getattr(owner, router.host.attribute))
    return Built(gate, owner, config, shape.dtype, shape.options)


def option_values(router: RouterClass) -> dict[str, tuple[object, ...]]:
    """The fields that this router, or the block that goes on routing for it, reads."""
    names = router.names if router.needs_host else router.fields
    return {name: values for name, values in _OPTIONS.items() if name in names}


def _config(module: Any, router: RouterClass) -> Any:
    """The annotated class, else the one of the model's configuration module that has every field
    which the router reads, its name closest to the router's."""
    package = importlib.import_module(module.__name__.replace(".modeling_", ".configuration_"))
    from transformers import PreTrainedConfig

    classes = [
        entry
        for entry in cast("dict[str, object]", vars(package)).values()
        if inspect.isclass(entry)
        and issubclass(entry, PreTrainedConfig)
        and entry.__module__ == package.__name__
    ]
    classes.sort(key=lambda entry: -_common_prefix(entry.__name__, router.name))
    classes.sort(key=lambda entry: entry.__name__ != router.config)
    host = router.host if router.needs_host else None
    wanted = set(host.fields if host is not None else router.fields)
    for entry in classes:
        config = entry()
        for part in (
            config,
            *(v for v in vars(config).values() if isinstance(v, PreTrainedConfig)),
        ):
            if all(hasattr(part, name) for name in wanted) and any(
                hasattr(part, name) for name in _HIDDEN
            ):
                return part
    raise CannotBuild(
        f"no configuration class of {package.__name__} has {', '.join(sorted(wanted))}"
    )


def _common_prefix(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += 1
    return length


def _shrink(config: Any, router: RouterClass, shape: GateShape) -> None:
    sizes: dict[str, object] = {"vocab_size": 64, "router_hidden_size": 16}
    sizes |= {"expert_capacity": UNLIMITED, **dict.fromkeys(_WIDTHS, 8)}
    sizes |= dict.fromkeys(_EXPERTS, shape.experts)
    sizes |= dict.fromkeys(_CHOICES, shape.top_k)
    sizes |= dict.fromkeys(_HIDDEN, shape.hidden)
    sizes |= shape.options
    groups = sizes.get("n_group", 4 if "n_group" in router.fields else None)
    if isinstance(groups, int):
        count, kept = fit_groups(shape.experts, shape.top_k, groups)
        sizes |= {"n_group": count, "topk_group": kept}
    asked = {*router.fields, *shape.options}
    for part in (config, getattr(config, "ffn_config", None)):
        for name, value in sizes.items() if part is not None else ():
            present = _read(part, name)
            if present is not None or (name in asked and hasattr(part, name)):
                setattr(part, name, [value] * len(present) if _is_list(present) else value)


def _read(config: Any, name: str) -> object:
    """A field of a configuration; None where it has none. A field that differs from layer to
    layer cannot be read as an attribute: then its general value."""
    try:
        return getattr(config, name, None)
    except RuntimeError:
        return cast("dict[str, object]", vars(config)).get(name)


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def fit_groups(experts: int, top_k: int, wanted: int) -> tuple[int, int]:
    """(groups, kept): at most `wanted` groups that divide the experts into at least two each, and
    half of them kept, or as many as hold K experts."""
    count = max(
        c
        for c in range(1, max(1, wanted) + 1)
        if experts % c == 0 and (c == 1 or experts // c >= 2)
    )
    size = experts // count
    return count, min(count, max((count + 1) // 2, -(-top_k // size)))


def _construct(module: Any, router: RouterClass, config: Any) -> nn.Module:
    if router.host is not None and router.needs_host:
        return _call(getattr(module, router.host.name), config)
    return _call(getattr(module, router.name), config)


def _call(made: Any, config: Any) -> nn.Module:
    # the last layer: the first ones may lack what later ones have
    values = {
        "config": config, "layer_config": config,
        "layer_idx": (getattr(config, "num_hidden_layers", None) or 2) - 1,
        "input_size": _read(config, "hidden_size"),
        "num_experts": _read(config, "num_local_experts"),
        "top_k": _read(config, "num_experts_per_tok"),
    }  # fmt: skip
    arguments: dict[str, object] = {}
    for name, parameter in inspect.signature(made.__init__).parameters.items():
        if name in values:
            arguments[name] = values[name]
        elif name not in ("self", "args", "kwargs") and parameter.default is parameter.empty:
            raise CannotBuild(f"{made.__name__} wants an argument {name!r} that is not known")
    return cast("nn.Module", made(**arguments))


def _fill(name: str, tensor: torch.Tensor) -> None:
    """Numbers that look like a trained gate: logits of about 1 for hidden states of about 1, a
    correction bias of about a tenth, a table of distinct experts."""
    with torch.no_grad():
        leaf = name.rsplit(".", 1)[-1]
        if not tensor.is_floating_point():
            return
        if "bias" in leaf and leaf != "bias":
            tensor.normal_(0.0, 0.1)
        elif leaf == "bias" or tensor.dim() == 1:
            tensor.normal_(0.0, 0.1)
            if leaf != "bias":
                tensor.add_(1.0)
        elif tensor.dim() == 2 and min(tensor.shape) > 1:
            tensor.normal_(0.0, tensor.shape[1] ** -0.5)
        else:
            tensor.normal_(0.0, 0.1)


def _model_bases(module: Any, router: RouterClass) -> tuple[Any, Any]:
    """The model class that holds the router, or any, and the general one that it derives from."""
    from transformers import PreTrainedModel

    models = [
        entry
        for entry in cast("dict[str, object]", vars(module)).values()
        if inspect.isclass(entry)
        and issubclass(entry, PreTrainedModel)
        and entry.__module__ == module.__name__
    ]
    named = router.host.model if router.host is not None else None
    for model in models:
        if named in (None, model.__name__):
            general = [base for base in model.__mro__ if base in models]
            return model, general[-1]
    raise CannotBuild(f"{router.module} has no model class")


def _through_checkpoint(
    module: Any, router: RouterClass, config: Any, owner: nn.Module, dtype: torch.dtype
) -> nn.Module:
    """`owner` after save_pretrained and from_pretrained(dtype) under its name in the real model."""
    path = router.host.path if router.host is not None else ("gate",)
    if router.needs_host:
        path = path[:-1] or ("mlp",)
    name = ".".join(path)
    model, general = _model_bases(module, router)

    def initialize(self: Any, config: Any) -> None:
        cast("Any", super(general, self)).__init__(config)
        place: nn.Module = self
        for part in path[:-1]:
            place.add_module(part, nn.Module())
            place = cast("nn.Module", getattr(place, part))
        place.add_module(path[-1], _construct(module, router, config))
        self.post_init()

    kept = {f: getattr(model, f) for f in ("_keep_in_fp32_modules", "_keep_in_fp32_modules_strict")}
    shell = type(model.__name__, (general,), {**kept, "__init__": initialize})
    whole = shell(config)
    whole.get_submodule(name).load_state_dict(owner.state_dict())
    # sizes that only matter to the parts left out need not fit together
    with tempfile.TemporaryDirectory() as folder, patch.object(type(config), "validate", _no_check):
        whole.save_pretrained(folder)
        loaded = shell.from_pretrained(folder, config=config, dtype=dtype)
    return cast("nn.Module", loaded.get_submodule(name))


def _no_check(self: object) -> None:
    """Stands in for a configuration's own validation."""
