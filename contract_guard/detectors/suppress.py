"""Suppression comments: `# contract-guard: ignore[CG101] reason`, `ignore-file[CG101,CG103]`.

Only real comments count, never a string that looks like one. `ignore` covers the logical line on
which it stands: every line of a statement that is spread over several, the header of a compound
one. `ignore-file` covers the file from any line.
"""

import io
import re
import tokenize
from collections.abc import Iterable

import msgspec

from contract_guard.detectors.statement import decode
from contract_guard.findings import Finding

_COMMENT = re.compile(r"#\s*contract-guard:\s*(?P<word>[\w-]*)\s*(?:\[(?P<rules>[^\]]*)\])?")


class Suppression(msgspec.Struct, frozen=True):
    """One rule id of one comment. `first` to `last` are the lines covered, both included.

    `rule` is "" and `problem` says why where the comment cannot be understood; `word` is what
    stands where `ignore` or `ignore-file` is expected.
    """

    rule: str
    first: int
    last: int
    line: int
    column: int
    end_column: int
    text: str
    word: str
    problem: str = ""

    def covers(self, finding: Finding) -> bool:
        return self.rule == finding.rule and self.first <= finding.line <= self.last


def suppressions(source: bytes) -> list[Suppression]:
    """All suppression comments of a file that has facts (so that it is known to tokenize)."""
    text = decode(source)
    found: list[Suppression] = []
    comments: list[tokenize.TokenInfo] = []
    last = text.count("\n") + 1
    first = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments.append(token)
        elif token.type == tokenize.NEWLINE:
            for comment in comments:
                inside = first and comment.start[0] >= first
                lines = (first, token.start[0]) if inside else (0, -1)
                found += _parse(comment, lines, last)
            comments, first = [], 0
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT) and not first:
            first = token.start[0]
    for comment in comments:
        found += _parse(comment, (0, -1), last)
    return found


def _parse(
    comment: tokenize.TokenInfo, lines: tuple[int, int], last_line: int
) -> Iterable[Suppression]:
    match = _COMMENT.search(comment.string)
    if match is None:
        return
    word = match["word"]
    text = " ".join(comment.string[match.start() :].split())
    line, column = comment.start
    place = (line, column + match.start() + 1, comment.end[1] + 1, text, word)
    if word == "ignore-file":
        lines = (1, last_line)
    rules = [rule.strip() for rule in (match["rules"] or "").split(",") if rule.strip()]
    if word not in ("ignore", "ignore-file"):
        problem = f"`{word}` is neither `ignore` nor `ignore-file`"
        yield Suppression("", 0, -1, *place, problem)
    elif not rules:
        yield Suppression("", 0, -1, *place, f"it names no rule: write `{word}[CG101] reason`")
    else:
        for rule in rules:
            yield Suppression(rule, *lines, *place)
