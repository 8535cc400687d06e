"""Which changes matter: those of contracts across a boundary, and those that break something."""

from collections.abc import Iterable

import msgspec

from contract_guard.findings import Impact
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, Consumer

_ORDER: tuple[Impact | None, ...] = (
    "collection-error",
    "runtime-error",
    "always-skipped",
    "silent",
    None,
)
BROKEN: frozenset[Impact | None] = frozenset({"collection-error", "runtime-error"})


def across_boundaries(changes: Iterable[Change], old: Registry, new: Registry) -> list[Change]:
    """The changes with a consumer on the other side of a boundary (a test of what production
    defines, one top-level package of what another defines) or with a broken one. Worst first, and
    so are the consumers of each. A changed signature has those alone that no longer fit it."""
    kept: list[Change] = []
    for change in changes:
        consumers = _affected(change)
        if any(c.impact in BROKEN or _crosses(change, c, old, new) for c in consumers):
            ordered = tuple(sorted(consumers, key=_badness))
            kept.append(msgspec.structs.replace(change, consumers=ordered))
    return sorted(kept, key=lambda c: (*_badness(c.consumers[0])[:3], c.symbol, c.kind))


def _affected(change: Change) -> tuple[Consumer, ...]:
    if change.kind != "signature-changed":
        return change.consumers
    return tuple(consumer for consumer in change.consumers if consumer.impact in BROKEN)


def _crosses(change: Change, consumer: Consumer, old: Registry, new: Registry) -> bool:
    place = change.old or change.new
    if place is None:
        return True
    registry = new if consumer.path in new.tree.files else old
    is_test = registry.layout.is_test
    if is_test(place.path) or is_test(consumer.path):
        return is_test(place.path) != is_test(consumer.path)
    if consumer.form == "document":
        return True
    there = registry.module(consumer.path).name
    here = change.symbol.partition(":")[0]
    return here.partition(".")[0] != there.partition(".")[0]


def _badness(consumer: Consumer) -> tuple[bool, int, int, str, int]:
    lost = consumer.tests_lost.count if consumer.tests_lost else 0
    return (
        consumer.updated,
        _ORDER.index(consumer.impact),
        -lost,
        consumer.path,
        consumer.line,
    )
