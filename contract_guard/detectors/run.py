"""All rules over one registry: selection, suppression comments, order."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import pathspec

from contract_guard.detectors import (
    constants,
    copied_enums,
    divergent,
    echoes,
    fixtures,
    guards,
    hygiene,
    mirrors,
    names,
    narrowed,
    patches,
)
from contract_guard.detectors.base import Context, Detector
from contract_guard.detectors.fixable import fixable
from contract_guard.detectors.suppress import Suppression, suppressions
from contract_guard.facts.model import Unreadable
from contract_guard.findings import Finding, Severity
from contract_guard.mirrors.copies import CopiesOf
from contract_guard.registry.index import Registry

Detectors = Sequence[tuple[frozenset[str], Detector]]
Level = Severity | Literal["off"]

# Each detector with the rules whose findings it gives. Those of the first kind look at one file
# after the other, and what they find stands in that file; those of the second look at all.
BY_FILE: Detectors = (
    (frozenset({"CG101", "CG104"}), names.missing_imports),
    (frozenset({"CG101"}), names.unbound_names),
    (frozenset({"CG102"}), names.missing_attributes),
    (frozenset({"CG103"}), patches.stale_targets),
    (frozenset({"CG105"}), guards.dead_guards),
    (frozenset({"CG106"}), fixtures.missing_fixtures),
    (frozenset({"CG201", "CG202"}), constants.constant_imports),
    (frozenset({"CG203"}), constants.copied_literals),
    (frozenset({"CG204"}), constants.pinned_constants),
    (frozenset({"CG305"}), echoes.echoed_calls),
    (frozenset({"CG306"}), mirrors.discarded_comparisons),
)
OVER_ALL: Detectors = (
    (frozenset({"CG301", "CG302", "CG303", "CG304"}), mirrors.mirrored),
    (frozenset({"CG307"}), narrowed.narrowed_inputs),
    (frozenset({"CG401"}), divergent.divergent_constants),
    (frozenset({"CG401"}), copied_enums.divergent_enums),
    (frozenset({"CG402"}), divergent.divergent_rules),
    (frozenset({"CG903"}), hygiene.unreadable),
)
DETECTORS: Detectors = (*BY_FILE, *OVER_ALL)
RULES: frozenset[str] = frozenset({"CG901"}).union(*(rules for rules, _ in DETECTORS))


def run(
    registry: Registry,
    read: Callable[[str], bytes],
    *,
    rules: Collection[str] = RULES,
    detectors: Detectors = DETECTORS,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    severity: Mapping[str, Level] | None = None,
    known: Collection[str] = RULES,
    unreadable: Mapping[str, Unreadable] | None = None,
    version_predicates: Collection[str] = (),
    patch_wrappers: Collection[str] = (),
    copies_of: CopiesOf | None = None,
) -> list[Finding]:
    """Findings of all selected rules, sorted, without those that a comment suppresses.

    `rules` are those that take part at all, `detectors` what finds them. `select` and `ignore`
    hold rule ids or prefixes of them; an empty `select` means all rules, and the longer of two
    that fit wins. The keys of `per_file_ignores` are gitignore patterns. `severity` replaces a
    rule's own severity; "off" is as good as `ignore`. `known` are the ids that a suppression
    comment may name, those of other commands too. `unreadable` are the files and directories
    without facts, by default those of the registry's tree.
    """
    if unreadable is None:
        files = registry.tree.files.items()
        unreadable = {path: facts for path, facts in files if isinstance(facts, Unreadable)}
    context = Context(registry, read, unreadable, version_predicates, patch_wrappers, copies_of)
    chosen = chosen_rules(rules, select, ignore, severity)
    found = detect(context, chosen, detectors)
    return settle(
        context, found, chosen, per_file_ignores=per_file_ignores, severity=severity, known=known
    )


def chosen_rules(
    rules: Collection[str],
    select: Sequence[str],
    ignore: Sequence[str],
    severity: Mapping[str, Level] | None = None,
) -> frozenset[str]:
    """Those of `rules` that run (`run` tells what the other arguments mean)."""
    levels = severity or {}
    return frozenset(r for r in rules if levels.get(r) != "off" and is_selected(r, select, ignore))


def detect(context: Context, chosen: Collection[str], detectors: Detectors) -> list[Finding]:
    """What the detectors find of the chosen rules, suppressed or not."""
    return [
        finding
        for given, detector in detectors
        if not given.isdisjoint(chosen)
        for finding in detector(context)
        if finding.rule in chosen
    ]


def settle(
    context: Context,
    found: Iterable[Finding],
    chosen: Collection[str],
    *,
    per_file_ignores: Mapping[str, Sequence[str]] | None = None,
    severity: Mapping[str, Level] | None = None,
    known: Collection[str] = RULES,
) -> list[Finding]:
    """What is left of findings of all the chosen rules, as they are reported."""
    levels = severity or {}
    found = _without_suppressed(context, found, chosen, known)
    ignored = [
        (pathspec.GitIgnoreSpec.from_lines([pattern]), tuple(rules))
        for pattern, rules in (per_file_ignores or {}).items()
    ]
    kept = {
        (finding.sort_key, finding.message): _with_level(finding, levels)
        for finding in found
        if not any(
            finding.rule.startswith(rules) and spec.match_file(finding.path)
            for spec, rules in ignored
        )
    }
    found = [_with_fixable(context.registry, finding) for finding in kept.values()]
    return sorted(found, key=lambda finding: (finding.sort_key, finding.message))


def is_selected(rule: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether a rule runs: the longer of two ids or prefixes that fit wins."""
    chosen = max((len(prefix) for prefix in select or ("",) if rule.startswith(prefix)), default=-1)
    dropped = max((len(prefix) for prefix in ignore if rule.startswith(prefix)), default=-1)
    return chosen > dropped


def _with_level(finding: Finding, levels: Mapping[str, Level]) -> Finding:
    level = levels.get(finding.rule, finding.severity)
    if level in ("off", finding.severity):
        return finding
    return msgspec.structs.replace(finding, severity=level)


def _with_fixable(registry: Registry, finding: Finding) -> Finding:
    level = fixable(registry, finding)
    return finding if level == "no" else msgspec.structs.replace(finding, fixable=level)


def _without_suppressed(
    context: Context, found: Iterable[Finding], chosen: Collection[str], known: Collection[str]
) -> list[Finding]:
    """What no comment suppresses, and CG901 for the comments that suppress nothing.

    Says nothing of comments for rules that did not run.
    """
    by_path: dict[str, list[Finding]] = {}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)
    for path, facts in context.registry.facts():
        if not facts.has_suppressions:
            continue
        comments = suppressions(context.read(path))
        here = by_path.get(path, [])
        used = {id(c) for c in comments if any(c.covers(finding) for finding in here)}
        kept = [f for f in here if not any(comment.covers(f) for comment in comments)]
        if "CG901" in chosen:
            unused = [c for c in comments if id(c) not in used and _is_idle(c, chosen, known)]
            fresh = hygiene.unused_suppressions(path, unused, known)
            kept += [f for f in fresh if not any(comment.covers(f) for comment in comments)]
        by_path[path] = kept
    return [finding for path in by_path for finding in by_path[path]]


def _is_idle(comment: Suppression, chosen: Collection[str], known: Collection[str]) -> bool:
    return bool(comment.problem) or comment.rule in chosen or comment.rule not in known
