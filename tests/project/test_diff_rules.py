"""Rules that only a comparison can tell: their examples hold a project before and after."""

import re
import shutil
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


def expected(root: Path) -> list[list[str]]:
    """`path:line`, rule, symbol, and what else the comment says."""
    return sorted(
        [f"{path.relative_to(root).as_posix()}:{number}", *match["what"].split()]
        for path in root.rglob("*.py")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (match := _EXPECT.search(line))
    )


def said(finding: Finding) -> list[str]:
    lost = finding.tests_lost.count if finding.tests_lost else 0
    place = f"{finding.path}:{finding.line}"
    return [place, finding.rule, finding.symbol, str(finding.impact), f"lost={lost}"]


@pytest.mark.parametrize("rule", IDS)
def test_bad(rule: str) -> None:
    example = rules_directory() / rule / "bad"
    findings, wanted = sorted(map(said, found(example, rule))), expected(example / "after")
    assert wanted
    assert [finding[:3] for finding in findings] == [want[:3] for want in wanted]
    assert [set(w) - set(f) for f, w in zip(findings, wanted, strict=True)] == [set()] * len(wanted)


@pytest.mark.parametrize("rule", IDS)
def test_good(rule: str) -> None:
    example = rules_directory() / rule / "good"
    assert [(f.path, f.line, f.message) for f in found(example, rule)] == []


def test_what_was_not_looked_at_is_said(tmp_path: Path) -> None:
    states = [tmp_path / "before", tmp_path / "after"]
    for state in states:
        shutil.copytree(rules_directory() / "CG310" / "bad" / state.name, state)
        source = state / "tests" / "test_router.py"
        for number in range(50):
            shutil.copy(source, source.with_name(f"test_router_{number}.py"))
    (notice,) = diff_releases(*map(str, states), cache_dir=None).notices
    assert notice.startswith("mirrors: 51 test files may copy what changed; the 40 that share most")
