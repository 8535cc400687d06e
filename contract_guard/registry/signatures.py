"""How a function's signature changed, and whether a call still fits it."""

from collections.abc import Collection
from typing import Literal

from contract_guard.facts.model import Parameter, Signature


def signature_change(
    old: Signature, new: Signature
) -> Literal["signature-changed", "default-changed"] | None:
    """`default-changed` where the same calls are possible and mean something else."""
    if old.is_async != new.is_async or _shape(old) != _shape(new):
        return "signature-changed"
    return "default-changed" if old.parameters != new.parameters else None


def _shape(signature: Signature) -> list[tuple[str, str, bool]]:
    return [(p.name, p.kind, p.default is None) for p in signature.parameters]


def misfit(
    signature: Signature, positional: int, keywords: Collection[str], *, bound: bool
) -> str | None:
    """Why a call with so many positional arguments and these keywords raises TypeError; None where
    it does not. `bound` is true where the first parameter is given by the lookup (a method)."""
    parameters = list(signature.parameters)
    if bound:
        parameters = parameters[1:]
    by_position = [p for p in parameters if p.kind in ("positional-only", "positional")]
    if positional > len(by_position) and not _has(parameters, "var-positional"):
        return f"takes {len(by_position)} positional arguments, {positional} are given"
    taken = {p.name for p in by_position[:positional]}
    named = {p.name for p in parameters if p.kind in ("positional", "keyword-only")}
    for keyword in sorted(keywords):
        if keyword in taken and keyword in named:
            return f"`{keyword}` is given twice"
        if keyword not in named and not _has(parameters, "var-keyword"):
            return f"has no parameter `{keyword}`"
    for parameter in parameters:
        is_needed = parameter.default is None and not parameter.kind.startswith("var-")
        if is_needed and parameter.name not in taken and parameter.name not in keywords:
            return f"needs `{parameter.name}`"
    return None


def _has(parameters: list[Parameter], kind: str) -> bool:
    return any(parameter.kind == kind for parameter in parameters)
