"""Each format from the same findings."""

import json
import re
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from contract_guard import __version__
from contract_guard.findings import Finding, Related, Severity, TestsLost
from contract_guard.project.rules import Rule
from contract_guard.report import FORMATS, Cache, Report, Screen, Summary, render

RULES = {
    "CG101": Rule("CG101", "missing-name", "error", "summary", "why", "how"),
    "CG201": Rule("CG201", "constant-import", "note", "summary", "why", "how"),
}
SOURCE = ("import torch", "from gate.constants import PAD, BASE", "", "")
IDS = tuple(f"tests/test_gate.py::test_{letter}" for letter in "ab")


def missing_name(**changes: object) -> Finding:
    finding = Finding(
        rule="CG101",
        severity="error",
        impact="collection-error",
        path="tests/test_gate.py",
        line=2,
        column=28,
        end_line=2,
        end_column=31,
        symbol="gate.constants:PAD",
        tests_lost=TestsLost(28, True, IDS),
        message="gate.constants has no name PAD",
        help="use BASE",
        fingerprint="0123456789abcdef",
        related=(Related("gate/constants.py", 1, 9, "Base", "the module"),),
    )
    return msgspec.structs.replace(finding, **changes)


def note(**changes: object) -> Finding:
    return missing_name(
        **{
            "rule": "CG201",
            "severity": "note",
            "impact": None,
            "tests_lost": None,
            "column": 33,
            "end_column": 37,
            "message": "leans on BASE",
            "help": "",
            "related": (),
        }
        | changes
    )


def report(*findings: Finding, source: tuple[str, ...] = SOURCE) -> Report:
    return Report(
        findings=findings,
        summary=Summary(
            files=9,
            lines=400,
            tests=32,
            findings={finding.rule: 1 for finding in findings},
            tests_at_risk=28,
            unresolved={"third-party": 3},
            seconds=0.25,
            cache=Cache(hits=8, misses=1),
        ),
        closing="1 test module imports 2 constants; 28 tests would vanish.",
        sources={finding.path: source for finding in findings},
        rules=RULES,
    )


def test_rich_shows_cost_place_range_and_verdict() -> None:
    text = render(report(missing_name(), note()), "rich", Screen(width=100))
    assert text == (
        "tests/test_gate.py  1 error, 1 note\n"
        "  2:28  collection error, 28 tests lost  CG101 missing-name\n"
        "    gate.constants has no name PAD\n"
        "    2 │ from gate.constants import PAD, BASE\n"
        "      │                            ^^^\n"
        "    see: gate/constants.py:1 Base  the module\n"
        "    help: use BASE\n"
        "\n"
        "  2:33  CG201 constant-import\n"
        "    leans on BASE\n"
        "    2 │ from gate.constants import PAD, BASE\n"
        "      │                                 ^^^^\n"
        "\n"
        "1 test module imports 2 constants; 28 tests would vanish.\n"
        "1 error, 1 note. 9 files, 32 tests looked at.\n"
    )


def test_rich_colour_only_when_the_screen_has_it() -> None:
    plain = render(report(missing_name()), "rich", Screen(width=100, color=False))
    coloured = render(report(missing_name()), "rich", Screen(width=100, color=True))
    assert "\x1b" not in plain
    assert "\x1b[1;31mPAD\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == plain


@pytest.mark.parametrize("width", [20, 40, 80])
def test_rich_keeps_within_the_width(width: int) -> None:
    text = render(report(missing_name(), note()), "rich", Screen(width=width))
    assert max(map(cell_len, text.splitlines())) <= width


def test_rich_shows_both_sides_of_a_copy() -> None:
    source = ("def gate(x):", "    if x:", "\ty = 1", "        return y", "")
    finding = missing_name(
        line=2,
        column=5,
        end_line=4,
        end_column=17,
        related=(Related("tests/test_gate.py", 3, 5, "gate", "the same rule"),),
    )
    text = render(report(finding, source=source), "rich", Screen(width=100))
    assert (
        "    gate.constants has no name PAD\n"
        "    2 ┃     if x:\n"
        "    3 ┃     y = 1\n"
        "    4 ┃         return y\n"
        "    see: tests/test_gate.py:3 gate  the same rule\n"
        "    3 ┃     y = 1\n"
        "    4 ┃         return y\n"
        "    help: use BASE\n"
    ) in text


