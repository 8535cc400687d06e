"""Where a failing name is expected, or never reached: what stands there is no fault."""

import re

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.callers import is_called_only_guarded
from contract_guard.facts.model import Guard
from contract_guard.registry import guards
from contract_guard.registry.guards import Error

_SKIPPED_MODULE = re.compile(r"""importorskip\(\s*["']([.\w]+)["']""")
_SKIP = re.compile(r"(?:\w+\.)*skip(?:Test)?\(")


def is_excused(context: Context, site: Site, error: Error) -> bool:
    """Whether `error` at the site is caught or expected, or the site is not meant to be reached
    when the name is not there. Both sides of a version test are excused, since each may be meant
    for another version, unless the test folds for the versions that are given."""
    facts, guard = site.facts, site.guard
    return is_called_only_guarded(context, site, error) or (
        guard >= 0
        and (
            guards.type_checking(facts, guard)
            or guards.fallback(facts, guard)
            or guards.caught(facts, guard, error)
            or any(_ends_before(context, site.path, each) for each in guards.chain(facts, guard))
        )
    )


def _ends_before(context: Context, path: str, guard: Guard) -> bool:
    if guard.kind == "skip":
        return _always_skips(context, path, guard.text)
    if guard.kind in ("version", "if"):
        may_hold = context.versions.may_hold(guard.text, negated=guard.negated)
        if may_hold is None:
            return guard.kind == "version" or context.versions.is_asked_in(guard.text)
        return not may_hold
    return guard.kind == "unreachable"


def _always_skips(context: Context, path: str, text: str) -> bool:
    """A skip without condition, or `importorskip` of a module that is gone (CG105's matter);
    with a condition, `text` is the condition."""
    match = _SKIPPED_MODULE.search(text)
    if match is None:
        return _SKIP.match(text) is not None
    return context.registry.resolve_dotted(match[1], path).status == "missing"


def condition(site: Site) -> str:
    """The source of the conditions under which the site runs, "" for always."""
    texts = [
        f"not ({guard.text})" if guard.negated else guard.text
        for guard in guards.chain(site.facts, site.guard)
        if guard.kind in ("if", "platform") and guard.text
    ]
    return " and ".join(reversed(texts))
