"""`--format json`: the form that docs/json.md pins."""

import msgspec

from contract_guard import __version__
from contract_guard.report import Report, Screen


def render(report: Report, screen: Screen) -> str:
    document = {
        "version": 1,
        "tool": {"name": "contract-guard", "version": __version__},
        "findings": report.findings,
        "summary": report.summary,
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
