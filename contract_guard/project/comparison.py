"""Two states of a project compared: changes, and what they break in it and further down."""

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import msgspec

from contract_guard.detectors.base import Context, Detector
from contract_guard.detectors.carried import RAISES
from contract_guard.detectors.drift import BREAKING, Side, fresh, join, with_new_names
from contract_guard.detectors.drifted import drifted_mirrors
from contract_guard.detectors.former_fixtures import former_fixtures, gone_fixtures
from contract_guard.detectors.former_texts import former_texts
from contract_guard.detectors.former_values import former_values
from contract_guard.detectors.narrowed import merged_inputs
from contract_guard.detectors.older_values import History, older_values
from contract_guard.detectors.outdated_calls import outdated_calls
from contract_guard.detectors.own_names import own_names
from contract_guard.detectors.run import DETECTORS, chosen_rules, run
from contract_guard.findings import Finding, TestsLost
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.labels import Labelled
from contract_guard.project.merging import Merged, State
from contract_guard.registry.affected import affected_paths
from contract_guard.registry.compare import compare, with_consumers
from contract_guard.registry.contents import changed_paths
from contract_guard.registry.former import former_packages
from contract_guard.registry.impact import import_graph
from contract_guard.registry.index import Registry, build
from contract_guard.registry.layout import Layout, key_of
from contract_guard.registry.model import Change, Tree
from contract_guard.text import plural

_NAMED_UNREADABLE = 3
ChangeDetector = Callable[[Context, Context, Sequence[Change]], Iterable[Finding]]
"""Takes the newer end of a comparison, where its findings are, the older end, and the changes."""

# What only a comparison can tell, with the rules whose findings it gives.
OF_CHANGES: tuple[tuple[frozenset[str], ChangeDetector], ...] = (
    (frozenset({"CG101"}), own_names),
    (frozenset({"CG106"}), former_fixtures),
    (frozenset({"CG107"}), outdated_calls),
    (frozenset({"CG203"}), former_values),
    (frozenset({"CG203"}), former_texts),
    (frozenset({"CG307"}), merged_inputs),
    (frozenset({"CG310"}), drifted_mirrors),
)


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
    """Compares with one choice of rules; with a `history`, former values are looked for in it."""

    def __init__(
        self,
        config: Config,
        select: Sequence[str],
        ignore: Sequence[str],
        history: History | None = None,
    ) -> None:
        self._history = history
        self._config = config
        self._select = select
        self._ignore = ignore
        self._notices: dict[str, None] = {}

    @property
    def notices(self) -> tuple[str, ...]:
        """Sentences for the user on what was not looked at, each once."""
        return tuple(self._notices)

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
        self._tell_unreadable(before, after)
        old = _End(build(before.tree), before)
        new = _End(_after(old.registry, after), after)
        found = compare(old.registry, new.registry, downstream=True)
        findings = self._fresh(new, old)
        changes = join(found, findings, old.registry, new.registry)
        told = self._of_changes(new, old, changes, self._history)
        findings = [*_unexplained(findings, told, old, new), *told]
        changes = join(found, findings, old.registry, new.registry)
        findings = with_new_names(_with_fixable(findings, found, old, new), found)
        last = new
        if merge is not None:
            branch, merged = merge
            last = _End(_after(old.registry, merged.state), merged.state)
            theirs = _End(build(branch.tree), branch)
            others, broken = self._merged(last, old, new, theirs, told)
            known = {change.symbol for change in changes}
            changes += [change for change in others if change.symbol not in known]
            changes = join(changes, broken, old.registry, last.registry, "merge")
            # What only the merge breaks is whole in the working tree: nothing to mend there.
            findings += _not_fixable(broken)
        if not downstream:
            changes = [change for change in changes if change.consumers]
        tests, lost = _tests(new.registry, last.registry, findings)
        return Compared(changes, findings, old.registry, last.registry, tests, lost)

    def _tell_unreadable(self, before: State, after: State) -> None:
        """What can no longer be read says nothing of what it takes from others. Whoever turned
        CG903 off knows."""
        came = sorted(after.unreadable.keys() - before.unreadable.keys())
        if not came or not chosen_rules({"CG903"}, (), self._ignore, self._config.severity):
            return
        named = [
            f"{path}:{why.line} ({why.detail})" if why.line else f"{path} ({why.detail})"
            for path in came[:_NAMED_UNREADABLE]
            for why in [after.unreadable[path]]
        ]
        more = f" and {len(came) - len(named):,} more" if len(came) > len(named) else ""
        told = f"{plural(len(came), 'file')} could not be read and may hold anything"
        self._notices[f"{told}: {', '.join(named)}{more}"] = None

    def _merged(
        self, last: "_End", old: "_End", new: "_End", theirs: "_End", told: Sequence[Finding]
    ) -> tuple[list[Change], list[Finding]]:
        """What only the merge breaks, and the changes by either side that do it."""
        changes = compare(old.registry, last.registry, downstream=True)
        there = compare(old.registry, theirs.registry, downstream=True)
        told_there = self._of_changes(theirs, old, there)
        known = {finding.fingerprint for finding in (*told, *told_there)}
        told_merged = [
            finding
            for finding in self._of_changes(last, old, changes)
            if finding.fingerprint not in known
        ]
        findings = [
            *_unexplained(self._fresh(last, theirs, new, old), told_merged, old, last),
            *told_merged,
        ]
        symbols = {finding.symbol for finding in told_merged}
        bare = [msgspec.structs.replace(c, consumers=()) for c in changes if c.symbol in symbols]
        return bare, with_new_names(findings, changes)

    def downstream(
        self, compared: Compared, before: State, after: State, consumer: State, label: str
    ) -> Compared:
        """What the same change does to a project that imports this one. Its paths come with
        `label/` in front. Where it is another version of this project, its tests are meant."""
        old, new = (
            _End(_imported_by(consumer.tree, state.tree, label), consumer)
            for state in (before, after)
        )
        bare = [msgspec.structs.replace(c, consumers=()) for c in compared.changes]
        known = Side(old.registry, self._run(old, BREAKING, DETECTORS))
        findings = fresh(Side(new.registry, self._run(new, BREAKING, DETECTORS)), known)
        found = with_consumers(bare, old.registry, new.registry)
        changes = join(found, findings, old.registry, new.registry)
        findings += self._of_changes(new, old, changes)
        changes = join(found, findings, old.registry, new.registry)
        # `--fix` mends this project alone.
        findings = _not_fixable(with_new_names(findings, compared.changes))
        tests, lost = _tests(new.registry, new.registry, findings)
        below = Labelled(label)
        own = [change.consumers for change in compared.changes]
        own += [()] * (len(changes) - len(own))
        return Compared(
            [below.change(c, others) for c, others in zip(changes, own, strict=True)],
            [*compared.findings, *map(below.finding, findings)],
            compared.old,
            compared.last,
            compared.tests + tests,
            _together(compared.lost, lost and below.lost(lost)),
        )

    def _of_changes(
        self,
        new: "_End",
        old: "_End",
        changes: Sequence[Change],
        history: History | None = None,
    ) -> list[Finding]:
        """What can be told of a file only by what it was, or by what has changed."""
        earlier = Context(old.registry, old.state.read, old.state.unreadable)

        def over(detect: ChangeDetector) -> Detector:
            return lambda context: detect(context, earlier, changes)

        detectors = [(rules, over(detect)) for rules, detect in OF_CHANGES]
        if history is not None:

            def older(context: Context) -> Iterable[Finding]:
                return older_values(context, earlier, history)

            detectors.append((frozenset({"CG203"}), older))
        rules = frozenset[str]().union(*(rules for rules, _ in OF_CHANGES))
        found = self._run(new, rules, detectors)
        self._notices.update(dict.fromkeys(earlier.notices))
        return found

    def _fresh(self, new: "_End", *known: "_End") -> list[Finding]:
        """What is broken in `new` and in none of `known`. Each registry is asked only after files
        in which the answer may matter."""
        base = known[0].registry.tree
        paths = affected_paths(base, new.tree, changed_paths(base, new.tree))
        part = new if paths is None else new.only(paths)
        found = Side(new.registry, self._run(part, BREAKING, DETECTORS))
        if not found.findings:
            return []
        failing = {finding.path for finding in found.findings}
        sides: list[Side] = []
        for end in known:
            moved = end.tree.files.keys() - new.tree.files.keys()
            asked = end.only(failing | moved)
            sides.append(Side(asked.registry, self._run(asked, BREAKING, DETECTORS)))
        return fresh(found, *sides)

    def _run(
        self,
        end: "_End",
        rules: Collection[str],
        detectors: Sequence[tuple[frozenset[str], Detector]],
    ) -> list[Finding]:
        return run(
            end.registry,
            end.state.read,
            rules=rules,
            detectors=detectors,
            select=self._select,
            ignore=self._ignore,
            per_file_ignores=self._config.per_file_ignores,
            severity=self._config.severity,
            version_predicates=self._config.version_predicates,
            patch_wrappers=self._config.patch_wrappers,
            known=rule_ids(),
            unreadable=end.state.unreadable,
        )


