"""`--format gitlab`: GitLab's Code Quality report, a JSON array."""

from collections import Counter

from contract_guard.findings import Severity
from contract_guard.report import Report, Screen
from contract_guard.report.json_format import encode
from contract_guard.report.listing import listed, worst_first
from contract_guard.text import printable

_SEVERITIES: dict[Severity, str] = {"error": "critical", "warning": "major", "note": "info"}


def render(report: Report, screen: Screen) -> str:
    seen: Counter[str] = Counter()
    entries: list[dict[str, object]] = []
    for finding in worst_first(listed(report.findings, screen)):
        # GitLab drops entries whose fingerprint it has seen.
        copy = seen[finding.fingerprint]
        seen[finding.fingerprint] += 1
        entries.append(
            {
                "description": printable(finding.message),
                "check_name": finding.rule,
                "fingerprint": f"{finding.fingerprint}-{copy}" if copy else finding.fingerprint,
                "severity": _SEVERITIES[finding.severity],
                "location": {
                    "path": report.prefix + finding.path,
                    "lines": {"begin": finding.line, "end": finding.end_line},
                },
            }
        )
    return encode(entries)
