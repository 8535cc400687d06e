"""Whether a finding can be mended, as far as one revision tells: `Finding.fixable`.

What a codemod then cannot do after all, it says when it is asked to.
"""

from contract_guard.detectors.fixtures import close_fixture
from contract_guard.facts.model import ModuleFacts
from contract_guard.findings import Finding, Fixable
from contract_guard.registry.index import Registry
from contract_guard.registry.successors import single_home, single_module

_ALWAYS: dict[str, Fixable] = {
    "CG105": "unsafe",
    "CG203": "unsafe",
    "CG303": "unsafe",
    "CG306": "unsafe",
}


def fixable(registry: Registry, finding: Finding) -> Fixable:
    """Safe where what the code does cannot become another thing than was meant."""
    if finding.rule in ("CG101", "CG102"):
        return "safe" if single_home(registry, finding.symbol) else "no"
    if finding.rule == "CG103":
        if finding.severity == "warning":
            return "unsafe" if registry.producer(finding.symbol) else "no"
        return "safe" if single_home(registry, finding.symbol) else "no"
    if finding.rule == "CG104":
        return "safe" if _module_moved(registry, finding) else "no"
    if finding.rule == "CG106":
        return "unsafe" if close_fixture(registry, finding.path, finding.symbol) else "no"
    if finding.rule == "CG901":
        return "safe" if finding.symbol.startswith("CG") else "no"
    return _ALWAYS.get(finding.rule, "no")


def _module_moved(registry: Registry, finding: Finding) -> bool:
    """Whether the module, or all names that a statement takes from it, are in one other place."""
    if single_module(registry, finding.symbol):
        return True
    facts = registry.tree.files.get(finding.path)
    if not isinstance(facts, ModuleFacts):
        return False
    homes = {
        single_home(registry, f"{finding.symbol}:{imp.name}")
        for imp in facts.imports
        if imp.name is not None and imp.statement.line <= finding.line <= imp.statement.end_line
    }
    return (
        bool(homes)
        and len({home and home.partition(":")[0] for home in homes}) == 1
        and (None not in homes)
    )
