"""What formats for people share: which findings are listed, in which order, and how they are
counted in words."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby

from contract_guard.findings import SEVERITIES, Finding, Impact
from contract_guard.report import Report, Screen
from contract_guard.text import plural, printable

# From so many errors on it is said how many names they are about.
_MANY = 10
_IMPACTS: tuple[Impact | None, ...] = (
    "collection-error",
    "runtime-error",
    "always-skipped",
    "silent",
    None,
)


def listed(findings: Iterable[Finding], screen: Screen) -> list[Finding]:
    """The findings that are shown one by one, in order of their place."""
    return [f for f in findings if screen.notes or f.severity != "note"]


def shown_paths(findings: Iterable[Finding]) -> set[str]:
    """Files of which lines are shown: those of the findings, and of the other side of a copy."""
    paths: set[str] = set()
    for finding in findings:
        paths.add(finding.path)
        paths.update(r.path for r in finding.related if r.end_line > r.line)
    return paths


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (*_badness(f), f.sort_key))


def by_file(findings: Sequence[Finding]) -> list[tuple[str, list[Finding]]]:
    """Findings grouped by file: the file with the worst one first, each file from top to
    bottom."""
    groups = [
        (path, list(group))
        for path, group in groupby(sorted(findings, key=lambda f: f.sort_key), lambda f: f.path)
    ]
    return sorted(groups, key=lambda group: (min(map(_badness, group[1])), group[0]))


def cost(finding: Finding) -> str:
    """Impact and tests lost in words, as `collection error, 28 tests lost`; "" where neither."""
    parts = [finding.impact.replace("-", " ")] if finding.impact else []
    if lost := finding.tests_lost:
        parts.append(f"{'' if lost.exact else 'at least '}{plural(lost.count, 'test')} lost")
    return ", ".join(parts)


def counted(findings: Iterable[Finding]) -> str:
    """`1 error, 2 warnings, 3 notes`, leaving out what there is none of."""
    counts = Counter(f.severity for f in findings)
    return ", ".join(plural(counts[s], s) for s in SEVERITIES if counts[s])


def _with_names(counts: str, findings: Iterable[Finding]) -> str:
    """`211 errors over 12 names, 3 warnings`, where many errors are about a few names."""
    names = [finding.symbol for finding in findings if finding.severity == "error"]
    distinct = len(set(names))
    if len(names) < _MANY or distinct == len(names):
        return counts
    return counts.replace("errors", f"errors over {plural(distinct, 'name')}", 1)


def mending(findings: Iterable[Finding]) -> str:
    """`3 findings can be mended with --fix, 1 more perhaps with --unsafe-fixes.`, "" where none
    can. Perhaps: `check` tells by the rule alone which an unsafe fix might mend."""
    counts = Counter(finding.fixable for finding in findings)
    safe, unsafe = counts["safe"], counts["unsafe"]
    if not safe and not unsafe:
        return ""
    if not safe:
        return f"{plural(unsafe, 'finding')} can perhaps be mended with --fix --unsafe-fixes."
    also = f", {unsafe:,} more perhaps with --unsafe-fixes" if unsafe else ""
    return f"{plural(safe, 'finding')} can be mended with --fix{also}."


def last_lines(report: Report, screen: Screen) -> list[str]:
    """What stands below the findings: the tests at risk, what it was checked against, what can be
    mended, then the verdict."""
    if not screen.summary:
        return []
    against = [f"{printable(a.origin)} ({plural(a.files, 'file')})" for a in report.summary.against]
    lines = [
        printable(report.closing),
        f"Checked against {', '.join(against)}." if against else "",
        report.mending,
        verdict(report, screen),
    ]
    return [line for line in lines if line]


def verdict(report: Report, screen: Screen) -> str:
    """The last line: how many findings of what kind, and which were not listed."""
    if report.verdict:
        return report.verdict
    looked_at = (
        f"{plural(report.summary.files, 'file')}, {plural(report.summary.tests, 'test')} looked at"
    )
    known = f" {plural(report.summary.known, 'known finding')} left out." * bool(
        report.summary.known
    )
    if not report.findings:
        return f"No {'new ' * bool(known)}findings. {looked_at}.{known}"
    is_quiet = all(finding.severity == "note" for finding in report.findings)
    counts = _with_names(counted(report.findings), report.findings)
    line = f"{'No errors or warnings, ' * is_quiet}{counts}. {looked_at}.{known}"
    hidden = Counter(f.rule for f in report.findings if f.severity == "note" and not screen.notes)
    if hidden:
        rules = ",".join(sorted(hidden))
        line += f" Notes are counted only; --select {printable(rules)} lists them."
    return line


def _badness(finding: Finding) -> tuple[int, int, int]:
    lost = finding.tests_lost.count if finding.tests_lost else 0
    return (SEVERITIES.index(finding.severity), _IMPACTS.index(finding.impact), -lost)
