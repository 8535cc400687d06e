"""`--format concise`: a line a finding, in the form that editors make clickable."""

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import cost, listed, verdict
from contract_guard.report.text import line_start, printable


def render(report: Report, screen: Screen) -> str:
    lines = [_line(finding) for finding in listed(report, screen)]
    lines += [line for line in (printable(report.closing), verdict(report, screen)) if line]
    return "\n".join(lines) + "\n"


def _line(finding: Finding) -> str:
    place = f"{line_start(finding.path)}:{finding.line}:{finding.column}"
    costs = f" [{cost(finding)}]" if cost(finding) else ""
    return f"{place}: {finding.rule} {finding.severity}: {printable(finding.message)}{costs}"
