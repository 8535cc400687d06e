"""`--format concise`: a line a finding, in the form that editors make clickable, the file with the
worst one first."""

import re

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import by_file, last_lines, listed
from contract_guard.text import line_start, printable

# Their help is long, and much the same for each: the first of what can be done.
_MIRRORS = "CG3"
_DETAILS = re.compile(r" \(|, or ")


def render(report: Report, screen: Screen) -> str:
    files = by_file(listed(report.findings, screen))
    lines = [_line(finding) for _, findings in files for finding in findings]
    lines += last_lines(report, screen)
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = line_start(f"{finding.path}:{finding.line}:{finding.column}")
    text = finding.help
    if finding.rule.startswith(_MIRRORS):
        text = _DETAILS.split(text, maxsplit=1)[0]
    help_ = f"; help: {printable(text)}" if text else ""
    return f"{place}: {finding.rule} {finding.severity}: {printable(finding.message)}{help_}"
