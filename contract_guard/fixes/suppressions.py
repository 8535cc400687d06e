"""CG901: suppressions that suppress nothing go."""

import re

from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Fix, Knowledge

_COMMENT = re.compile(
    r"#\s*contract-guard:\s*(?P<word>ignore|ignore-file)\s*\[(?P<rules>[^\]]*)\](?P<reason>.*)"
)


def unused_suppression(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The rule leaves the comment, and the comment the file if it held no other."""
    line = file.source.lines[finding.line - 1]
    start = line.rfind("#", 0, finding.column)
    match = _COMMENT.match(line, finding.column - 1) or _COMMENT.match(line, max(start, 0))
    if match is None:
        raise CannotFix("the comment cannot be understood")
    rules = [rule.strip() for rule in match["rules"].split(",") if rule.strip()]
    kept = [rule for rule in rules if rule != finding.symbol]
    if len(kept) == len(rules):
        raise CannotFix("the comment does not name the rule")
    title = f"`{finding.symbol}` leaves the suppression comment"
    if kept:
        first, last = match.span("rules")
        span = Span(finding.line, first + 1, finding.line, last + 1)
        return Fix("safe", title, (file.edit(span, ", ".join(kept)),))
    before = line[: match.start()]
    code = before.rstrip()
    after = "#" in match["reason"] and match["reason"][match["reason"].index("#") :]
    if after:
        span = Span(finding.line, match.start() + 1, finding.line, len(line) + 1)
        return Fix("safe", title, (file.edit(span, str(after)),))
    if code or finding.line == len(file.source.lines):
        span = Span(finding.line, len(code) + 1, finding.line, len(line) + 1)
    else:
        span = Span(finding.line, 1, finding.line + 1, 1)
    return Fix("safe", title, (file.edit(span, ""),))