def test_rich_cuts_a_long_range() -> None:
    finding = missing_name(line=1, end_line=30, end_column=2, related=())
    text = render(report(finding, source=("x = 1",) * 30), "rich", Screen(width=100))
    assert text.count("┃") == 11
    assert "       … 19 more lines\n" in text


def test_rich_without_the_source_shows_the_rest() -> None:
    text = render(report(missing_name(), source=()), "rich", Screen(width=100))
    assert "gate.constants has no name PAD\n    see:" in text


@pytest.mark.parametrize(
    "format", ["rich", "concise", "junit", "html", "github", "gitlab", "sarif"]
)
def test_the_file_with_the_worst_finding_comes_first(format: str) -> None:
    findings = (note(path="a.py"), missing_name(path="z.py", related=()))
    text = render(report(*findings), format, Screen(width=100))
    assert text.index("z.py") < text.index("a.py")


def test_concise() -> None:
    assert render(report(missing_name(), note()), "concise", Screen()) == (
        "tests/test_gate.py:2:28: CG101 error: gate.constants has no name PAD; help: use BASE\n"
        "tests/test_gate.py:2:33: CG201 note: leans on BASE\n"
        "1 test module imports 2 constants; 28 tests would vanish.\n"
        "1 error, 1 note. 9 files, 32 tests looked at.\n"
    )


@pytest.mark.parametrize("format", ["rich", "concise"])
def test_notes_can_be_counted_only(format: str) -> None:
    text = render(report(missing_name(), note()), format, Screen(width=200, notes=False))
    assert "leans on BASE" not in text
    assert text.endswith(
        "1 error, 1 note. 9 files, 32 tests looked at. "
        "Notes are counted only; --select CG201 lists them.\n"
    )


@pytest.mark.parametrize("format", ["rich", "concise", "github"])
def test_findings_alone(format: str) -> None:
    quiet = Screen(width=100, summary=False)
    assert render(report(), format, quiet) == ""
    text = render(report(missing_name()), format, Screen(width=100))
    last = "".join(text.splitlines(keepends=True)[-2:])
    assert render(report(missing_name()), format, quiet) + last == text


def test_concise_says_the_first_of_what_can_be_done_about_a_mirror() -> None:
    help_ = "expect values that are known some other way (by hand, a property), or call production"
    text = render(report(missing_name(rule="CG301", help=help_)), "concise", Screen())
    assert text.splitlines()[0].endswith("; help: expect values that are known some other way")


def test_many_errors_about_a_few_names() -> None:
    findings = [missing_name(line=n, symbol=f"gate:N{n % 3}") for n in range(1, 1201)]
    text = render(report(*findings), "concise", Screen())
    last = text.splitlines()[-1]
    assert last == "1,200 errors over 3 names. 9 files, 32 tests looked at."


def test_notes_alone_are_no_failure() -> None:
    text = render(report(note()), "concise", Screen())
    assert text.splitlines()[-1] == "No errors or warnings, 1 note. 9 files, 32 tests looked at."


@pytest.mark.parametrize("format", ["rich", "concise", "github"])
def test_nothing_found_is_said(format: str) -> None:
    text = render(report(), format, Screen(width=100))
    assert text.endswith("No findings. 9 files, 32 tests looked at.\n")


@pytest.mark.parametrize("format", ["rich", "concise", "github"])
def test_known_findings_are_said_to_be_left_out(format: str) -> None:
    empty = report()
    known = msgspec.structs.replace(empty, summary=msgspec.structs.replace(empty.summary, known=2))
    text = render(known, format, Screen(width=100))
    assert text.endswith(
        "No new findings. 9 files, 32 tests looked at. 2 known findings left out.\n"
    )


