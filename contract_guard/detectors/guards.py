"""CG105 dead guards: a guarded import of something known that can never succeed."""

from collections.abc import Iterable

from contract_guard.detectors import cost, hints
from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import Import, ModuleFacts
from contract_guard.findings import Finding
from contract_guard.registry import guards
from contract_guard.registry.model import Resolution

_OTHER_REASONS = frozenset(
    {"type-checking", "version", "except", "raises", "unreachable", "hasattr"}
)


def dead_guards(context: Context) -> Iterable[Finding]:
    """CG105. An import in a handler is a fallback, one behind a version test may be for another
    version, and one that is expected to fail (`pytest.raises`) is a test: none of them count."""
    registry = context.registry
    for path, facts in registry.facts():
        for imp in facts.imports:
            if imp.form != "importorskip" and not _is_guarded(facts, imp):
                continue
            resolution = registry.resolve_import(path, imp)
            if resolution.status != "missing":
                continue
            if imp.form != "importorskip" and not _is_dead(facts, imp, resolution):
                continue
            if _has_substitute(facts, imp):
                continue
            site = Site(path, facts, imp.span, imp.statement, imp.scope, imp.guard)
            yield _finding(context, site, imp, resolution)


def _is_guarded(facts: ModuleFacts, imp: Import) -> bool:
    return any(g.kind in ("try", "suppress") for g in guards.chain(facts, imp.guard))


def _is_dead(facts: ModuleFacts, imp: Import, resolution: Resolution) -> bool:
    if any(guard.kind in _OTHER_REASONS for guard in guards.chain(facts, imp.guard)):
        return False
    error = "ModuleNotFoundError" if resolution.missing_module else "ImportError"
    return guards.caught(facts, imp.guard, error)


def _has_substitute(facts: ModuleFacts, imp: Import) -> bool:
    """Whether a handler imports the same name from elsewhere: nothing is skipped then, and the
    file is written for both places."""
    return any(
        other.bound == imp.bound
        and any(g.kind == "except" for g in guards.chain(facts, other.guard))
        for other in facts.imports
        if other is not imp and imp.bound
    )


def _finding(context: Context, site: Site, imp: Import, resolution: Resolution) -> Finding:
    module, _, name = resolution.symbol.partition(":")
    what = f"`{module}` has no name `{name}`" if name else f"there is no module `{module}`"
    spread = cost.of_guard(context, site, imp.form == "importorskip")
    if name:
        help_ = hints.for_name(context, site.path, module, name)
    else:
        help_ = hints.for_module(context, site.path, module, imp.name)
    return context.finding(
        "CG105",
        "warning",
        site,
        resolution.symbol,
        f"this import can never succeed, {what}: {spread.text}",
        help_,
        impact=spread.impact,
        lost=spread.lost,
        identity=f"{imp.form} {'.' * imp.level}{imp.module} {imp.name or ''}",
    )
