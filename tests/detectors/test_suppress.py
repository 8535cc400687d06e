"""Which lines a suppression comment covers."""

import pytest

from contract_guard.detectors.suppress import suppressions


def covered(source: str) -> list[tuple[str, int, int]]:
    return [(s.rule, s.first, s.last) for s in suppressions(source.encode()) if not s.problem]


def test_one_line() -> None:
    assert covered("import a  # contract-guard: ignore[CG101] known\n") == [("CG101", 1, 1)]


def test_several_rules_and_other_tools() -> None:
    source = "import a  # noqa: F401  # contract-guard: ignore[CG101, CG102] known\n"
    assert covered(source) == [("CG101", 1, 1), ("CG102", 1, 1)]


@pytest.mark.parametrize("line", [2, 3, 4, 5])
def test_any_line_of_a_statement_covers_all_of_it(line: int) -> None:
    lines = ["x = 1", "from a import (", "    b,", "    c,", ")", "y = 2"]
    lines[line - 1] += "  # contract-guard: ignore[CG101]"
    assert covered("\n".join(lines)) == [("CG101", 2, 5)]


def test_a_compound_statement_is_covered_by_its_header_only() -> None:
    source = "with (\n    a,  # contract-guard: ignore[CG103]\n    b,\n):\n    c\n"
    assert covered(source) == [("CG103", 1, 4)]


def test_a_comment_between_statements_covers_nothing() -> None:
    source = "a\n# contract-guard: ignore[CG101]\nb\n"
    assert covered(source) == [("CG101", 0, -1)]


def test_a_comment_of_its_own_inside_brackets_belongs_to_the_statement() -> None:
    source = "from a import (\n    # contract-guard: ignore[CG101]\n    b,\n)\n"
    assert covered(source) == [("CG101", 1, 4)]


def test_the_whole_file_from_any_line() -> None:
    source = "a\nb\n# contract-guard: ignore-file[CG101] generated\n"
    assert covered(source) == [("CG101", 1, 4)]


def test_strings_are_no_comments() -> None:
    source = 'a = "# contract-guard: ignore[CG101]"\n"""\n# contract-guard: ignore[CG101]\n"""\n'
    assert suppressions(source.encode()) == []


@pytest.mark.parametrize(
    ("comment", "problem"),
    [
        ("# contract-guard: ignore", "it names no rule: write `ignore[CG101] reason`"),
        ("# contract-guard: ignore-file[ ]", "it names no rule: write `ignore-file[CG101] reason`"),
        ("# contract-guard: skip[CG101]", "`skip` is neither `ignore` nor `ignore-file`"),
    ],
)
def test_what_cannot_be_understood(comment: str, problem: str) -> None:
    (found,) = suppressions(f"import a  {comment}\n".encode())
    assert (found.problem, found.line, found.column) == (problem, 1, 11)
