"""What a change breaks: the findings that are new, joined with the contracts that changed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from contract_guard.detectors.carried import with_carried
from contract_guard.facts.model import Import, ModuleFacts, PatchTarget
from contract_guard.findings import Finding
from contract_guard.registry.contents import value_text
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, ChangeKind, Consumer, ConsumerForm, Place

# The rules that tell of a name that is gone.
BREAKING = ("CG101", "CG102", "CG103", "CG104", "CG105", "CG106")
_FORMS: dict[str, ConsumerForm] = {
    "CG101": "import",
    "CG102": "attribute",
    "CG103": "patch",
    "CG104": "import",
    "CG105": "import",
    "CG106": "fixture",
    "CG107": "call",
    "CG203": "literal",
    "CG310": "mirror",
}
Origin = Literal["change", "merge"]


class Side(NamedTuple):
    """A registry and what the rules found in it."""

    registry: Registry
    findings: Sequence[Finding]


def fresh(new: Side, *known: Side) -> list[Finding]:
    """Findings of `new` that none of `known` has.

    A finding in a file that was moved is known where the old file had one of the same rule on the
    same symbol; so is a missing name of a module that was missing as a whole.
    """
    fingerprints = {finding.fingerprint for side in known for finding in side.findings}
    modules = {(f.path, f.symbol) for side in known for f in side.findings if f.rule == "CG104"}
    left = [
        Counter((f.rule, f.symbol) for f in side.findings if f.path not in new.registry.tree.files)
        for side in known
    ]
    found: list[Finding] = []
    for finding in new.findings:
        if finding.fingerprint in fingerprints:
            continue
        if (finding.path, finding.symbol.partition(":")[0]) in modules:
            continue
        key = (finding.rule, finding.symbol)
        carried = [
            counter
            for side, counter in zip(known, left, strict=True)
            if counter[key] and finding.path not in side.registry.tree.files
        ]
        for counter in carried:
            counter[key] -= 1
        if not carried:
            found.append(finding)
    return found


# Of symbols that are still there, what it was that changed: by what their consumers repeat.
_KEPT: dict[ConsumerForm, ChangeKind] = {"mirror": "rule-changed", "literal": "value-changed"}


def join(
    changes: Iterable[Change],
    findings: Iterable[Finding],
    old: Registry,
    new: Registry,
    origin: Origin = "change",
) -> list[Change]:
    """The changes with the consumers that the findings say are broken, and with those that fail
    with them.

    A finding on a symbol of which no change is known makes one: with an old place where the
    symbol was there, without one where it is named for the first time. Findings on a test's own
    values (CG307) belong to no symbol, and stand for themselves.
    """
    by_symbol = {change.symbol: change for change in changes if change.kind != "added"}
    broken: dict[str, list[Consumer]] = {}
    found: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.rule not in _FORMS:
            continue
        symbol = _changed_symbol(finding, by_symbol, old)
        broken.setdefault(symbol, []).append(_consumer(finding, new, origin))
        found.setdefault(symbol, []).append(finding)
    joined = [
        with_carried(
            _with_broken(change, broken.pop(change.symbol, ())), found.get(change.symbol, ()), new
        )
        if change.kind != "added"
        else change
        for change in changes
    ]
    for symbol, consumers in broken.items():
        change = Change(symbol=symbol, kind="removed", old=place_of(old, symbol), new=None)
        kind = _KEPT.get(consumers[0].form)
        if kind and all(consumer.form == consumers[0].form for consumer in consumers):
            change = msgspec.structs.replace(change, kind=kind, new=place_of(new, symbol))
        joined.append(_with_broken(change, consumers))
    return joined


def _changed_symbol(finding: Finding, known: Mapping[str, Change], old: Registry) -> str:
    """The changed symbol behind the one that is missing: what a package passed on, by a star
    import say, or a module above it."""
    if finding.symbol in known:
        return finding.symbol
    if finding.rule != "CG106":
        producer = old.producer(finding.symbol)
        if producer is not None and producer.symbol in known:
            return producer.symbol
    return finding.symbol


def _consumer(finding: Finding, registry: Registry, origin: Origin) -> Consumer:
    form = _FORMS[finding.rule]
    facts = registry.tree.files.get(finding.path)
    is_read = isinstance(facts, ModuleFacts)
    if form == "patch" and not _is_marked(finding, facts.patches if is_read else ()):
        form = "assignment"
    if finding.rule == "CG101" and not _is_marked(finding, facts.imports if is_read else ()):
        form = "attribute"
    return Consumer(
        path=finding.path,
        line=finding.line,
        form=form,
        test=finding.test,
        tests_lost=finding.tests_lost,
        impact=finding.impact,
        origin=origin,
    )


def _is_marked(finding: Finding, places: Iterable[PatchTarget] | Iterable[Import]) -> bool:
    """Whether the finding stands at one of the places."""
    here = (finding.line, finding.column)
    return any((place.span.line, place.span.column) == here for place in places)


def _with_broken(change: Change, broken: Sequence[Consumer]) -> Change:
    if not broken:
        return change
    places = {(consumer.path, consumer.line) for consumer in broken}
    paths = {consumer.path for consumer in broken}
    others = [
        consumer
        for consumer in change.consumers
        if (consumer.path, consumer.line) not in places
        and not (consumer.updated and consumer.path in paths)
    ]
    return msgspec.structs.replace(change, consumers=(*broken, *others))


def place_of(registry: Registry, symbol: str) -> Place | None:
    """Where a symbol is defined, None where it is not, or nobody can say."""
    producer = registry.producer(symbol)
    if producer is None:
        return None
    return Place(producer.path, producer.span.line, value_text(registry, producer.symbol))


def with_new_names(findings: Iterable[Finding], changes: Iterable[Change]) -> list[Finding]:
    """The findings, each with what its name became in place of a guess."""
    became = {change.symbol: change for change in changes if change.replacement is not None}
    return [_with_new_name(finding, became) for finding in findings]


def _with_new_name(finding: Finding, became: Mapping[str, Change]) -> Finding:
    symbol = finding.symbol
    for known in (symbol, symbol.replace(":", "."), symbol.partition(":")[0]):
        change = became.get(known)
        if change is None or change.replacement in (None, symbol) or finding.rule not in BREAKING:
            continue
        new = change.replacement.replace(":", ".")
        if f"`{change.replacement.partition(':')[0]}`" in finding.help:
            continue  # it says even more
        kind = "moved" if change.kind == "moved" else "renamed"
        return msgspec.structs.replace(
            finding, help=f"`{known.replace(':', '.')}` was {kind} to `{new}`"
        )
    return finding