def test_a_lower_bound_of_lost_tests_says_so() -> None:
    finding = missing_name(tests_lost=TestsLost(1, False, IDS[:1]))
    text = render(report(finding), "rich", Screen())
    assert "collection error, at least 1 test lost  CG101" in text


def test_json_is_the_documented_form() -> None:
    document = json.loads(render(report(missing_name(), note()), "json", Screen()))
    assert list(document) == ["version", "tool", "findings", "summary"]
    assert document["version"] == 1
    assert document["tool"] == {"name": "contract-guard", "version": __version__}
    assert document["findings"][0] == {
        "rule": "CG101",
        "severity": "error",
        "impact": "collection-error",
        "path": "tests/test_gate.py",
        "line": 2,
        "column": 28,
        "end_line": 2,
        "end_column": 31,
        "symbol": "gate.constants:PAD",
        "test": None,
        "tests_lost": {"count": 28, "exact": True, "ids": list(IDS)},
        "message": "gate.constants has no name PAD",
        "help": "use BASE",
        "fixable": "no",
        "score": None,
        "fingerprint": "0123456789abcdef",
        "related": [
            {
                "path": "gate/constants.py",
                "line": 1,
                "end_line": 9,
                "qualname": "Base",
                "message": "the module",
            }
        ],
    }
    assert document["findings"][1]["tests_lost"] is None
    assert document["summary"] == {
        "files": 9,
        "lines": 400,
        "tests": 32,
        "findings": {"CG101": 1, "CG201": 1},
        "tests_at_risk": 28,
        "unresolved": {"third-party": 3},
        "seconds": 0.25,
        "cache": {"hits": 8, "misses": 1},
        "known": 0,
        "against": [],
    }


def test_json_with_odd_names_is_the_same_document_in_ascii() -> None:
    name = "tests/\udcff\x9b日本.py"
    text = render(report(missing_name(path=name)), "json", Screen())
    assert text.isascii()
    assert json.loads(text)["findings"][0]["path"] == name
    ordinary = render(report(missing_name(path="tests/x.py")), "json", Screen())
    assert text.replace(json.dumps(name)[1:-1], "tests/x.py") == ordinary


def test_nodeids_are_the_affected_tests_once_each() -> None:
    inside = missing_name(test="tests/test_gate.py::test_z", tests_lost=None)
    text = render(report(missing_name(), missing_name(), inside, note()), "nodeids", Screen())
    assert text.splitlines() == [*IDS, "tests/test_gate.py::test_z"]


def test_nodeids_of_nothing_is_empty() -> None:
    assert render(report(), "nodeids", Screen()) == ""


def test_github_annotation() -> None:
    line = render(report(missing_name()), "github", Screen()).splitlines()[0]
    assert line == (
        "::error file=tests/test_gate.py,line=2,endLine=2,"
        "title=CG101 missing-name%3A collection error%2C 28 tests lost,col=28,endColumn=31"
        "::gate.constants has no name PAD%0Ause BASE"
    )


def test_github_escapes_what_would_end_a_property_or_a_line() -> None:
    finding = missing_name(path="a,b:c%.py", message="100%\r\n::error::x", help="")
    line = render(report(finding), "github", Screen()).splitlines()[0]
    assert line.startswith("::error file=a%2Cb%3Ac%25.py,")
    assert line.endswith(r"::100%25\r\n::error::x")


@pytest.mark.parametrize(("severity", "kind"), [("error", "error"), ("note", "notice")])
def test_github_writes_ten_of_a_kind_and_says_how_many_more(severity: Severity, kind: str) -> None:
    findings = [missing_name(severity=severity, line=line, end_line=line) for line in range(1, 14)]
    lines = render(report(*findings), "github", Screen()).splitlines()
    assert sum(line.startswith(f"::{kind} ") for line in lines) == 10
    assert lines[10].startswith(f"3 more {severity}s not shown as annotations")


def test_github_writes_the_worst_first() -> None:
    findings = [missing_name(impact="silent", line=n, end_line=n) for n in range(1, 12)]
    text = render(report(*findings, missing_name(path="z.py")), "github", Screen())
    assert text.startswith("::error file=z.py,")


