"""The findings as markdown, for the page that GitHub Actions makes of a step."""

import re

from contract_guard.report import Report, Screen
from contract_guard.report.listing import cost, last_lines, listed, worst_first
from contract_guard.text import plural, printable

# GitHub drops a summary of more than 1 MiB as a whole.
LIMIT = 100
_MOST_CHARACTERS = 1_000
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def render(report: Report, screen: Screen) -> str:
    findings = worst_first(listed(report.findings, screen))
    lines = ["## contract-guard", ""]
    if findings:
        lines += ["| severity | place | rule | finding |", "|---|---|---|---|"]
        for finding in findings[:LIMIT]:
            costs = f"{cost(finding)}: " if cost(finding) else ""
            cells = (
                finding.severity,
                f"{finding.path}:{finding.line}",
                f"{finding.rule} {report.rules[finding.rule].name}",
                f"{costs}{finding.message}",
            )
            lines.append(f"| {' | '.join(map(plain, cells))} |")
        lines.append("")
        if more := findings[LIMIT:]:
            lines += [f"{plural(len(more), 'more finding')} not shown here.", ""]
    for line in last_lines(report, screen):
        lines += [plain(line), ""]
    return "\n".join(lines)


def plain(text: str) -> str:
    """Markdown of which nothing but the text itself comes: no markup, link, mention or HTML."""
    text = printable(text)
    if len(text) > _MOST_CHARACTERS:
        text = text[:_MOST_CHARACTERS] + "…"
    return _PUNCTUATION.sub(r"\\\1", text)
