"""Rules that only a comparison can tell: their examples hold a project before and after."""

import re
from pathlib import Path

import pytest

from contract_guard.findings import Finding
from contract_guard.project.diff import diff_releases
from contract_guard.project.rules import rules_directory

IDS = sorted(path.parent.parent.name for path in rules_directory().glob("*/bad/before"))
_EXPECT = re.compile(r"#\s*expect: (?P<what>.*)$", re.MULTILINE)


def found(example: Path, rule: str) -> list[Finding]:
    places = (str(example / "before"), str(example / "after"))
    return [f for f in diff_releases(*places, cache_dir=None).findings if f.rule == rule]


def expected(root: Path) -> list[str]:
    return sorted(
        f"{path.relative_to(root).as_posix()}:{number} {match['what']}"
        for path in root.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := _EXPECT.search(line))
    )


@pytest.mark.parametrize("rule", IDS)
def test_bad(rule: str) -> None:
    example = rules_directory() / rule / "bad"
    said = [
        f"{f.path}:{f.line} {f.rule} {f.symbol} {f.impact}"
        + (f" lost={f.tests_lost.count}" if f.tests_lost else "")
        for f in found(example, rule)
    ]
    assert sorted(said) == expected(example / "after") != []


@pytest.mark.parametrize("rule", IDS)
def test_good(rule: str) -> None:
    assert [
        (f.path, f.line, f.message) for f in found(rules_directory() / rule / "good", rule)
    ] == []