pieces = [
    "\n",
    "\r",
    "\t",
    "\x1b[31m",
    "\x9b",
    "\u2028",
    "\u202e",
    "\udcff",
    "::",
    "[red]",
    "日",
    "é",
]
hostile = st.lists(st.sampled_from(pieces) | st.characters(), max_size=30).map("".join)


@pytest.mark.parametrize("format", FORMATS)
@given(path=hostile, message=hostile, line=hostile, width=st.integers(20, 60))
def test_hostile_text_can_add_no_line_and_no_control(
    format: str, path: str, message: str, line: str, width: int
) -> None:
    """A finding with hostile text has as many lines as a plain one, give or take wrapping, and
    nothing in it steers a terminal or a CI runner."""
    finding = missing_name(
        path=path or "x",
        message=message,
        help=message,
        symbol=message,
        test=f"{path}::test_x",
        line=1,
        end_line=1,
        related=(Related(path, 1, 1, message, message),),
    )
    text = render(report(finding, source=(line,)), format, Screen(width=width))
    assert all(character.isprintable() for character in text.replace("\n", ""))
    lines = text.split("\n")
    if format == "rich":
        assert max(map(cell_len, lines)) <= width
    elif format in ("concise", "github", "nodeids"):
        commands = [x for x in lines if x.lstrip().startswith("::")]
        assert all(x.startswith("::error file=") for x in commands)
        plain = msgspec.structs.replace(finding, path="x", message="m", help="h", test="t")
        assert len(lines) == len(render(report(plain), format, Screen()).split("\n"))


@given(
    line=hostile,
    column=st.integers(1, 40),
    length=st.integers(0, 40),
    width=st.integers(10, 60),
)
def test_the_marked_range_fits_and_is_what_was_asked_for(
    line: str, column: int, length: int, width: int
) -> None:
    from contract_guard.report.excerpt import excerpt
    from contract_guard.text import printable

    shown = excerpt(line, column, column + length, width)
    assert cell_len(shown.text) <= width
    assert shown.offset == cell_len(shown.text[: shown.start])
    wanted = "".join("    " if c == "\t" else printable(c) for c in line[column - 1 :][:length])
    assert wanted.startswith(shown.text[shown.start : shown.end])


@pytest.mark.parametrize("format", FORMATS)
def test_a_hundred_thousand_hostile_findings(format: str) -> None:
    """Formats that are cut keep the worst and say how many are left out; none lets anything out."""
    path = "tests/test_\x1b[31m<b>[red]::error.py"
    many = [
        missing_name(path=path, line=n, end_line=n, impact="silent", tests_lost=None, related=())
        for n in range(1, 100_001)
    ]
    text = render(report(*many, missing_name(path="z.py")), format, Screen(width=100))
    assert text.replace("\n", "").isprintable()
    assert not any(line.lstrip().startswith("::error f") for line in text.splitlines()[10:])
    kept = {"rich": "99,001 more", "github": "99,991 more", "html": "95,001 more", "sarif": "95001"}
    assert kept.get(format, "") in text
    assert "z.py" in text or format == "nodeids"


def test_sarif_is_what_code_scanning_needs() -> None:
    document = json.loads(render(report(note(), missing_name()), "sarif", Screen()))
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("contract-guard", __version__)
    assert [rule["id"] for rule in driver["rules"]] == ["CG101", "CG201"]
    assert driver["rules"][0]["name"] == "MissingName"
    assert driver["rules"][0]["help"] == {
        "text": "why\n\nHow to fix\n\nhow",
        "markdown": "why\n\n## How to fix\n\nhow",
    }
    worst, second = run["results"]
    assert (worst["ruleId"], worst["ruleIndex"], worst["level"]) == ("CG101", 0, "error")
    assert (second["ruleId"], second["ruleIndex"], second["level"]) == ("CG201", 1, "note")
    assert worst["message"] == {"text": "gate.constants has no name PAD\nuse BASE"}
    assert worst["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "tests/test_gate.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 2, "startColumn": 28, "endLine": 2, "endColumn": 31},
            }
        }
    ]
    assert worst["relatedLocations"] == [
        {
            "id": 0,
            "physicalLocation": {
                "artifactLocation": {"uri": "gate/constants.py", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 1, "endLine": 9},
            },
            "message": {"text": "Base the module"},
        }
    ]
    assert worst["partialFingerprints"] == {"contractGuard/v1": "0123456789abcdef"}


