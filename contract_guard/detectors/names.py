"""CG101 missing names, CG102 missing attributes, CG104 missing modules."""

import re
from collections.abc import Iterable, Iterator

from contract_guard.detectors import conditions, cost, hints
from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.statement import cut
from contract_guard.facts.model import Import, ModuleFacts, Span, Unbound
from contract_guard.findings import Finding
from contract_guard.registry import guards
from contract_guard.registry.model import Resolution
from contract_guard.registry.module import Module

# Whoever uses one of these may bind any name.
_WRITES_NAMES = frozenset({"globals", "exec", "vars"})
_MODULE_PART = re.compile(r"(?:from|import)\s+([.\w]+)")


def missing_imports(context: Context) -> Iterable[Finding]:
    """CG101 and CG104. Guarded imports are the matter of CG105."""
    registry = context.registry
    for path, facts in registry.facts():
        gone: set[tuple[Span, str]] = set()
        for imp in facts.imports:
            if imp.form == "importorskip":
                continue
            resolution = registry.resolve_import(path, imp)
            if resolution.status != "missing":
                continue
            guard = _guard_of(context, path, facts, imp)
            site = Site(path, facts, imp.span, imp.statement, imp.scope, guard)
            error = "ModuleNotFoundError" if resolution.missing_module else "ImportError"
            if conditions.is_excused(context, site, error):
                continue
            if not resolution.missing_module:
                yield _missing_name(context, site, imp, resolution)
            elif (imp.statement, resolution.symbol) not in gone:
                gone.add((imp.statement, resolution.symbol))
                yield _missing_module(context, site, imp, resolution)


def _guard_of(context: Context, path: str, facts: ModuleFacts, imp: Import) -> int:
    """The guard that an import stands under. For one in a handler, the guard around the whole
    `try` if what it was to replace is gone too: the handler then runs for certain."""
    handler = facts.guards[imp.guard] if imp.guard >= 0 else None
    if handler is None or handler.kind != "except":
        return imp.guard
    for other in facts.imports:
        tried = facts.guards[other.guard] if other.guard >= 0 else None
        if (
            tried is not None
            and tried.kind == "try"
            and not tried.negated
            and tried.parent == handler.parent
            and other.bound == imp.bound
            and other.statement.line < imp.statement.line
        ):
            found = context.registry.resolve_import(path, other)
            error = "ModuleNotFoundError" if found.missing_module else "ImportError"
            names = (name.rpartition(".")[2] for name in handler.catches)
            if found.status == "missing" and any(guards.catches(name, error) for name in names):
                return handler.parent
    return imp.guard


def _missing_name(context: Context, site: Site, imp: Import, resolution: Resolution) -> Finding:
    module, _, name = resolution.symbol.partition(":")
    if imp.name == "*":
        what = f"`__all__` of `{module}` lists `{name}`, which is not there"
    elif resolution.reason == "type-checking-only":
        what = f"`{module}` binds `{name}` for type checkers only"
    elif resolution.reason == "deleted":
        what = f"`{module}` deletes `{name}` after its use"
    else:
        what = f"`{module}` has no name `{name}`"
    spread = cost.of_failure(context, site, "ImportError")
    return context.finding(
        "CG101",
        "error",
        site,
        resolution.symbol,
        f"{what}: {spread.text}",
        hints.for_name(context, site.path, module, name),
        impact=spread.impact,
        lost=spread.lost,
        related=spread.related,
        identity=f"from {'.' * imp.level}{imp.module} import {imp.name}",
    )


def _missing_module(context: Context, site: Site, imp: Import, resolution: Resolution) -> Finding:
    spread = cost.of_failure(context, site, "ModuleNotFoundError")
    return context.finding(
        "CG104",
        "error",
        site._replace(span=_module_span(context, site, imp)),
        resolution.symbol,
        f"there is no module `{resolution.symbol}`: {spread.text}",
        hints.for_module(context, site.path, resolution.symbol, imp.name),
        impact=spread.impact,
        lost=spread.lost,
        related=spread.related,
        identity=f"import {'.' * imp.level}{imp.module}",
    )


