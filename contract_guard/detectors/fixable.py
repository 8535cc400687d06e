"""Whether a finding can be mended, as far as one revision tells: `Finding.fixable`.

What a codemod then cannot do after all, it says when it is asked to.
"""

from contract_guard.findings import Finding, Fixable
from contract_guard.registry.index import Registry
from contract_guard.registry.successors import single_home, single_module

_ALWAYS: dict[str, Fixable] = {"CG203": "unsafe", "CG303": "unsafe", "CG306": "unsafe"}


def fixable(registry: Registry, finding: Finding) -> Fixable:
    """Safe where what the code does cannot become another thing than was meant."""
    if finding.rule in ("CG101", "CG102"):
        return "safe" if single_home(registry, finding.symbol) else "no"
    if finding.rule == "CG103":
        if finding.severity == "warning":
            return "unsafe" if registry.producer(finding.symbol) else "no"
        return "safe" if single_home(registry, finding.symbol) else "no"
    if finding.rule == "CG104":
        return "safe" if single_module(registry, finding.symbol) else "no"
    if finding.rule == "CG105":
        return "safe" if single_home(registry, finding.symbol) else "unsafe"
    if finding.rule == "CG901":
        return "safe" if finding.symbol.startswith("CG") else "no"
    return _ALWAYS.get(finding.rule, "no")
