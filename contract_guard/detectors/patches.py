"""CG103 stale patch targets, and patches that change nothing."""

import builtins
from collections.abc import Iterable, Iterator

from contract_guard.detectors import conditions, cost, hints
from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.wrappers import wrapped_patches
from contract_guard.facts.model import ModuleFacts, PatchTarget, Use
from contract_guard.findings import Finding
from contract_guard.registry.model import Resolution
from contract_guard.registry.module import Module

_SETTERS = ("setattr", "delattr")


def stale_targets(context: Context) -> Iterable[Finding]:
    """CG103, all forms."""
    takers = Takers(context)
    for path, facts in context.registry.facts():
        for patch in (*facts.patches, *wrapped_patches(context, path, facts)):
            yield from _of_patch(context, takers, path, facts, patch)
        yield from _of_assignments(context, takers, path, facts)


def _of_patch(
    context: Context, takers: "Takers", path: str, facts: ModuleFacts, patch: PatchTarget
) -> Iterator[Finding]:
    if patch.attribute is None and patch.imported:
        return  # `patch.dict(module.TABLE)` reads an attribute: CG102
    resolution = context.registry.resolve_patch(path, patch)
    site = Site(path, facts, patch.span, patch.statement, patch.scope, patch.guard)
    if resolution.status == "exists":
        if patch.form not in _SETTERS and resolution.producer is not None:
            yield from _ineffective(context, takers, site, resolution)
    elif resolution.status == "missing" and not _is_allowed(patch, resolution):
        if patch.form == "setattr":
            yield from _created(context, takers, site, resolution)
        else:
            error = "ModuleNotFoundError" if resolution.missing_module else "AttributeError"
            if not conditions.is_excused(context, site, error):
                yield _missing(context, site, patch, resolution)


def _is_allowed(patch: PatchTarget, resolution: Resolution) -> bool:
    """Whether the patch itself makes the name, or does not mind that there is none."""
    if resolution.missing_module:
        return False
    if patch.create or not patch.raising:
        return True
    name = resolution.symbol.rpartition(":")[2]
    return patch.form.startswith("mock") and hasattr(builtins, name)


def _missing(context: Context, site: Site, patch: PatchTarget, resolution: Resolution) -> Finding:
    owner, _, name = resolution.symbol.partition(":")
    head, _, attribute = name.rpartition(".")
    if resolution.missing_module:
        what, error = f"there is no module `{owner}`", "ModuleNotFoundError"
        inside = patch.target.removeprefix(owner).strip(".") or patch.attribute or ""
        help_ = hints.for_module(context, site.path, owner, inside.partition(".")[0] or None)
    elif head:
        what, error = f"class `{owner}:{head}` has no attribute `{attribute}`", "AttributeError"
        help_ = hints.for_member(context, owner, head, attribute)
    else:
        what, error = f"module `{owner}` has no attribute `{name}`", "AttributeError"
        help_ = hints.for_name(context, site.path, owner, name)
    spread = cost.of_patch(context, site, patch.decorator)
    return context.finding(
        "CG103",
        "error",
        site,
        resolution.symbol,
        f"{what}: the patch raises {error}, {spread.text}",
        help_,
        impact=spread.impact,
        lost=spread.lost,
    )


def _ineffective(
    context: Context, takers: "Takers", site: Site, resolution: Resolution
) -> Iterator[Finding]:
    """A name that its module binds by import alone, and that nobody looks up there."""
    owner, _, name = resolution.symbol.partition(":")
    module = takers.module(owner)
    if module is None or module.facts is None or not name or "." in name:
        return
    bindings = module.bindings.get(name, [])
    if not bindings or any(binding.imported < 0 for binding in bindings):
        return
    if name in module.facts.loaded_names or takers.takes(module, name):
        return
    where = resolution.producer.symbol if resolution.producer else ""
    yield context.finding(
        "CG103",
        "warning",
        site,
        resolution.symbol,
        f"the patch changes nothing: `{owner}` imports `{name}` and never uses it, and nothing "
        "takes it from there",
        f"patch it where it is looked up; it is defined as `{where}`",
        impact="silent",
    )


def _of_assignments(
    context: Context, takers: "Takers", path: str, facts: ModuleFacts
) -> Iterator[Finding]:
    for use in facts.uses:
        if use.context == "store":
            resolution = context.registry.resolve_use(path, use)
            if resolution.status == "missing" and resolution.depth == len(use.chain) - 1:
                site = Site(path, facts, use.span, use.statement, use.scope, use.guard)
                yield from _created(context, takers, site, resolution)


def _created(
    context: Context, takers: "Takers", site: Site, resolution: Resolution
) -> Iterator[Finding]:
    """An assignment that makes a new name in a module, which nobody reads."""
    owner, _, name = resolution.symbol.partition(":")
    module = takers.module(owner)
    if module is None or not name or "." in name:
        return
    if conditions.is_excused(context, site, "AttributeError") or takers.reads(module, name, site):
        return
    yield context.finding(
        "CG103",
        "warning",
        site,
        resolution.symbol,
        f"the assignment replaces nothing: `{owner}` has no `{name}`, and nothing reads it",
        hints.for_name(context, site.path, owner, name),
        impact="silent",
    )


class Takers:
    """Who takes which name from which module."""

    def __init__(self, context: Context) -> None:
        self._registry = context.registry

    def module(self, dotted: str) -> Module | None:
        named = self._registry.modules.named(dotted)
        return named[0] if len(named) == 1 else None

    def takes(self, module: Module, name: str) -> bool:
        """Whether another module imports the name from this one, or reads it as its attribute."""
        modules = self._registry.modules
        if any(
            module in modules.locate_import(other, imp).modules
            for other in modules.starring()
            for imp in other.stars
        ):
            return True
        for other in modules.mentioning(name):
            facts = other.facts
            if facts is None:
                continue
            if any(
                imp.name == name and module in modules.locate_import(other, imp).modules
                for imp in facts.imports
            ):
                return True
            if name in facts.loaded_names and any(
                module in self._asked(other, use, name)
                for use in facts.uses
                if use.context == "load" and name in use.chain
            ):
                return True
        return False

    def _asked(self, module: Module, use: Use, name: str) -> Iterator[Module]:
        """The modules that a chain asks for `name`."""
        names = self._registry.names
        for index in use.imported:
            targets = names.bound(module, index).targets
            for part in use.chain:
                modules = [target.module for target in targets if target.binding is None]
                if part == name:
                    yield from modules
                inner = [names.find(found, part).targets for found in modules]
                targets = tuple(target for found in inner for target in found)

    def reads(self, module: Module, name: str, site: Site) -> bool:
        """Whether any other file mentions the name at all, or this one reads it from the module."""
        for other in self._registry.modules.mentioning(name):
            facts = other.facts
            if facts is None or (other.path == site.path and not other.tree):
                continue
            if name in facts.loaded_names or any(imp.name == name for imp in facts.imports):
                return True
        return self.takes(module, name)
