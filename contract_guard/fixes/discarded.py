"""CG306: a comparison that nobody looks at is asserted."""

from contract_guard.facts.model import Span
from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import Fix, Knowledge

# Bool of two tensors or numbers, where the same name elsewhere gives one for each element.
_SINGLE = frozenset({"torch.equal", "math.isclose"})


def discarded_comparison(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """`assert` in front of it, `.all()` behind what compares element by element. Unsafe: the test
    may fail now, as it should have before."""
    span = Span(finding.line, finding.column, finding.end_line, finding.end_column)
    edits = [file.edit(Span(*span[:2], *span[:2]), "assert ")]
    if finding.symbol.endswith((".equal", ".isclose")) and finding.symbol not in _SINGLE:
        edits.append(file.edit(Span(*span[2:], *span[2:]), ".all()"))
    return Fix("unsafe", f"`{finding.symbol}` is asserted", tuple(edits))
