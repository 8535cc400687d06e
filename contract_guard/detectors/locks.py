"""CG501-504: what the code says otherwise than `contracts.lock`."""

from collections.abc import Mapping, Sequence

from contract_guard.findings import Finding, Severity, fingerprint
from contract_guard.registry.index import Registry
from contract_guard.registry.lock import Difference, Locked, differences

LOCK_PATH = "contracts.lock"
_RULES: dict[str, tuple[str, Severity]] = {
    "unregistered": ("CG501", "warning"),
    "stale": ("CG502", "warning"),
    "changed": ("CG503", "warning"),
    "removed": ("CG504", "error"),
}
_UPDATE = "if that is meant: contract-guard registry update"


def lock_findings(
    registry: Registry, locked: dict[str, Locked], text: str, patterns: Sequence[str] = ()
) -> list[Finding]:
    """A finding a difference. What only the lock has is shown where the lock has it; `text` is the
    lock's own."""
    lines = {line: number for number, line in reversed(list(enumerate(text.split("\n"), 1)))}
    found = [_finding(difference, lines) for difference in differences(registry, locked, patterns)]
    return sorted(found, key=lambda finding: finding.sort_key)


def _finding(difference: Difference, lines: Mapping[str, int]) -> Finding:
    rule, severity = _RULES[difference.kind]
    path, line = difference.path, difference.line
    if not line:
        path, line = LOCK_PATH, lines.get(difference.symbol, 1)
    return Finding(
        rule=rule,
        severity=severity,
        impact="silent" if difference.kind != "removed" else None,
        path=path,
        line=line,
        column=1,
        end_line=line,
        end_column=1,
        symbol=difference.symbol,
        message=_message(difference),
        help=_UPDATE,
        fingerprint=fingerprint(
            rule, path, difference.path, difference.symbol, difference.form or difference.now
        ),
    )


def _message(difference: Difference) -> str:
    symbol = difference.symbol
    match difference.kind:
        case "unregistered":
            return f"`{symbol}` has a consumer that the lock does not know ({difference.form})"
        case "stale":
            return f"`{difference.path}` no longer names `{symbol}` ({difference.form})"
        case "changed":
            was, now = difference.was or "unknown", difference.now or "unknown"
            return f"`{symbol}` is {now}, and the lock says {was}"
        case "removed":
            return f"`{symbol}` is gone, and the lock still has it"
