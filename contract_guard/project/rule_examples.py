"""The lines of a rule's bad example that it reports, for `explain`."""

import msgspec

from contract_guard.project.rules import rules_directory

_MARK = "# expect: "


class Example(msgspec.Struct, frozen=True):
    """A line of `rules/<ID>/bad/`: `code` without the comment, `expected` as the comment says it
    (`CG101 pkg.constants:PAD collection-error lost=2`)."""

    path: str
    line: int
    code: str
    expected: str


def rule_examples(rule: str) -> list[Example]:
    """The marked lines of the rule's bad example, tests first, in order of path and line."""
    bad = rules_directory() / rule / "bad"
    found: list[Example] = []
    for path in sorted(bad.rglob("*.py")):
        relative = path.relative_to(bad).as_posix()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            code, mark, expected = line.partition(_MARK)
            if mark and rule in expected:
                found.append(Example(relative, number, code.strip(), expected.strip()))
    return sorted(found, key=lambda e: (not e.path.startswith("tests/"), e.path, e.line))
