"""Patch targets that are given to a project's own wrappers of `mock.patch`."""

import ast
import re
from collections.abc import Iterator

from contract_guard.detectors.base import Context
from contract_guard.facts.model import ModuleFacts, PatchTarget, Span
from contract_guard.facts.source import Source, dotted

_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")


def wrapped_patches(context: Context, path: str, facts: ModuleFacts) -> Iterator[PatchTarget]:
    """The first argument that is a dotted string, of every call of a configured wrapper."""
    lasts = {wrapper.rpartition(".")[2] for wrapper in context.patch_wrappers}
    if lasts.isdisjoint(facts.loaded_names):
        return
    source = Source(context.text(path))
    for call in ast.walk(ast.parse(source.text)):
        if isinstance(call, ast.Call) and dotted(call.func).rpartition(".")[2] in lasts:
            target = next(filter(_dotted_text, call.args), None)
            if target is not None and _is_wrapper(context, path, dotted(call.func)):
                span = source.span(call)
                yield PatchTarget(
                    form="mock.patch",
                    target=_dotted_text(target),
                    attribute=None,
                    imported=(),
                    create=False,
                    raising=True,
                    new=None,
                    span=source.span(target),
                    call=span,
                    statement=span,
                    scope=_scope_at(facts, span),
                    guard=-1,
                )


def _is_wrapper(context: Context, path: str, function: str) -> bool:
    symbol = context.registry.resolve_name(path, function).symbol.replace(":", ".")
    return not context.patch_wrappers.isdisjoint({symbol, function})


def _dotted_text(node: ast.expr) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value if _DOTTED.fullmatch(node.value) else ""
    return ""


def _scope_at(facts: ModuleFacts, span: Span) -> int:
    """The innermost function or class around a place."""
    around = [
        (scope.span[:2], index)
        for index, scope in enumerate(facts.scopes)
        if index and scope.span[:2] <= span[:2] and span[2:] <= scope.span[2:]
    ]
    return max(around, default=((0, 0), 0))[1]
