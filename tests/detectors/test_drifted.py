"""CG307 and CG310 of a change: what two states of a project tell together."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from contract_guard.detectors.base import Context
from contract_guard.detectors.drifted import (
    MOST_FILES,
    candidates,
    changed_functions,
    drifted_mirrors,
)
from contract_guard.detectors.mirrors import search_of
from contract_guard.detectors.narrowed import merged_inputs
from contract_guard.findings import Finding
from contract_guard.mirrors.copies import copies_in
from contract_guard.mirrors.pairs import pairs_in
from contract_guard.project.config import read_config
from contract_guard.project.rules import rules_directory
from contract_guard.project.snapshot import load
from contract_guard.registry.index import build

EXAMPLES = rules_directory() / "CG310"
TEST = "tests/test_router.py"
ROUTER = "pkg/router.py"


def context(root: Path) -> Context:
    snapshot = load(root, read_config(root), fragments=True)
    return Context(build(snapshot.tree), snapshot.read, snapshot.unreadable)


def drifted(before: Path, after: Path) -> list[Finding]:
    return list(drifted_mirrors(context(after), context(before), ()))


def looked_at(before: Context, after: Context) -> list[str]:
    return candidates(before, changed_functions(before.registry, after.registry))


@pytest.fixture
def edited(tmp_path: Path) -> Callable[..., list[Finding]]:
    """Findings after replacing texts in a copy of the example's older state."""

    def edit(path: str, *replacements: tuple[str, str]) -> list[Finding]:
        after = tmp_path / "after"
        shutil.copytree(EXAMPLES / "bad" / "before", after)
        text = (after / path).read_text()
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        (after / path).write_text(text)
        return drifted(EXAMPLES / "bad" / "before", after)

    return edit


def test_bad_example() -> None:
    root = EXAMPLES / "bad"
    found = drifted(root / "before", root / "after")
    lines = (root / "after" / TEST).read_text().splitlines()
    expected = [
        (TEST, number, line.split("expect: CG310 ")[1])
        for number, line in enumerate(lines, 1)
        if "expect: CG310" in line
    ]
    assert [(f.path, f.line, f.symbol) for f in found] == expected
    assert {(f.rule, f.severity, f.impact) for f in found} == {("CG310", "error", "silent")}
    assert [f.test for f in found] == [
        f"{TEST}::test_route",
        f"{TEST}::test_padding_has_weight",
    ]
    assert [(r.path, r.qualname) for f in found for r in f.related] == [
        (ROUTER, "route"),
        (ROUTER, "padding_mask"),
    ]


def test_good_example() -> None:
    """Names, comments, layout, the order of operands, code beside; both sides changed."""
    assert drifted(EXAMPLES / "good" / "before", EXAMPLES / "good" / "after") == []


def test_nothing_changed_looks_at_no_file() -> None:
    before = context(EXAMPLES / "bad" / "before")
    assert looked_at(before, context(EXAMPLES / "bad" / "before")) == []
    assert before.notices == []


def test_other_function_changed_looks_at_no_file(tmp_path: Path) -> None:
    after = tmp_path / "after"
    shutil.copytree(EXAMPLES / "bad" / "before", after)
    router = after / ROUTER
    router.write_text(router.read_text().replace("tokens % 7", "tokens % 9"))
    before = context(EXAMPLES / "bad" / "before")
    assert looked_at(before, context(after)) == []


def test_the_copy_changed_alone(edited: Callable[..., list[Finding]]) -> None:
    found = edited(TEST, ("scores + bias", "scores * bias"))
    assert [(f.path, f.symbol) for f in found] == [(TEST, "pkg.router:route")]
    assert "this copy of `pkg.router:route` changed" in found[0].message


def test_the_copy_is_written_out_now(edited: Callable[..., list[Finding]]) -> None:
    found = edited(
        TEST,
        ("    expected = expected / expected.sum(-1, keepdim=True) * 1.5\n", ""),
        ("torch.gather(scores, -1, expected_chosen)", "torch.tensor([[1.0, 0.5]])"),
        ("torch.topk(scores + bias, 2, dim=-1).indices", "torch.tensor([[1, 0]])"),
    )
    assert found == []


