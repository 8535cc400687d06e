"""Which codemod mends which finding."""

from collections.abc import Callable

from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Fix, Knowledge

Codemod = Callable[[File, Finding, Knowledge], Fix]


def fix_for(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The fix of a finding in `file`. Raises CannotFix with the reason why there is none."""
    codemod = _codemod(finding, knowledge)
    if codemod is None:
        raise CannotFix(f"{finding.rule} has no fix")
    return codemod(file, finding, knowledge)


def _codemod(finding: Finding, knowledge: Knowledge) -> Codemod | None:
    # libcst takes as long to import as a small project takes to check.
    from contract_guard.fixes import moved, removed
    from contract_guard.fixes.successor import successor

    if finding.rule == "CG101":
        is_gone = finding.symbol in knowledge.changes and not successor(knowledge, finding.symbol)
        return removed.removed_name if is_gone else moved.missing_name
    if finding.rule == "CG102":
        return moved.missing_attribute
    if finding.rule == "CG104":
        return moved.missing_module
    return None
