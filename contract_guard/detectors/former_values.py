"""CG203 where a constant changed: literals that still have its former value."""

from collections.abc import Iterable

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.constants import production_modules
from contract_guard.findings import Finding
from contract_guard.registry.model import Change

_KINDS = frozenset({"value-changed", "removed", "renamed"})


def former_values(context: Context, _old: Context, changes: Iterable[Change]) -> Iterable[Finding]:
    """Distinctive literals in tests that equal the old value of a constant of a module imported
    there, and are no constant's value now."""
    former: dict[str, dict[str, list[str]]] = {}
    for change in changes:
        old, new = change.old, change.new
        if change.kind not in _KINDS or old is None or old.value is None:
            continue
        if new is None or new.value != old.value:
            module = change.symbol.partition(":")[0]
            former.setdefault(module, {}).setdefault(old.value, []).append(change.symbol)
    if not former:
        return
    registry = context.registry
    for path, facts in registry.facts():
        if not facts.literals or not registry.layout.is_test(path):
            continue
        leaning = [m.name for m in production_modules(context, path, facts) if m.name in former]
        for literal in facts.literals if leaning else ():
            symbols = [s for module in leaning for s in former[module].get(literal.value, ())]
            if len(symbols) != 1:
                continue
            yield context.finding(
                "CG203",
                "warning",
                Site(path, facts, literal.span, literal.span, literal.scope, -1),
                symbols[0],
                f"{literal.value} is what `{symbols[0]}` was before this change",
                "take the constant, or its new value; or say in a comment that the old value is"
                " the contract",
                impact="silent",
                identity=literal.value,
            )
