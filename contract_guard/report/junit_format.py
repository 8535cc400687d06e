"""`--format junit`: a failed test case a finding, for tools that show JUnit XML."""

from xml.sax.saxutils import escape, quoteattr

from contract_guard.findings import Finding
from contract_guard.report import Report, Screen
from contract_guard.report.listing import by_file, cost, listed
from contract_guard.text import printable


def render(report: Report, screen: Screen) -> str:
    findings = listed(report.findings, screen)
    cases = [
        line
        for _, group in by_file(findings)
        for finding in group
        for line in _case(finding, report)
    ]
    suite = (
        f'<testsuite name="contract-guard" tests="{len(findings) or 1}" '
        f'failures="{len(findings)}" errors="0" time="{report.summary.seconds:.3f}">'
    )
    if not findings:
        # Readers take a file without a test case for a run that went wrong.
        name = printable(report.verdict or "no findings")
        cases = [f'    <testcase name={quoteattr(name)} classname="contract-guard"/>']
    lines = ['<?xml version="1.0" encoding="utf-8"?>', "<testsuites>", f"  {suite}", *cases]
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _case(finding: Finding, report: Report) -> list[str]:
    place = f"{printable(finding.path)}:{finding.line}:{finding.column}"
    name = f"{finding.rule} {report.rules[finding.rule].name}"
    message = f"{name}: {cost(finding)}" if cost(finding) else name
    text = "\n".join(map(printable, filter(None, (finding.message, finding.help))))
    return [
        f"    <testcase name={quoteattr(f'{place} {name}')} "
        f"classname={quoteattr(printable(finding.path))}>",
        f"      <failure type={quoteattr(finding.severity)} message={quoteattr(message)}>"
        f"{escape(text)}</failure>",
        "    </testcase>",
    ]
