"""Which findings of a comparison `diff BASE --fix` mends: `fixable`, told by both revisions."""

from collections.abc import Collection, Iterable

import msgspec

from contract_guard.detectors.drift import BREAKING
from contract_guard.facts.model import ModuleFacts
from contract_guard.findings import Finding, Fixable
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Knowledge
from contract_guard.registry.model import Change

MENDED = (*BREAKING, "CG107")
"""The rules of which a comparison has findings that can be mended."""


def by_symbol(changes: Iterable[Change]) -> dict[str, Change]:
    """What became of each name and module."""
    return {change.symbol: change for change in changes if change.kind != "added"}


def with_fixable(
    findings: Iterable[Finding], rules: Collection[str], knowledge: Knowledge
) -> list[Finding]:
    """The findings, with what the fixes of `rules` can do about each. An edit that would bring
    another finding is found out only when it is made."""
    files: dict[str, File] = {}
    return [
        msgspec.structs.replace(finding, fixable=level)
        if (level := _fixable(finding, rules, knowledge, files)) != finding.fixable
        else finding
        for finding in findings
    ]


def _fixable(
    finding: Finding, rules: Collection[str], knowledge: Knowledge, files: dict[str, File]
) -> Fixable:
    if finding.rule not in rules:
        return "no"
    # With libcst, which a comparison without findings has no need of.
    from contract_guard.fixes.plan import fix_for

    try:
        if finding.path not in files:
            files[finding.path] = _file(finding.path, knowledge)
        return fix_for(files[finding.path], finding, knowledge).safety
    except CannotFix:
        return "no"


def _file(path: str, knowledge: Knowledge) -> File:
    facts = knowledge.registry.tree.files.get(path)
    if not isinstance(facts, ModuleFacts):
        raise CannotFix("the file cannot be read")
    return File(path, knowledge.read(path), facts)
