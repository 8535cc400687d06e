"""`--format concise`: a line a finding, in the form that editors make clickable, the file with the
worst one first."""

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import by_file, last_lines, listed
from contract_guard.text import line_start, printable


def render(report: Report, screen: Screen) -> str:
    files = by_file(listed(report.findings, screen))
    lines = [_line(finding) for _, findings in files for finding in findings]
    lines += last_lines(report, screen)
    return "".join(f"{line}\n" for line in lines)


def _line(finding: Finding) -> str:
    place = line_start(f"{finding.path}:{finding.line}:{finding.column}")
    help_ = f"; help: {printable(finding.help)}" if finding.help else ""
    return f"{place}: {finding.rule} {finding.severity}: {printable(finding.message)}{help_}"
