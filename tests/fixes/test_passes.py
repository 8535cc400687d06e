"""The passes of the mending loop: they end, whatever the fixes do."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from contract_guard.facts.extract import extract
from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import Edit, Fix, Knowledge
from contract_guard.project import mending
from contract_guard.project.mending import Mended, Read, mend
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree

FILES = {"a.py": b"0\n", "b.py": b"0\n", "c.py": b"0\n"}


def finding(path: str, number: int = 0, symbol: str = "m:x") -> Finding:
    return Finding(
        rule="CG106",
        severity="error",
        path=path,
        line=1,
        column=1,
        end_line=1,
        end_column=2,
        symbol=symbol,
        message="",
        help="",
        impact="runtime-error",
        fixable="safe",
        fingerprint=f"{path} {symbol} {number}",
    )


def mended_by(
    monkeypatch: pytest.MonkeyPatch,
    findings: Sequence[Finding],
    fix_for: Callable[[File, Finding, Knowledge], Fix],
    find: Callable[[Read], Sequence[Finding]],
) -> Mended:
    monkeypatch.setattr(mending, "fix_for", fix_for)
    tree = Tree(files={path: extract(source) for path, source in FILES.items()})

    def found(_: Registry, read: Read, paths: Collection[str]) -> Sequence[Finding]:
        return [finding for finding in find(read) if finding.path in paths]

    return mend(Knowledge(build(tree), FILES.__getitem__), findings, found)


def becomes(path: str, text: str) -> Edit:
    return Edit(path, Span(1, 1, 1, 2), text)


def reasons(mended: Mended) -> list[str]:
    return [reason for _, reason in mended.refused]


def test_a_fix_without_an_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    mended = mended_by(
        monkeypatch,
        [finding("a.py")],
        lambda *_: Fix("safe", "", ()),
        lambda _: [finding("a.py")],
    )
    assert (mended.files, mended.fixed) == ({}, [])
    assert reasons(mended) == ["there is nothing to change"]


def test_a_fix_in_another_file_that_mends_its_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    mended = mended_by(
        monkeypatch,
        [finding("a.py")],
        lambda *_: Fix("safe", "", (becomes("b.py", "1"),)),
        lambda read: [finding("a.py")] if read("b.py") == b"0\n" else [],
    )
    assert mended.files == {"b.py": (b"0\n", b"1\n")}
    assert len(mended.fixed) == 1


def test_a_fix_in_another_file_that_mends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mended = mended_by(
        monkeypatch,
        [finding("a.py")],
        lambda *_: Fix("safe", "", (becomes("b.py", "1"),)),
        lambda _: [finding("a.py")],
    )
    assert (mended.files, mended.fixed) == ({}, [])
    assert reasons(mended) == ["the finding would stay"]


def test_fixes_that_undo_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each takes the finding of the other back."""

    def find(read: Read) -> list[Finding]:
        return [finding("a.py", symbol="m:x" if read("a.py") == b"0\n" else "m:y")]

    def fix_for(file: File, *_: object) -> Fix:
        return Fix("safe", "", (becomes("a.py", "1" if file.text.lines[0] == "0" else "0"),))

    mended = mended_by(monkeypatch, find(FILES.__getitem__), fix_for, find)
    assert mended.files == {}
    assert reasons(mended) == ["it would bring a new CG106 (m:y)"]


@pytest.mark.parametrize("is_circular", [True, False])
def test_findings_that_never_end(monkeypatch: pytest.MonkeyPatch, is_circular: bool) -> None:
    """Notes may come with a fix: each of these brings the next."""
    monkeypatch.setattr(mending, "MOST_PASSES", 7)
    most = 3 if is_circular else 10**6

    def number(read: Read) -> int:
        return len(read("a.py")) - 2

    def find(read: Read) -> list[Finding]:
        return [msgspec.structs.replace(finding("a.py", number(read)), severity="note")]

    def fix_for(file: File, *_: object) -> Fix:
        line = file.text.lines[0]
        new = "0" * (len(line) % most + 1)
        return Fix("safe", "", (Edit("a.py", Span(1, 1, 1, len(line) + 1), new),))

    mended = mended_by(monkeypatch, find(FILES.__getitem__), fix_for, find)
    passes = 2 if is_circular else 7
    assert mended.files == {"a.py": (b"0\n", b"0" * (passes + 1) + b"\n")}
    assert len(mended.fixed) == passes
    assert reasons(mended) == [
        "other fixes undo it" if is_circular else "7 passes over the files were made"
    ]


PATHS = st.sampled_from(sorted(FILES))
FIXES = st.lists(st.tuples(PATHS, st.lists(PATHS, max_size=3), st.booleans()), max_size=8)


@settings(max_examples=200)
@example([("a.py", ["a.py"], False), ("b.py", ["a.py"], False), ("b.py", ["b.py"], True)])
@given(fixes=FIXES)
def test_any_fixes_end(fixes: list[tuple[str, list[str], bool]]) -> None:
    """Each finding is mended, refused, or was mended along with another; none twice."""
    findings = [finding(path, i, f"m:x{i}") for i, (path, _, _) in enumerate(fixes)]

    def find(read: Read) -> list[Finding]:
        text = b"".join(map(read, FILES))
        return [f for i, f in enumerate(findings) if b"<%d>" % i not in text]

    def fix_for(_: File, of: Finding, __: Knowledge) -> Fix:
        i = findings.index(of)
        _, changed, works = fixes[i]
        mark = f"# <{i}>\n" if works else "#\n"
        return Fix("safe", "", tuple(Edit(p, Span(1, 1, 1, 1), mark) for p in changed))

    with pytest.MonkeyPatch.context() as monkeypatch:
        mended = mended_by(monkeypatch, findings, fix_for, find)
    fixed = Counter(each.symbol for each, _ in mended.fixed)
    refused = Counter(each.symbol for each, _ in mended.refused)
    assert fixed + refused == Counter(each.symbol for each in findings)
    for i, (_, changed, works) in enumerate(fixes):
        assert fixed[f"m:x{i}"] == (works and bool(changed))