class _End(NamedTuple):
    """One end of a comparison."""

    registry: Registry
    state: State

    @property
    def tree(self) -> Tree:
        return self.registry.tree

    def only(self, paths: Collection[str]) -> "_End":
        return self._replace(registry=self.registry.only(paths))


def _unexplained(
    findings: Iterable[Finding], told: Iterable[Finding], old: _End, new: _End
) -> list[Finding]:
    """The findings without those on fixtures of which more is told: that they are gone."""
    gone = gone_fixtures(old.registry, new.registry)
    places = {(finding.path, finding.line, finding.symbol) for finding in told}
    return [
        f
        for f in findings
        if f.rule != "CG106" or (f.path, f.line, gone.get(f.symbol, "")) not in places
    ]


def _not_fixable(findings: Iterable[Finding]) -> list[Finding]:
    return [msgspec.structs.replace(finding, fixable="no") for finding in findings]


def _with_fixable(
    findings: list[Finding], changes: Iterable[Change], old: _End, new: _End
) -> list[Finding]:
    """What `--fix` would mend, of the files at the newer end."""
    if not findings:
        return findings
    # Not needed where nothing is broken.
    from contract_guard.fixes.model import Knowledge
    from contract_guard.project.mendable import MENDED, by_symbol, with_fixable

    knowledge = Knowledge(
        new.registry,
        new.state.read,
        old=old.registry,
        read_old=old.state.read,
        changes=by_symbol(changes),
    )
    return with_fixable(findings, MENDED, knowledge)


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
    graph = import_graph(last)
    counted = (
        graph.collection.tests(path) for path, _ in new.facts() if new.layout.is_test_module(path)
    )
    number = sum(test.cases for tests in counted for test in tests)
    lost = {
        failure.path
        for finding in findings
        if finding.impact == "collection-error" and finding.rule in RAISES
        for failure in graph.failures(finding.path, RAISES[finding.rule])
    }
    return number, graph.collection.lost(sorted(lost))


def _together(one: TestsLost | None, other: TestsLost | None) -> TestsLost | None:
    if one is None or other is None:
        return one or other
    return TestsLost(one.count + other.count, one.exact and other.exact, (*one.ids, *other.ids))
