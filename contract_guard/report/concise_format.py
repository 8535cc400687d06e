"""`--format concise`: a line a finding, in the form that editors make clickable."""

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import last_lines, listed
from contract_guard.text import line_start, printable


def render(report: Report, screen: Screen) -> str:
    lines = [_line(finding) for finding in listed(report.findings, screen)]
    lines += last_lines(report, screen)
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = line_start(f"{finding.path}:{finding.line}:{finding.column}")
    return f"{place}: {finding.rule} {finding.severity}: {printable(finding.message)}"
