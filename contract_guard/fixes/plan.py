"""Which codemod mends which finding."""

from collections.abc import Callable

from contract_guard.findings import Finding
from contract_guard.fixes.file import File
from contract_guard.fixes.model import CannotFix, Fix, Knowledge

Codemod = Callable[[File, Finding, Knowledge], Fix]


def fix_for(file: File, finding: Finding, knowledge: Knowledge) -> Fix:
    """The fix of a finding in `file`. Raises CannotFix with the reason why there is none."""
    # Only those who mend something wait for all of these.
    from contract_guard.fixes import (
        calls,
        discarded,
        extract,
        fixtures,
        guarded,
        literals,
        modules,
        moved,
        patches,
        removed,
        suppressions,
    )
    from contract_guard.fixes.successor import successor

    codemods: dict[str, Codemod] = {
        "CG101": moved.missing_name,
        "CG102": moved.missing_attribute,
        "CG103": patches.stale_target,
        "CG104": modules.missing_module,
        "CG105": guarded.dead_guard,
        "CG106": fixtures.missing_fixture,
        "CG107": calls.outdated_call,
        "CG203": literals.copied_literal,
        "CG303": extract.mirrored_predicate,
        "CG306": discarded.discarded_comparison,
        "CG901": suppressions.unused_suppression,
    }
    codemod = codemods.get(finding.rule)
    if codemod is None:
        raise CannotFix(f"{finding.rule} has no fix")
    is_import = finding.rule == "CG101" and moved.marks_import(file, finding)
    if is_import and knowledge.old is not None and successor(knowledge, finding.symbol) is None:
        codemod = removed.removed_name
    return codemod(file, finding, knowledge)