def _module_span(context: Context, site: Site, imp: Import) -> Span:
    """The range of `pkg.gone` in `from pkg.gone import a, b`; of the alias in other forms."""
    if imp.form != "from":
        return imp.span
    line, column = imp.statement.line, imp.statement.column
    text = context.text(site.path).split("\n")[line - 1][column - 1 :]
    match = _MODULE_PART.match(text)
    if match is None:
        return imp.span
    return Span(line, column + match.start(1), line, column + match.end(1))


def unbound_names(context: Context) -> Iterable[Finding]:
    """CG101: a name that the file never binds, though a module that it imports from, or a
    conftest above it, defines it: the import was forgotten, or removed as unused."""
    for path, facts in context.registry.facts():
        for unbound in failing_loads(facts):
            home = next(homes(context, path, facts, unbound.name), None)
            if home is not None:
                span, scope, guard = unbound.span, unbound.scope, unbound.guard
                yield _unbound(context, Site(path, facts, span, span, scope, guard), home)


def failing_loads(facts: ModuleFacts) -> list[Unbound]:
    """The loads of names that nothing binds, none of those whose failure the file expects."""
    if facts.dynamic or not _WRITES_NAMES.isdisjoint(facts.loaded_names):
        return []
    return [
        unbound
        for unbound in facts.unbound
        if unbound.name not in facts.added_names
        and not any(g.kind in ("try", "suppress") for g in guards.chain(facts, unbound.guard))
    ]


def homes(context: Context, path: str, facts: ModuleFacts, name: str) -> Iterator[Module]:
    """The modules that a file imports from, and the conftests above it, that define a name."""
    return (module for module in _near_modules(context, path, facts) if _defines(module, name))


def _near_modules(context: Context, path: str, facts: ModuleFacts) -> list[Module]:
    modules = context.registry.modules
    here = context.registry.module(path)
    found = [m for imp in facts.imports for m in modules.locate_import(here, imp).modules[:1]]
    found += [context.registry.module(path) for path in context.registry.layout.conftests(path)]
    return list(dict.fromkeys(found))


def _defines(module: Module, name: str) -> bool:
    return any(b.kind in ("function", "class", "assign") for b in module.bindings.get(name, ()))


def _unbound(context: Context, site: Site, home: Module) -> Finding:
    name = cut(context.text(site.path), site.span)
    spread = cost.of_failure(context, site, "AttributeError")
    return context.finding(
        "CG101",
        "error",
        site,
        f"{home.name}:{name}",
        f"nothing in this file binds `{name}` (NameError): {spread.text}",
        f"`{home.name}` defines it: import it from there",
        impact=spread.impact,
        lost=spread.lost,
        related=spread.related,
        identity=name,
    )


def missing_attributes(context: Context) -> Iterable[Finding]:
    """CG102: reading an attribute that a module, or a class of which all is known, does not
    have."""
    registry = context.registry
    for path, facts in registry.facts():
        for use in facts.uses:
            if use.context != "load":
                continue
            resolution = registry.resolve_use(path, use)
            if resolution.status != "missing":
                continue
            line, column = use.ends[resolution.depth + 1]
            span = Span(use.span.line, use.span.column, line, column)
            site = Site(path, facts, span, use.statement, use.scope, use.guard)
            if conditions.is_excused(context, site, "AttributeError"):
                continue
            yield _missing_attribute(context, site, resolution)


def _missing_attribute(context: Context, site: Site, resolution: Resolution) -> Finding:
    module, _, name = resolution.symbol.partition(":")
    owner, _, member = name.rpartition(".")
    if owner:
        what, hint = f"class `{owner}`", hints.for_member(context, module, owner, member)
    else:
        what, hint = f"module `{module}`", hints.for_name(context, site.path, module, name)
    spread = cost.of_failure(context, site, "AttributeError")
    return context.finding(
        "CG102",
        "error",
        site,
        resolution.symbol,
        f"{what} has no attribute `{member}`: {spread.text}",
        hint,
        impact=spread.impact,
        lost=spread.lost,
        related=spread.related,
    )
