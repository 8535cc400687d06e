"""`--format concise`: a line a finding, in the form that editors make clickable."""

from contract_guard.report import Report, Screen
from contract_guard.report.text import printable


def render(report: Report, screen: Screen) -> str:
    lines = [
        f"{printable(f.path)}:{f.line}:{f.column}: {f.rule} {f.severity}: {printable(f.message)}"
        for f in report.findings
    ]
    lines.append(printable(report.closing))
    return "\n".join(lines) + "\n"
