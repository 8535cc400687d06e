"""Two states of a project compared: changes, and what they break in it and further down."""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from contract_guard.detectors.base import Detector
from contract_guard.detectors.drift import BREAKING, Side, fresh, join
from contract_guard.detectors.former_values import former_values
from contract_guard.detectors.outdated_calls import only_misfits
from contract_guard.detectors.run import DETECTORS, run
from contract_guard.findings import Finding, TestsLost
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.labels import Labelled
from contract_guard.project.merging import Merged, State
from contract_guard.registry.affected import affected_paths
from contract_guard.registry.compare import compare, with_consumers
from contract_guard.registry.contents import changed_paths
from contract_guard.registry.former import former_packages
from contract_guard.registry.guards import Error
from contract_guard.registry.impact import ImportGraph
from contract_guard.registry.index import Registry, build
from contract_guard.registry.layout import Layout, key_of
from contract_guard.registry.model import Change, Tree

_RAISES: dict[str, Error] = {
    "CG101": "ImportError",
    "CG102": "AttributeError",
    "CG103": "AttributeError",
    "CG104": "ModuleNotFoundError",
}


class Compared(NamedTuple):
    """`old` and `last` are the registries at both ends, `last` that of the merge if there is one.
    `tests` is their number at the newer end."""

    changes: list[Change]
    findings: list[Finding]
    old: Registry
    last: Registry
    tests: int
    lost: TestsLost | None


class Comparer:
    """Compares with one choice of rules."""

    def __init__(self, config: Config, select: Sequence[str], ignore: Sequence[str]) -> None:
        self._config = config
        self._select = select
        self._ignore = ignore

    def compared(
        self,
        before: State,
        after: State,
        merge: tuple[State, Merged] | None = None,
        *,
        downstream: bool = False,
    ) -> Compared:
        """`merge` is the state of the branch that `after` is to go into, and what comes of it.
        With `downstream`, changes of what only others may name are kept for them."""
        old = build(before.tree)
        new = _after(old, after)
        findings = self._fresh(new, after, (old, before))
        changes = join(compare(old, new, downstream=downstream), findings, old, new)
        last = new
        if merge is not None:
            branch, merged = merge
            last = _after(old, merged.state)
            known = ((build(branch.tree), branch), (new, after), (old, before))
            only_merged = self._fresh(last, merged.state, *known)
            findings += only_merged
            changes = join(changes, only_merged, old, last, "merge")
        literals = self._literals(after, new, changes)
        findings += literals
        changes = only_misfits(join(changes, literals, old, new), old, new, after.read)
        tests, lost = _tests(new, last, findings)
        return Compared(changes, findings, old, last, tests, lost)

    def downstream(
        self, compared: Compared, before: State, after: State, consumer: State, label: str
    ) -> Compared:
        """What the same change does to a project that imports this one. Its paths come with
        `label/` in front. Where it is another version of this project, its tests are meant."""
        old, new = (_imported_by(consumer.tree, state.tree, label) for state in (before, after))
        bare = [msgspec.structs.replace(c, consumers=()) for c in compared.changes]
        known = Side(old, self._run(old, consumer, BREAKING, DETECTORS))
        findings = fresh(Side(new, self._run(new, consumer, BREAKING, DETECTORS)), known)
        changes = join(with_consumers(bare, old, new), findings, old, new)
        literals = self._literals(consumer, new, changes)
        changes = join(changes, literals, old, new)
        tests, lost = _tests(new, new, findings)
        below = Labelled(label)
        own = [change.consumers for change in compared.changes]
        own += [()] * (len(changes) - len(own))
        return Compared(
            [below.change(c, others) for c, others in zip(changes, own, strict=True)],
            [*compared.findings, *(below.finding(f) for f in (*findings, *literals))],
            compared.old,
            compared.last,
            compared.tests + tests,
            _together(compared.lost, lost and below.lost(lost)),
        )

    def _literals(
        self, state: State, registry: Registry, changes: Sequence[Change]
    ) -> list[Finding]:
        """Literals that have the former value of a constant."""
        detector = partial(former_values, changes=changes)
        return self._run(registry, state, {"CG203"}, [(frozenset({"CG203"}), detector)])

    def _fresh(self, new: Registry, state: State, *known: tuple[Registry, State]) -> list[Finding]:
        """What is broken in `new` and in none of `known`. Each registry is asked only after files
        in which the answer may matter."""
        base = known[0][0].tree
        paths = affected_paths(base, new.tree, changed_paths(base, new.tree))
        part = new if paths is None else new.only(paths)
        found = Side(new, self._run(part, state, BREAKING, DETECTORS))
        if not found.findings:
            return []
        failing = {finding.path for finding in found.findings}
        sides: list[Side] = []
        for registry, known_state in known:
            moved = registry.tree.files.keys() - new.tree.files.keys()
            asked = registry.only(failing | moved)
            sides.append(Side(registry, self._run(asked, known_state, BREAKING, DETECTORS)))
        return fresh(found, *sides)

    def _run(
        self,
        registry: Registry,
        state: State,
        rules: Collection[str],
        detectors: Sequence[tuple[frozenset[str], Detector]],
    ) -> list[Finding]:
        return run(
            registry,
            state.read,
            rules=rules,
            detectors=detectors,
            select=self._select,
            ignore=self._ignore,
            per_file_ignores=self._config.per_file_ignores,
            severity=self._config.severity,
            version_predicates=self._config.version_predicates,
            patch_wrappers=self._config.patch_wrappers,
            known=rule_ids(),
            unreadable=state.unreadable,
        )


def _after(old: Registry, state: State) -> Registry:
    """The registry of what came of `old`: packages that it had are not taken for others."""
    registry = build(state.tree)
    former = former_packages(old, registry)
    if not former:
        return registry
    return build(msgspec.structs.replace(state.tree, former=former))


def _imported_by(consumer: Tree, library: Tree, label: str) -> Registry:
    """The registry of a consumer that has the library installed: without the library's tests, and
    without the consumer's own copy of the library."""
    library_layout, layout = Layout(library), Layout(consumer)
    installed = {
        path: facts for path, facts in library.files.items() if not library_layout.is_test(path)
    }
    packaged = (path for path in installed if not library_layout.is_loose(path))
    tops = {library_layout.name(key_of(path)).partition(".")[0] for path in packaged}
    own = {
        path: facts
        for path, facts in consumer.files.items()
        if layout.name(key_of(path)).partition(".")[0] not in tops
    }
    return build(
        msgspec.structs.replace(consumer, files=own),
        msgspec.structs.replace(library, files=installed, origin=label),
    )


def _tests(
    new: Registry, last: Registry, findings: Iterable[Finding]
) -> tuple[int, TestsLost | None]:
    """The number of tests, and those that can no longer be collected, each once."""
    graph = ImportGraph(last)
    counted = (
        graph.collection.tests(path) for path, _ in new.facts() if new.layout.is_test_module(path)
    )
    number = sum(test.cases for tests in counted for test in tests)
    lost = {
        failure.path
        for finding in findings
        if finding.impact == "collection-error" and finding.rule in _RAISES
        for failure in graph.failures(finding.path, _RAISES[finding.rule])
    }
    return number, graph.collection.lost(sorted(lost))


def _together(one: TestsLost | None, other: TestsLost | None) -> TestsLost | None:
    if one is None or other is None:
        return one or other
    return TestsLost(one.count + other.count, one.exact and other.exact, (*one.ids, *other.ids))
