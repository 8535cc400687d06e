"""Projects in memory, at one revision or two, and what the fixes make of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from textwrap import dedent

import pytest

from contract_guard.detectors.run import DETECTORS, RULES, run
from contract_guard.fixes.model import Knowledge
from contract_guard.project.extraction import extract
from contract_guard.project.fixing import told_by_changes
from contract_guard.project.mendable import MENDED, by_symbol
from contract_guard.project.mending import Mended, mend
from contract_guard.registry.compare import compare
from contract_guard.registry.former import build_after
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Tree

Files = Mapping[str, str | bytes]


@dataclass
class Fixed:
    """`files` are all files of the project afterwards; `mended` what the loop gave."""

    files: dict[str, str]
    mended: Mended

    @property
    def rules(self) -> list[str]:
        return [finding.rule for finding, _ in self.mended.fixed]

    @property
    def reasons(self) -> list[str]:
        return [reason for _, reason in self.mended.refused]


Fix = Callable[..., Fixed]


@pytest.fixture(name="fix", scope="session")
def _fix() -> Fix:
    """Of the session, so that Hypothesis may ask it for many examples of one test."""
    return fix


def fix(
    files: Files,
    *,
    base: Files | None = None,
    unsafe: bool = False,
    rules: frozenset[str] = RULES | {"CG107"},
    line_length: int = 88,
) -> Fixed:
    """Fix a project; with `base`, what a change from those files (of which `files` replaces some,
    and removes those that it gives as "") broke."""
    sources = _encoded(files if base is None else {**base, **files})
    if base is not None:
        sources = {p: source for p, source in sources.items() if source or p not in files}
    tree = _tree(sources)

    detectors = DETECTORS

    def find(registry: Registry, read, paths) -> list:
        found = run(registry, read, rules=rules, detectors=detectors)
        return [finding for finding in found if finding.path in paths]

    if base is None:
        knowledge = Knowledge(build(tree), sources.__getitem__, line_length)
        findings = find(knowledge.registry, knowledge.read, sources)
    else:
        rules &= frozenset(MENDED)
        before = _encoded(base)
        old = build(_tree(before))
        new = build_after(old, tree)
        changes = compare(old, new, downstream=True)
        detectors = (*DETECTORS, *told_by_changes(old, before.__getitem__, changes))
        findings = find(new, sources.__getitem__, sources)
        known = by_symbol(changes)
        knowledge = Knowledge(new, sources.__getitem__, line_length, old, before.__getitem__, known)
    mended = mend(knowledge, findings, find, unsafe=unsafe)
    after = {path: pair[1] for path, pair in mended.files.items()}
    return Fixed({p: s.decode(errors="replace") for p, s in {**sources, **after}.items()}, mended)


def _encoded(files: Files) -> dict[str, bytes]:
    return {
        path: text if isinstance(text, bytes) else dedent(text).lstrip("\n").encode()
        for path, text in files.items()
    }


def _tree(sources: Mapping[str, bytes]) -> Tree:
    return Tree(files={path: extract(source) for path, source in sorted(sources.items())})
