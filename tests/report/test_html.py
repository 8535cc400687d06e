"""The page of `--format html`, as a browser would take it apart."""

from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.findings import Finding, Related, TestsLost
from contract_guard.project.rules import Rule
from contract_guard.report import Cache, Report, Screen, Summary, render

RULES = {"CG101": Rule("CG101", "missing-name", "error", "summary", "why", "how")}


def finding(path: str = "tests/test_gate.py", text: str = "gone", line: int = 1) -> Finding:
    return Finding(
        rule="CG101",
        severity="error",
        impact="collection-error",
        path=path,
        line=line,
        column=24,
        end_line=line,
        end_column=27,
        symbol=f"gate:{text}",
        tests_lost=TestsLost(28, True, (f"{path}::test_{text}",)),
        message=text,
        help=text,
        fingerprint="0123456789abcdef",
        related=(Related(path, 1, 9, text, text),),
    )


def page(*findings: Finding, source: str = "from gate import BASE, PAD") -> str:
    report = Report(
        findings=findings,
        summary=Summary(
            files=9,
            lines=400,
            tests=32,
            findings={},
            tests_at_risk=0,
            unresolved={},
            seconds=0.25,
            cache=Cache(),
        ),
        closing="",
        sources={finding.path: (source,) for finding in findings},
        rules=RULES,
    )
    return render(report, "html", Screen())


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.marked = ""
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "mark":
            self.marked += data


def test_a_finding_an_article_with_its_range_marked() -> None:
    parsed = Page(page(finding()))
    assert parsed.tags["article"] == 1
    assert parsed.marked == "PAD"
    assert ("data-path", "tests/test_gate.py") in parsed.attributes
    assert ("data-impact", "collection-error") in parsed.attributes


def test_needs_nothing_from_elsewhere() -> None:
    parsed = Page(page(finding()))
    names = {name for name, _ in parsed.attributes}
    assert names.isdisjoint({"src", "href", "action", "srcset", "onclick"})
    assert "url(" not in page(finding())
    assert "default-src 'none'" in page(finding())


def test_one_edge_of_the_graph_for_each_symbol_and_file() -> None:
    twice = Page(page(finding(), finding(line=2), finding("tests/test_b.py")))
    assert twice.tags["path"] == 2
    assert Page(page()).tags["svg"] == 0


def test_very_many_findings_are_cut_and_counted() -> None:
    text = page(*(finding(line=n) for n in range(1, 5_004)))
    assert Page(text).tags["article"] == 5_000
    assert "3 more findings left out of this page." in text


pieces = [
    "<script>",
    "</script>",
    "<!--",
    "-->",
    '"',
    "'",
    "&lt;",
    "\x1b[0m",
    "\n",
    "]]>",
    "\udcff",
]


@pytest.mark.filterwarnings("error")
@given(text=st.lists(st.sampled_from(pieces) | st.characters(), max_size=20).map("".join))
def test_hostile_text_adds_no_element(text: str) -> None:
    text = f"x{text}"
    plain, odd = Page(page(finding())), Page(page(finding(text, text), source=text))
    assert odd.tags["mark"] in (0, 1)
    for tag in set(plain.tags) | set(odd.tags):
        if tag not in ("mark", "pre"):
            assert odd.tags[tag] == plain.tags[tag], tag
    assert {name for name, _ in odd.attributes} <= {name for name, _ in plain.attributes}
