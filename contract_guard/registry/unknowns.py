"""Of how many names nothing is known, and why."""

from collections import Counter

from contract_guard.registry.index import Registry


def count_unknowns(registry: Registry) -> dict[str, int]:
    """Imports, attribute chains and patch targets that resolve to unknown, by reason, the most
    frequent first."""
    reasons: Counter[str] = Counter()
    for path, facts in registry.facts():
        found = [registry.resolve_import(path, imp) for imp in facts.imports]
        found += [registry.resolve_use(path, use) for use in facts.uses]
        found += [registry.resolve_patch(path, patch) for patch in facts.patches]
        reasons.update(resolution.reason for resolution in found if resolution.status == "unknown")
    return dict(sorted(reasons.items(), key=lambda entry: (-entry[1], entry[0])))
