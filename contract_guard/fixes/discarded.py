"""CG306: a comparison that nobody looks at is asserted."""

from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import Fix, Knowledge


def discarded_comparison(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """`assert` in front of it. Unsafe: the test may fail now, as it should have before."""
    start = Span(finding.line, finding.column, finding.line, finding.column)
    return Fix("unsafe", f"`{finding.symbol}` is asserted", (file.edit(start, "assert "),))
