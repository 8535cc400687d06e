"""Every folder of `rules/` finds what its `bad/` example expects, and nothing in `good/`."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from contract_guard.detectors.run import run
from contract_guard.findings import SEVERITIES, Finding
from contract_guard.project.config import read_config
from contract_guard.project.rules import load_rules, rules_directory
from contract_guard.project.snapshot import load
from contract_guard.registry.index import build

RULES = load_rules()
# Rules whose input is more than one tree: a baseline, a lock file, a base revision.
ELSEWHERE = frozenset({"CG107", "CG902", "CG310", "CG501", "CG502", "CG503", "CG504"})
IDS = sorted(set(RULES) - ELSEWHERE)

# What a suppression comment suppresses has to be looked for as well.
TOGETHER = {"CG901": ("CG101", "CG102", "CG103")}

_EXPECT = re.compile(r"#\s*expect:\s*(?P<what>.*)$")
_IMPACTS = frozenset({"collection-error", "runtime-error", "always-skipped", "silent"})


class Expected(NamedTuple):
    """What one example comment asks for; None where it leaves the answer open."""

    path: str
    line: int
    symbol: str
    severity: str
    impact: str | None
    lost: int | None


def expectations(root: Path, rule: str) -> list[Expected]:
    found: list[Expected] = []
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.pyi")]):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_bytes().decode("latin-1").split("\n"), start=1):
            match = _EXPECT.search(line)
            for part in match["what"].split(";") if match else ():
                expected = parse(name, number, part)
                if expected[0] == rule:
                    found.append(expected[1])
    return found


def parse(path: str, line: int, text: str) -> tuple[str, Expected]:
    rule, symbol, *words = text.split()
    severity, impact, lost = RULES[rule].severity, None, None
    for word in words:
        if word in SEVERITIES:
            severity = word
        elif word in _IMPACTS:
            impact = word
        elif word.startswith("lost="):
            lost = int(word.removeprefix("lost="))
        else:
            raise AssertionError(f"{path}:{line}: {word!r} is no severity, impact or lost=N")
    return rule, Expected(path, line, symbol, severity, impact, lost)


def check(root: Path, rule: str) -> list[Finding]:
    config = read_config(root)
    snapshot = load(root, config, fragments=True)
    findings = run(
        build(snapshot.tree),
        snapshot.read,
        select=(rule, *TOGETHER.get(rule, ())),
        patch_wrappers=config.patch_wrappers,
    )
    assert findings == sorted(findings, key=lambda finding: finding.sort_key)
    return [finding for finding in findings if finding.rule == rule]


def agree(finding: Finding, expected: Expected) -> bool:
    lost = finding.tests_lost.count if finding.tests_lost else 0
    return (
        (finding.path, finding.line, finding.symbol) == expected[:3]
        and finding.severity == expected.severity
        and expected.impact in (None, finding.impact)
        and expected.lost in (None, lost)
    )


@pytest.mark.parametrize("rule", IDS)
def test_bad(rule: str) -> None:
    root = rules_directory() / rule / "bad"
    expected, found = expectations(root, rule), check(root, rule)
    assert expected, "a bad example must say what it expects"
    missed = [each for each in expected if not any(agree(finding, each) for finding in found)]
    wrong = [
        (f.path, f.line, f.symbol, f.severity, f.impact, f.tests_lost and f.tests_lost.count)
        for f in found
        if not any(agree(f, each) for each in expected)
    ]
    assert (missed, wrong) == ([], [])
    assert Counter(e[:3] for e in expected) == Counter((f.path, f.line, f.symbol) for f in found)


@pytest.mark.parametrize("rule", IDS)
def test_good(rule: str) -> None:
    found = check(rules_directory() / rule / "good", rule)
    assert [(f.path, f.line, f.symbol, f.message) for f in found] == []


@pytest.mark.parametrize("rule", IDS)
def test_findings_say_what_to_do(rule: str) -> None:
    found = check(rules_directory() / rule / "bad", rule)
    for finding in found:
        assert finding.message
        assert finding.help
        assert finding.message[-1] not in ".!"
        assert (finding.line, finding.column) < (finding.end_line, finding.end_column)
        assert re.fullmatch(r"[0-9a-f]{16}", finding.fingerprint)
    places = Counter((f.rule, f.path, f.symbol, f.fingerprint) for f in found)
    assert len(places) >= len(found) / 4


def test_every_rule_is_complete() -> None:
    for rule_id, rule in RULES.items():
        folder = rules_directory() / rule_id
        assert rule.id == rule_id
        assert re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name), rule_id
        assert rule.summary.endswith("."), rule_id
        assert "\n" not in rule.summary, rule_id
        assert rule.why.strip(), rule_id
        assert rule.how_to_fix.strip(), rule_id
        wanted = ["bad", "good"] + ["fixed"] * (rule.fixable != "no")
        assert [name for name in wanted if not (folder / name).is_dir()] == [], rule_id


NAMES = {
    "CG101": ("missing-name", "error"),
    "CG102": ("missing-attribute", "error"),
    "CG103": ("stale-patch-target", "error"),
    "CG104": ("missing-module", "error"),
    "CG105": ("dead-guard", "warning"),
    "CG106": ("missing-fixture", "warning"),
    "CG201": ("constant-import", "note"),
    "CG202": ("private-constant", "note"),
    "CG203": ("copied-literal", "note"),
    "CG204": ("pinned-constant", "note"),
    "CG301": ("mirrored-logic", "warning"),
    "CG302": ("mirrored-helper", "warning"),
    "CG303": ("mirrored-predicate", "warning"),
    "CG304": ("shadow-copy", "warning"),
    "CG305": ("echoed-call", "warning"),
    "CG306": ("discarded-comparison", "warning"),
    "CG307": ("narrowed-inputs", "note"),
    "CG310": ("drifted-mirror", "error"),
    "CG401": ("divergent-constant", "note"),
    "CG402": ("divergent-rule", "note"),
    "CG901": ("unused-suppression", "warning"),
    "CG902": ("stale-baseline-entry", "warning"),
    "CG903": ("unreadable-file", "warning"),
}


def test_ids_names_and_severities_stay_what_they_are() -> None:
    """They are public: configurations, comments and baselines name them."""
    for rule_id in sorted(set(RULES) & set(NAMES)):
        rule = RULES[rule_id]
        assert (rule.name, rule.severity) == NAMES[rule_id]