def test_sarif_uris_are_relative_and_encoded() -> None:
    finding = missing_name(path="tests/a b\udcff#?日.py")
    (run,) = json.loads(render(report(finding), "sarif", Screen()))["runs"]
    location = run["results"][0]["locations"][0]["physicalLocation"]
    assert location["artifactLocation"]["uri"] == "tests/a%20b%FF%23%3F%E6%97%A5.py"


@pytest.mark.parametrize(
    ("path", "uri"), [("a\udcff.py", "a%FF.py"), ("a\ud800.py", "a%ED%A0%80.py")]
)
def test_sarif_uris_of_names_that_are_no_text(path: str, uri: str) -> None:
    (run,) = json.loads(render(report(missing_name(path=path)), "sarif", Screen()))["runs"]
    (location,) = run["results"][0]["locations"]
    assert location["physicalLocation"]["artifactLocation"]["uri"] == uri


def test_sarif_messages_hold_no_links() -> None:
    finding = missing_name(message="see [this](https://example.org)", help="", tests_lost=None)
    (run,) = json.loads(render(report(finding), "sarif", Screen()))["runs"]
    assert run["results"][0]["message"]["text"] == (r"see \[this\](https://example.org)")


def test_sarif_keeps_the_worst_five_thousand() -> None:
    findings = [missing_name(impact="silent", line=n, end_line=n) for n in range(1, 5_002)]
    (run,) = json.loads(render(report(*findings, missing_name(path="z.py")), "sarif", Screen()))[
        "runs"
    ]
    assert len(run["results"]) == 5_000
    assert run["results"][0]["properties"]["impact"] == "collection-error"
    assert run["properties"] == {"leftOut": 2}


def test_gitlab_entries() -> None:
    first, second, third = json.loads(
        render(report(missing_name(), missing_name(line=3, end_line=3), note()), "gitlab", Screen())
    )
    assert first == {
        "description": "gate.constants has no name PAD",
        "check_name": "CG101",
        "fingerprint": "0123456789abcdef",
        "severity": "critical",
        "location": {"path": "tests/test_gate.py", "lines": {"begin": 2, "end": 2}},
    }
    assert len({entry["fingerprint"] for entry in (first, second, third)}) == 3
    assert third["severity"] == "info"


def test_junit_is_a_failed_case_a_finding() -> None:
    suite = ElementTree.fromstring(render(report(missing_name(), note()), "junit", Screen()))[0]
    assert suite.attrib == {
        "name": "contract-guard",
        "tests": "2",
        "failures": "2",
        "errors": "0",
        "time": "0.250",
    }
    case = suite[0]
    assert case.attrib == {
        "name": "tests/test_gate.py:2:28 CG101 missing-name",
        "classname": "tests/test_gate.py",
    }
    assert case[0].attrib == {
        "type": "error",
        "message": "CG101 missing-name: collection error, 28 tests lost",
    }
    assert case[0].text == "gate.constants has no name PAD\nuse BASE"


def test_junit_of_nothing_is_one_passed_case() -> None:
    suite = ElementTree.fromstring(render(report(), "junit", Screen()))[0]
    assert (suite.attrib["tests"], suite.attrib["failures"], len(suite[0])) == ("1", "0", 0)


@given(path=hostile, message=hostile)
def test_junit_with_hostile_text_is_still_xml(path: str, message: str) -> None:
    finding = missing_name(path=path, message=message, help="]]><x/>")
    case = ElementTree.fromstring(render(report(finding), "junit", Screen()))[0][0]
    assert [child.tag for child in case] == ["failure"]
    assert (case[0].text or "").endswith("]]><x/>")
