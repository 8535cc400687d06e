"""What `--statistics` adds to a report."""

from collections.abc import Mapping

from contract_guard.report import ReadAgainst, Summary
from contract_guard.text import printable


def statistics_text(summary: Summary) -> str:
    """Counts of the run, findings by rule, and names of which nothing is known, by reason."""
    lines = [
        "",
        "Statistics",
        f"  files {summary.files:,}, lines {summary.lines:,}, tests {summary.tests:,}",
        f"  from the cache {summary.cache.hits:,} files, read {summary.cache.misses:,}",
        f"  seconds {summary.seconds:.2f}",
        *(_read_against(read) for read in summary.against),
        "Findings by rule",
        *_table(summary.findings),
        "Names of which nothing is known, by reason",
        *_table(summary.unresolved),
    ]
    return "\n".join(lines) + "\n"


def _read_against(read: ReadAgainst) -> str:
    packages = printable(", ".join(read.packages) or "no package that the project names")
    return f"  against {printable(read.origin)}: {read.files:,} files of {packages}"


def _table(counts: Mapping[str, int]) -> list[str]:
    if not counts:
        return ["  none"]
    width = max(len(f"{count:,}") for count in counts.values())
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [f"  {count:>{width},}  {printable(name)}" for name, count in ordered]
