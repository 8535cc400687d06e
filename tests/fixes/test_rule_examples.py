"""Every fixable rule's example becomes what its `fixed/` says, byte for byte, and then stays."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contract_guard.findings import Finding
from contract_guard.project.check import check
from contract_guard.project.config import read_config
from contract_guard.project.fixing import mend_check, write_files
from contract_guard.project.mending import Mended
from contract_guard.project.rules import load_rules, rules_directory

Fix = Callable[..., Any]
_MENDED = sorted(rule.id for rule in load_rules().values() if rule.fixable != "no")
OF_CHANGES = [rule for rule in _MENDED if (rules_directory() / rule / "bad" / "before").exists()]
FIXABLE = [rule for rule in _MENDED if rule not in OF_CHANGES]
# What a suppression comment suppresses has to be looked for as well.
TOGETHER = {"CG901": ("CG101", "CG102", "CG103")}


def findings(root: Path, rule: str) -> list[Finding]:
    select = (rule, *TOGETHER.get(rule, ()))
    return [f for f in check(root, read_config(root), select=select).findings if f.rule == rule]


def mended(root: Path, rule: str, *, unsafe: bool = True) -> Mended:
    select = (rule, *TOGETHER.get(rule, ()))
    found = findings(root, rule)
    return mend_check(root, read_config(root), found, select=select, unsafe=unsafe)


def contents(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.parametrize("rule", FIXABLE)
def test_an_example_becomes_what_its_rule_says(rule: str, tmp_path: Path) -> None:
    folder = rules_directory() / rule
    root = tmp_path / "bad"
    shutil.copytree(folder / "bad", root)
    before = contents(root)
    first = mended(root, rule)
    assert write_files(root, first) == []
    after = contents(root)
    assert {p: after[p] for p in after if after[p] != before.get(p)} == contents(folder / "fixed")
    assert after.keys() == before.keys()
    places = {(f.path, f.symbol, f.line) for f, _ in first.fixed}
    assert not places & {(f.path, f.symbol, f.line) for f in findings(root, rule)}
    assert mended(root, rule).files == {}


@pytest.mark.parametrize("rule", FIXABLE)
def test_what_is_said_to_be_fixable_is(rule: str) -> None:
    """A finding that is called safe has a safe fix, or the reason why not is told."""
    root = rules_directory() / rule / "bad"
    found = findings(root, rule)
    assert any(f.fixable != "no" for f in found)
    result = mended(root, rule, unsafe=False)
    told = {(f.path, f.line, f.symbol) for f, _ in (*result.fixed, *result.refused, *result.unsafe)}
    assert {(f.path, f.line, f.symbol) for f in found} <= told
    assert all(fix.safety == "safe" for _, fix in result.fixed)
    unsafe = {(f.path, f.line, f.symbol) for f, _ in result.unsafe}
    assert not unsafe & {(f.path, f.line, f.symbol) for f in found if f.fixable == "safe"}


@pytest.mark.parametrize("rule", FIXABLE)
def test_a_good_example_is_left_alone(rule: str) -> None:
    assert mended(rules_directory() / rule / "good", rule).files == {}


@pytest.mark.parametrize("rule", OF_CHANGES)
def test_an_example_of_a_change_becomes_what_its_rule_says(fix: Fix, rule: str) -> None:
    folder = rules_directory() / rule
    base, now = (contents(folder / "bad" / state) for state in ("before", "after"))
    first = fix(now, base=base)
    assert rule in first.rules
    assert {path: pair[1] for path, pair in first.mended.files.items()} == contents(
        folder / "fixed"
    )
    assert fix(first.files, base=base).mended.files == {}


@pytest.mark.parametrize("rule", OF_CHANGES)
def test_a_good_example_of_a_change_is_left_alone(fix: Fix, rule: str) -> None:
    base, now = (contents(rules_directory() / rule / "good" / s) for s in ("before", "after"))
    assert fix(now, base=base).mended.files == {}
