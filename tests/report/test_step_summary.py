"""The markdown of `$GITHUB_STEP_SUMMARY`."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from contract_guard.findings import Finding
from contract_guard.project.rules import Rule
from contract_guard.report import Cache, Report, Screen, Summary
from contract_guard.report.step_summary import plain, render
from contract_guard.text import printable

RULES = {"CG101": Rule("CG101", "missing-name", "error", "summary", "why", "how")}


def finding(path: str = "tests/test_gate.py", message: str = "gone", line: int = 2) -> Finding:
    return Finding(
        rule="CG101",
        severity="error",
        impact="collection-error",
        path=path,
        line=line,
        column=1,
        end_line=line,
        end_column=2,
        symbol="gate:PAD",
        message=message,
        help="",
        fingerprint="0123456789abcdef",
    )


def report(*findings: Finding) -> Report:
    summary = Summary(
        files=9,
        lines=400,
        tests=32,
        findings={},
        tests_at_risk=0,
        unresolved={},
        seconds=0.25,
        cache=Cache(),
    )
    return Report(findings=findings, summary=summary, closing="", sources={}, rules=RULES)


def cells(markdown: str) -> list[str]:
    """The text of the table's cells after its heading; anything but text fails."""
    parser = MarkdownIt().enable("table")
    inline = [token for token in parser.parse(markdown) if token.type == "inline"]
    for token in inline:
        assert {child.type for child in token.children or ()} <= {"text", "text_special"}
    return ["".join(child.content for child in token.children or ()) for token in inline]


def test_a_row_a_finding_the_verdict_last() -> None:
    text = render(report(finding()), Screen())
    assert text.startswith("## contract-guard\n\n| severity | place | rule | finding |\n|---|")
    assert cells(text)[5:] == [
        "error",
        "tests/test_gate.py:2",
        "CG101 missing-name",
        "collection error: gone",
        "1 error. 9 files, 32 tests looked at.",
    ]


def test_nothing_found() -> None:
    assert "| severity" not in render(report(), Screen())
    assert "No findings" in render(report(), Screen())


def test_very_many_are_cut_and_counted() -> None:
    findings = [finding(line=n, message="m" * 5_000) for n in range(1, 104)]
    text = render(report(*findings), Screen())
    assert "\n3 more findings not shown here.\n" in text
    assert len(text.encode()) < 1 << 20


pieces = [
    "|",
    "<b>",
    "`",
    "[a](https://x.example)",
    "@all",
    "https://x.example",
    "\n",
    "\x1b[0m",
    "\\",
]


@given(text=st.lists(st.sampled_from(pieces) | st.characters(), max_size=20).map("".join))
def test_hostile_text_stays_text(text: str) -> None:
    path = f"x{text}y"
    found = cells(render(report(finding(path, path)), Screen()))
    assert found[6] == f"{printable(path)}:2"
    assert found[8] == f"collection error: {printable(path)}"
    assert len(found) == 10
    assert "https://" not in plain(text)
    assert "@all" not in plain(text).replace("\\@", "")
