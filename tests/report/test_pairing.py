"""A copy beside what it copies."""

import re

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from contract_guard.findings import Finding, Related
from contract_guard.project.rules import Rule
from contract_guard.report import Cache, Report, Screen, Summary, render
from contract_guard.report.html_pair import pair_table
from contract_guard.report.pairing import Gap, Row, block, paired, shortened, sides

TEST = (
    "def test_gate():",
    "    scores = torch.sqrt(softplus(x @ gate.weight.T))",
    "    mask = ids == SENTINEL",
    "    chosen = torch.topk(scores, 4)",
)
GATE = (
    "class Gate:",
    "    def forward(self, x):",
    "        scores = softplus(linear(x, self.weight)).sqrt()",
    "        scores = scores + self.bias",
    "        scores = scores - 1",
    "        return scores.topk(self.top_k)",
)
ALIGNED = ((2, 3), (4, 6))
RELATED = Related("gate.py", 3, 7, "Gate.forward", "the same rule", ALIGNED)
FINDING = Finding(
    rule="CG301",
    severity="warning",
    path="tests/test_gate.py",
    line=2,
    column=5,
    end_line=4,
    end_column=30,
    symbol="gate:Gate.forward",
    message="computed as production computes it",
    help="",
    fingerprint="0123456789abcdef",
    related=(RELATED,),
)


def numbers(rows: list[Row]) -> list[tuple[int | None, int | None, bool]]:
    return [(r.left and r.left.number, r.right and r.right.number, r.is_pair) for r in rows]


def shown(width: int, format: str = "rich") -> str:
    report = Report(
        findings=(FINDING,),
        summary=Summary(
            files=2,
            lines=10,
            tests=1,
            findings={"CG301": 1},
            tests_at_risk=0,
            unresolved={},
            seconds=0.1,
            cache=Cache(),
        ),
        closing="",
        sources={"tests/test_gate.py": TEST, "gate.py": GATE},
        rules={"CG301": Rule("CG301", "mirrored-logic", "warning", "summary", "why", "how")},
    )
    return render(report, format, Screen(width=width))


def test_pairs_stand_next_to_each_other() -> None:
    rows = paired(FINDING, RELATED, TEST, GATE)
    assert numbers(rows) == [(2, 3, True), (3, 4, False), (None, 5, False), (4, 6, True)]


def test_words_of_both_sides_are_marked_without_indent() -> None:
    first = paired(FINDING, RELATED, TEST, GATE)[0]
    assert first.left is not None
    text = first.left.text
    assert text.startswith("scores = torch")
    assert [text[a:b] for a, b in first.left.shared] == ["scores", "sqrt", "softplus", "weight"]


def test_nothing_aligned_gives_no_rows() -> None:
    bare = msgspec.structs.replace(RELATED, aligned=())
    assert paired(FINDING, bare, TEST, GATE) == []


def test_crossed_pairs_keep_the_longer_run() -> None:
    related = msgspec.structs.replace(RELATED, aligned=((2, 6), (3, 3), (4, 4)))
    rows = paired(FINDING, related, TEST, GATE)
    assert [row[:2] for row in numbers(rows) if row[2]] == [(3, 3), (4, 4)]
    left, right = sides(rows)
    assert [line.number for line in left if line.is_paired] == [2, 3, 4]
    assert [line.number for line in right if line.is_paired] == [3, 4, 6]


def test_only_long_runs_without_a_pair_are_left_out() -> None:
    test = tuple(f"    line_{n}" for n in range(1, 31))
    finding = msgspec.structs.replace(FINDING, line=1, end_line=30)
    related = msgspec.structs.replace(RELATED, line=1, end_line=3, aligned=((2, 1), (28, 2)))
    rows = paired(finding, related, test, GATE)
    left, _ = sides(rows)
    assert [item if isinstance(item, int) else item.number for item in block(left)] == [
        *(1, 2, 3),
        23,
        *(27, 28, 29, 30),
    ]
    assert [item for item in shortened(rows) if isinstance(item, Gap)] == [Gap(23, 0)]
    page = "\n".join(pair_table(finding, related, rows))
    beside, other = re.findall(r'<pre class="beside">(.*?)</pre>', page, re.DOTALL)
    assert ("23 more lines" in beside, "more line" in other) == (True, False)
    assert beside.count("\n") == other.count("\n")


pairs = st.lists(st.tuples(st.integers(1, 25), st.integers(1, 25)), min_size=1, max_size=30)


@given(pairs, st.integers(1, 25), st.integers(1, 25))
def test_every_aligned_line_is_shown_in_order(
    aligned: list[tuple[int, int]], first: int, last: int
) -> None:
    lines = tuple(f"    value_{n} = f({n})" for n in range(1, 26))
    finding = msgspec.structs.replace(FINDING, line=min(first, last), end_line=max(first, last))
    related = msgspec.structs.replace(RELATED, aligned=tuple(aligned))
    rows = paired(finding, related, lines, lines)
    for side, at in zip(sides(rows), (0, 1), strict=True):
        order = [line.number for line in side]
        assert order == sorted(set(order))
        kept = {line.number for line in block(side) if not isinstance(line, int)}
        assert {pair[at] for pair in aligned} <= kept
    kept_rows = [row for row in shortened(rows) if not isinstance(row, Gap)]
    assert {pair[0] for pair in aligned} <= {row.left.number for row in kept_rows if row.left}


def test_wide_terminal_shows_both_sides_in_one_line() -> None:
    lines = shown(130).split("\n")
    assert any(
        re.search(r"2 ┃ scores = torch.*= 3 ┃ scores = softplus\(linear", line) for line in lines
    )
    assert all(cell_len(line) <= 130 for line in lines)


def test_narrow_terminal_shows_one_below_the_other() -> None:
    lines = [line.strip() for line in shown(80).split("\n")]
    assert "see: gate.py:3 Gate.forward  the same rule" in lines
    assert lines.index("2 ┃ scores = torch.sqrt(softplus(x @ gate.weight.T))") < lines.index(
        "3 ┃ scores = softplus(linear(x, self.weight)).sqrt()"
    )


def test_long_lines_are_folded_not_cut() -> None:
    text = "".join(re.sub(r"^\s*\d*\s*[┃│] ", "", line) for line in shown(30).split("\n"))
    assert re.sub(r"\s", "", TEST[1]) in re.sub(r"\s", "", text)


def test_page_holds_both_sides_and_marks_words() -> None:
    page = shown(100, "html")
    assert '<b class="same">softplus</b>' in page
    assert page.count('<pre class="beside">') == 2
    beside = re.findall(r'<pre class="beside">(.*?)</pre>', page, re.DOTALL)
    assert len({side.count("\n") for side in beside}) == 1


def test_sarif_says_which_lines_are_the_same() -> None:
    assert "lines here = there: 2=3, 4=6" in shown(100, "sarif")
