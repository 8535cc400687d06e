"""`--format sarif`: SARIF 2.1.0, within the limits that GitHub code scanning sets."""

from urllib.parse import quote

from contract_guard import __version__
from contract_guard.findings import Finding, Related, Severity
from contract_guard.project.rules import Rule
from contract_guard.report import Anchor, Report, Screen
from contract_guard.report.json_format import encode
from contract_guard.report.listing import listed, worst_first
from contract_guard.text import printable

# GitHub keeps the first 5,000 results of a run, and says nothing of the others.
LIMIT = 5_000
_MOST_PAIRS = 12
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "note": "note"}


def render(report: Report, screen: Screen) -> str:
    findings = worst_first(listed(report.findings, screen))
    kept = findings[:LIMIT]
    used = sorted({finding.rule for finding in kept})
    positions = {rule: index for index, rule in enumerate(used)}
    run: dict[str, object] = {
        "tool": {
            "driver": {
                "name": "contract-guard",
                "version": __version__,
                "semanticVersion": __version__,
                "rules": [_rule(report.rules[rule]) for rule in used],
            }
        },
        "columnKind": "unicodeCodePoints",
        "results": [_result(f, positions, report.anchors.get(f), report.prefix) for f in kept],
        "properties": {"leftOut": len(findings) - len(kept)},
    }
    return encode({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(rule: Rule) -> dict[str, object]:
    how = f"{rule.why.strip()}\n\nHow to fix\n\n{rule.how_to_fix.strip()}"
    markdown = f"{rule.why.strip()}\n\n## How to fix\n\n{rule.how_to_fix.strip()}"
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.summary},
        "help": {"text": how, "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"tags": ["contract-drift"], "problem.severity": _problem(rule.severity)},
    }


def _problem(severity: Severity) -> str:
    return "recommendation" if severity == "note" else severity


def _result(
    finding: Finding, positions: dict[str, int], anchor: Anchor | None, prefix: str
) -> dict[str, object]:
    text = f"{finding.message}\n{finding.help}".strip()
    related = finding.related
    if anchor is None:
        location = _location(
            prefix + finding.path,
            finding.line,
            finding.column,
            finding.end_line,
            finding.end_column,
        )
    else:
        location = _location(prefix + anchor.path, anchor.line, 1, anchor.line, anchor.end_column)
        place = f"{finding.path}:{finding.line}"
        text = f"{place}: {text}"
        here = Related(finding.path, finding.line, finding.end_line, "", "what no longer fits")
        related = (here, *related)
    return {
        "ruleId": finding.rule,
        "ruleIndex": positions[finding.rule],
        "level": _LEVELS[finding.severity],
        "message": {"text": _message(text)},
        "locations": [{"physicalLocation": location}],
        "relatedLocations": [_related(place, n, prefix) for n, place in enumerate(related)],
        "partialFingerprints": {"contractGuard/v1": finding.fingerprint},
        "properties": {
            "symbol": finding.symbol,
            "impact": finding.impact,
            "test": finding.test,
            "testsLost": finding.tests_lost.count if finding.tests_lost else 0,
        },
    }


def _location(
    path: str, line: int, column: int, end_line: int, end_column: int
) -> dict[str, object]:
    return {
        "artifactLocation": _artifact(path),
        "region": {
            "startLine": line,
            "startColumn": column,
            "endLine": end_line,
            "endColumn": end_column,
        },
    }


def _related(related: Related, index: int, prefix: str) -> dict[str, object]:
    return {
        "id": index,
        "physicalLocation": {
            "artifactLocation": _artifact(prefix + related.path),
            "region": {"startLine": related.line, "endLine": related.end_line},
        },
        "message": {
            "text": _message(f"{related.qualname} {related.message}{_pairs(related)}".strip())
        },
    }


def _pairs(related: Related) -> str:
    """Which lines are the same, where a reader cannot see them side by side."""
    if not related.aligned:
        return ""
    pairs = ", ".join(f"{here}={there}" for here, there in related.aligned[:_MOST_PAIRS])
    return f"; lines here = there: {pairs}"


def _artifact(path: str) -> dict[str, object]:
    """A relative URI. The bytes of a file name that is no UTF-8 stand as they are; so do those of
    the lone surrogates that names on Windows may have."""
    try:
        name = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        name = path.encode("utf-8", "surrogatepass")
    return {"uri": quote(name, safe="/"), "uriBaseId": "%SRCROOT%"}


def _message(text: str) -> str:
    """Plain text: control characters escaped line by line, and no links (`[text](target)`)."""
    lines = "\n".join(printable(line) for line in text.split("\n"))
    return lines.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
