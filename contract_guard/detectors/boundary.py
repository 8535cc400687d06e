"""Which changes matter: those of contracts across a boundary, and those that break something."""

from collections.abc import Iterable

from contract_guard.findings import Impact
from contract_guard.registry.layout import Layout
from contract_guard.registry.model import Change, Consumer

_ORDER: tuple[Impact | None, ...] = (
    "collection-error",
    "runtime-error",
    "always-skipped",
    "silent",
    None,
)
BROKEN: frozenset[Impact | None] = frozenset({"collection-error", "runtime-error"})


def across_boundaries(changes: Iterable[Change], layout: Layout) -> list[Change]:
    """The changes with a consumer on the other side of a boundary (a test of what production
    defines, one top-level package of what another defines) or with a broken one; worst first, and
    so are the consumers of each."""
    kept = [
        change
        for change in changes
        if any(c.impact in BROKEN or _crosses(change, c, layout) for c in change.consumers)
    ]
    ordered = [
        msgspec_replace(change, sorted(change.consumers, key=_consumer_badness)) for change in kept
    ]
    return sorted(ordered, key=_badness)


def _crosses(change: Change, consumer: Consumer, layout: Layout) -> bool:
    place = change.old or change.new
    if place is None:
        return True
    if layout.is_test(place.path) != layout.is_test(consumer.path):
        return True
    if layout.is_test(place.path):
        return False
    here, there = change.symbol.partition(":")[0], layout.name_of(consumer.path)
    return here.partition(".")[0] != there.partition(".")[0]