def test_both_changed(tmp_path: Path) -> None:
    after = tmp_path / "after"
    shutil.copytree(EXAMPLES / "bad" / "after", after)
    test = after / TEST
    text = test.read_text().replace(
        "expected / expected.sum(-1, keepdim=True)",
        "expected / (expected.sum(-1, keepdim=True) + 1e-20)",
    )
    test.write_text(text)
    found = drifted(EXAMPLES / "bad" / "before", after)
    assert [f.symbol for f in found] == ["pkg.router:padding_mask"]


def test_changed_under_another_constant(edited: Callable[..., list[Finding]]) -> None:
    found = edited(ROUTER, ("softplus(logits).sqrt()", "softplus(logits, 2.0).sqrt()"))
    assert [f.symbol for f in found] == ["pkg.router:route"]


def test_removed_production_is_for_other_rules(edited: Callable[..., list[Finding]]) -> None:
    assert edited(ROUTER, ("def route(", "def route_all(")) == []


def test_many_files_are_bounded(tmp_path: Path) -> None:
    for state in ("before", "after"):
        shutil.copytree(EXAMPLES / "bad" / state, tmp_path / state)
        for number in range(MOST_FILES + 5):
            source = tmp_path / state / TEST
            shutil.copy(source, source.with_name(f"test_router_{number}.py"))
    before, after = context(tmp_path / "before"), context(tmp_path / "after")
    assert len(looked_at(before, after)) == MOST_FILES
    assert before.notices == [
        "mirrors: 46 test files may copy what changed; the 40 that share most with it were "
        "compared, the first left out is tests/test_router_44.py"
    ]


def test_pairs_have_two_places_with_fingerprints() -> None:
    search = search_of(context(EXAMPLES / "bad" / "before"))
    routed, masked = pairs_in(search, copies_in(search, TEST))
    assert (routed.test.path, routed.test_qualname) == (TEST, "test_route")
    assert (routed.production.path, routed.production_qualname) == (ROUTER, "route")
    assert routed.test_fingerprint != routed.production_fingerprint
    assert len(routed.production_fingerprint) == 16
    assert masked.test_fingerprint == masked.production_fingerprint
    assert masked.aligned == ((19, 9),)


def test_fingerprints_ignore_names_layout_and_order() -> None:
    sides = [
        next(pairs_in(search, copies_in(search, TEST))).production_fingerprint
        for state in ("before", "after")
        for search in [search_of(context(EXAMPLES / "good" / state))]
    ]
    assert sides[0] == sides[1]


INPUTS = """import torch
from pkg.router import PAD, SENTINEL, padding_mask

def test_mask():
    ids = torch.tensor({})
    assert padding_mask(ids).any()
"""


@pytest.mark.parametrize(
    ("before", "after", "symbol"),
    [
        ("[42, SENTINEL, PAD, 129257]", "[42, SENTINEL, SENTINEL, 129257]", "pkg.router:PAD"),
        ("[PAD, SENTINEL]", "[SENTINEL, SENTINEL]", "pkg.router:PAD"),
        ("[42, SENTINEL, PAD]", "[42, SENTINEL, 129279]", None),
        ("[42, SENTINEL, PAD]", "[42, PAD, SENTINEL]", None),
        ("[42, SENTINEL, SENTINEL]", "[7, SENTINEL, SENTINEL]", None),
        ("[42, SENTINEL, PAD]", "[42, SENTINEL]", None),
        ("[1, 2, PAD]", "[3, 3, SENTINEL]", None),
    ],
)
def test_inputs_made_equal(tmp_path: Path, before: str, after: str, symbol: str | None) -> None:
    for state, ids in (("before", before), ("after", after)):
        shutil.copytree(EXAMPLES / "good" / "before", tmp_path / state)
        (tmp_path / state / "tests" / "test_mask.py").write_text(INPUTS.format(ids))
    found = list(merged_inputs(context(tmp_path / "after"), context(tmp_path / "before"), ()))
    assert [(f.rule, f.severity, f.path, f.line, f.symbol) for f in found] == (
        [("CG307", "warning", "tests/test_mask.py", 5, symbol)] if symbol else []
    )
