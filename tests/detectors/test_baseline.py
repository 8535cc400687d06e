"""The text of a baseline, and what is new beside it."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.detectors.baseline import (
    BaselineError,
    Entry,
    beyond,
    counts_of,
    dump,
    entries,
    parse,
    stale,
)
from contract_guard.findings import Finding

TEXT = """\
# contract-guard baseline 1: written by `contract-guard baseline update`, not by hand

tests/test_a.py
  CG101 00000000000000aa*2 pkg:A
  CG303 00000000000000bb pkg:B

tests/test_b.py
  CG101 00000000000000cc pkg:C
"""


def finding(
    mark: str, line: int = 1, path: str = "tests/test_a.py", symbol: str = "pkg:A"
) -> Finding:
    return Finding(
        rule="CG101",
        severity="error",
        path=path,
        line=line,
        column=1,
        end_line=line,
        end_column=2,
        symbol=symbol,
        message="gone",
        help="",
        fingerprint=mark * 16,
    )


def test_the_text_is_sorted_a_line_an_entry() -> None:
    counts = {
        Entry("tests/test_b.py", "CG101", "pkg:C", "00000000000000cc"): 1,
        Entry("tests/test_a.py", "CG303", "pkg:B", "00000000000000bb"): 1,
        Entry("tests/test_a.py", "CG101", "pkg:A", "00000000000000aa"): 2,
    }
    assert dump(counts) == TEXT
    assert {entry: known.times for entry, known in parse(TEXT).items()} == counts


odd_text = st.text(
    st.characters(codec=None) | st.sampled_from('\n\r\t "#<=>\udcff\x1b:*'), min_size=1
)
names = st.builds(
    lambda path, symbol, mark: finding(mark, path=path, symbol=symbol),
    odd_text,
    odd_text,
    st.sampled_from("0123456789abcdef"),
)


@given(st.lists(names))
def test_what_is_written_is_read_again(findings: list[Finding]) -> None:
    counts = entries(findings)
    text = dump(counts)
    assert {entry: known.times for entry, known in parse(text).items()} == counts
    assert all(line.isprintable() for line in text.split("\n"))
    assert beyond(findings, counts_of(parse(text))) == []
    assert list(stale(parse(text), findings, "contracts.baseline", lambda _: True)) == []


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_new_and_stale_are_what_the_counts_differ_by(now: list[str], before: list[str]) -> None:
    known = parse(dump(entries(map(finding, before))))
    new = beyond(map(finding, now), counts_of(known))
    assert Counter(f.fingerprint[0] for f in new) == Counter(now) - Counter(before)
    left = stale(known, list(map(finding, now)), "contracts.baseline", lambda _: True)
    assert len(list(left)) == len(Counter(before) - Counter(now))


def test_a_copy_of_a_known_finding_is_new() -> None:
    first, copy = finding("a", 3), finding("a", 9)
    known = counts_of(parse(dump(entries([first]))))
    assert beyond([first, copy], known) == [copy]


def test_a_stale_entry_is_shown_where_it_stands() -> None:
    known = parse(TEXT)
    (one, two) = stale(
        known, [finding("a")], "contracts.baseline", lambda e: e.path == "tests/test_a.py"
    )
    assert (one.rule, one.path, one.line) == ("CG902", "contracts.baseline", 4)
    assert "CG101 on `pkg:A` in tests/test_a.py" in one.message
    assert (two.line, two.symbol) == (5, "pkg:B")


def test_an_entry_that_counts_more_than_are_left() -> None:
    known = parse(dump(entries([finding("a", 1), finding("a", 2)])))
    (left,) = stale(known, [finding("a", 1)], "contracts.baseline", lambda _: True)
    assert left.message == (
        "the baseline holds 2 findings CG101 on `pkg:A` in tests/test_a.py, and 1 is found"
    )


def test_a_clean_merge_may_move_and_repeat_entries() -> None:
    header, first, second = TEXT.split("\n\n")
    merged = "\n\n".join((header, second.rstrip("\n"), first, first)) + "\n"
    assert {e: k.times for e, k in parse(merged).items()} == {
        e: k.times for e, k in parse(TEXT).items()
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "its first line is not `# contract-guard baseline ...`"),
        ("{}", "it is no baseline: name another file"),
        (
            TEXT.replace("baseline 1:", "baseline 2:"),
            "it has version 2, and this program knows 1: upgrade",
        ),
        (
            TEXT.replace("baseline 1:", "baseline x:"),
            "it has version x, and this program knows 1: `con",
        ),
        (TEXT + "<<<<<<< ours\n", "it has conflict markers: settle the code"),
        (TEXT + "  CG101 zz pkg:A\n", "line 9 is no entry of a file"),
        (TEXT.replace("tests/test_a.py\n", "", 1), "line 3 is no entry of a file"),
        (TEXT + '"tests\n', "line 9 is no path"),
        (TEXT + "garbage\n", "line 9 is neither an entry nor the path of any"),
        (TEXT + "\ngarbage", "line 10 is neither an entry nor the path of any"),
        (TEXT.replace("tests/test_a.py\n", "garbage\ntests/test_a.py\n", 1), "line 3 is neither"),
    ],
)
def test_what_is_no_baseline_is_said(text: str, message: str) -> None:
    with pytest.raises(BaselineError) as raised:
        parse(text)
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("version", ["9" * 5000, "\u00b2", "-1", "", "x"])
def test_a_version_that_is_none(version: str) -> None:
    with pytest.raises(BaselineError, match="it has version "):
        parse(TEXT.replace("baseline 1", f"baseline {version}"))


def test_a_count_that_is_none() -> None:
    with pytest.raises(BaselineError, match="line 4 is no entry of a file"):
        parse(TEXT.replace("*2", "*" + "9" * 5000))


def test_a_byte_order_mark_and_other_line_ends() -> None:
    assert parse("\ufeff" + TEXT) == parse(TEXT)
