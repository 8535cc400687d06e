"""`--format github`: workflow commands that GitHub Actions turns into annotations.

GitHub shows the first 10 annotations of each kind from one step and drops the others without a
word, so only those are written, worst first, and the rest is said in the log.
"""

from contract_guard.findings import SEVERITIES, Finding, Severity
from contract_guard.report import Report, Screen
from contract_guard.report.listing import cost, last_lines, listed, worst_first
from contract_guard.text import plural, printable

LIMIT = 10
_KINDS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, screen: Screen) -> str:
    lines: list[str] = []
    findings = worst_first(listed(report.findings, screen))
    for severity in SEVERITIES:
        same = [finding for finding in findings if finding.severity == severity]
        lines += [_annotation(finding, report) for finding in same[:LIMIT]]
        if more := same[LIMIT:]:
            lines.append(
                f"{plural(len(more), f'more {severity}')} not shown as annotations: GitHub takes "
                f"{LIMIT} of a kind from a step. See them with --format concise."
            )
    lines += last_lines(report, screen)
    return "".join(f"{line}\n" for line in lines)


def _annotation(finding: Finding, report: Report) -> str:
    name = f"{finding.rule} {report.rules[finding.rule].name}"
    properties = {
        "file": report.prefix + finding.path,
        "line": str(finding.line),
        "endLine": str(finding.end_line),
        "title": f"{name}: {cost(finding)}" if cost(finding) else name,
    }
    if finding.end_line == finding.line:
        # Without this a column range over several lines would be refused.
        properties |= {"col": str(finding.column), "endColumn": str(finding.end_column)}
    listed_properties = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    message = f"{printable(finding.message)}\n{printable(finding.help)}".strip()
    return f"::{_KINDS[finding.severity]} {listed_properties}::{_data(message)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(printable(text)).replace(":", "%3A").replace(",", "%2C")
