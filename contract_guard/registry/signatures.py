"""How a function's signature changed, and whether a call still fits it."""

from collections.abc import Collection, Iterable
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
    by_position = _in_order(parameters)
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


def _has(parameters: Iterable[Parameter], kind: str) -> bool:
    return any(parameter.kind == kind for parameter in parameters)


def takes_all(new: Signature, old: Signature) -> bool:
    """Whether every call that fits `old` fits `new` too. False where that is not plain to see."""
    if any(_has(old.parameters, kind) for kind in ("var-positional", "var-keyword")):
        return _shape(old) == _shape(new)
    by_name = {p.name: p for p in new.parameters}
    places = _in_order(new.parameters)
    for index, parameter in enumerate(_in_order(old.parameters)):
        if index >= len(places) or places[index].name != parameter.name:
            return False
        if parameter.kind == "positional" and places[index].kind != "positional":
            return False
    for parameter in old.parameters:
        here = by_name.get(parameter.name)
        if here is None or (here.default is None and parameter.default is not None):
            return False
        if parameter.kind == "keyword-only" and here.kind not in ("keyword-only", "positional"):
            return False
    known = {p.name for p in old.parameters}
    return all(
        p.name in known or p.default is not None or p.kind.startswith("var-")
        for p in new.parameters
    )


def _in_order(parameters: Iterable[Parameter]) -> list[Parameter]:
    """Those that a call may give without their name."""
    return [p for p in parameters if p.kind in ("positional-only", "positional")]


def signature_text(signature: Signature) -> str:
    """`(a, /, b=1, *, c)`."""
    return f"({', '.join(_parts(signature))})"


def difference(old: Signature, new: Signature) -> str:
    """What went and what came: `- b=1, + c`; both whole where they differ in order alone."""
    before, after = _parts(old), _parts(new)
    gone = [f"- {part}" for part in before if part not in after]
    came = [f"+ {part}" for part in after if part not in before]
    return ", ".join([*gone, *came]) or f"{signature_text(old)} -> {signature_text(new)}"


def _parts(signature: Signature) -> list[str]:
    """The parameters as they are written, with the marks between their kinds."""
    parts: list[str] = []
    last = ""
    for parameter in signature.parameters:
        kind = parameter.kind
        if last == "positional-only" and kind != last:
            parts.append("/")
        if kind == "keyword-only" and last not in ("keyword-only", "var-positional"):
            parts.append("*")
        stars = {"var-positional": "*", "var-keyword": "**"}.get(kind, "")
        default = "" if parameter.default is None else f"={parameter.default}"
        parts.append(f"{stars}{parameter.name}{default}")
        last = kind
    if last == "positional-only":
        parts.append("/")
    return parts
