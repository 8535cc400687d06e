"""CG101 where a module goes on using a name that it no longer defines itself."""

from collections.abc import Iterable, Iterator

from contract_guard.detectors import cost
from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.names import failing_loads, homes
from contract_guard.facts.model import ModuleFacts, Unbound
from contract_guard.findings import Finding
from contract_guard.registry.model import Change

_DEFINING = frozenset({"function", "class", "assign"})


def own_names(context: Context, old: Context, changes: Iterable[Change]) -> Iterable[Finding]:
    """Uses of a name that the same file defined at the older revision, and that nothing in it binds
    any more. Where a module that it imports from defines the name, `unbound_names` tells of it."""
    became = {change.symbol: change.replacement for change in changes if change.replacement}
    for path, facts in context.registry.facts():
        before = old.registry.tree.files.get(path)
        if before is facts or not isinstance(before, ModuleFacts):
            continue
        module = context.registry.module(path).name
        for unbound in _orphaned(before, facts):
            if any(homes(context, path, facts, unbound.name)):
                continue
            span, scope, guard = unbound.span, unbound.scope, unbound.guard
            site = Site(path, facts, span, span, scope, guard)
            symbol = f"{module}:{unbound.name}"
            new = became.get(symbol, "").replace(":", ".")
            spread = cost.of_failure(context, site, "AttributeError")
            yield context.finding(
                "CG101",
                "error",
                site,
                symbol,
                f"this file no longer defines `{unbound.name}`, and uses it (NameError): "
                f"{spread.text}",
                f"use `{new}` in its place" if new else f"remove what depends on `{unbound.name}`",
                impact=spread.impact,
                lost=spread.lost,
                related=spread.related,
                identity=unbound.name,
            )


def _orphaned(before: ModuleFacts, facts: ModuleFacts) -> Iterator[Unbound]:
    loads = failing_loads(facts)
    if not loads:
        return
    known = {b.name for b in before.bindings if b.kind in _DEFINING}
    known -= {unbound.name for unbound in before.unbound}
    yield from (unbound for unbound in loads if unbound.name in known)
