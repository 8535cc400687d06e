"""`--format concise`: a line a finding, in the form that editors make clickable."""

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import cost, last_lines, listed
from contract_guard.report.text import line_start, printable


def render(report: Report, screen: Screen) -> str:
    lines = [_line(finding) for finding in listed(report.findings, screen)]
    lines += last_lines(report, screen)
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = f"{line_start(finding.path)}:{finding.line}:{finding.column}"
    costs = f" [{cost(finding)}]" if cost(finding) else ""
    return f"{place}: {finding.rule} {finding.severity}: {printable(finding.message)}{costs}"
