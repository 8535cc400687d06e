"""A whole `diff`: from two revisions to changes, findings and the commits that made them."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from contract_guard.findings import Finding, TestsLost
from contract_guard.project import run_cache
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.git_objects import Commit
from contract_guard.project.merging import State
from contract_guard.project.places import checked_root
from contract_guard.project.revisions import Revisions
from contract_guard.registry.model import Change

if TYPE_CHECKING:
    from contract_guard.detectors.base import Detector
    from contract_guard.registry.index import Registry


class Diffed(msgspec.Struct, frozen=True, kw_only=True):
    """The contracts that changed, worst first, and the findings that the change brings.

    `lost` are the tests that can no longer be collected, each counted once, None where all can.
    `conflicts` are files that a merge of both revisions would leave to a person. `commits` holds
    those that the changes name, by oid. `old` and `new`
    are the commits that were compared, `new` None for the working tree.
    """

    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]
    lost: TestsLost | None
    conflicts: tuple[str, ...]
    commits: dict[str, Commit]
    files: int
    tests: int
    old: str
    new: str | None
    warnings: tuple[str, ...]


def diff(
    root: Path,
    config: Config,
    base: str,
    head: str | None = None,
    *,
    merge: bool = True,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> Diffed:
    """What `head` (None: the working tree) changes of the contracts of the project at `root`.

    With `merge`, the change is told from the common ancestor with `base`, and what breaks only
    when both are merged is told as well. `select` and `ignore` are as for `check`.

    Raises UserError for a place that is no repository, an unknown revision, histories without a
    common ancestor, and objects that this clone lacks.
    """
    root = checked_root(root)
    select = tuple(select or config.select)
    ignore = (*config.ignore, *ignore)
    with Revisions(
        root, config, base, head, merge=merge, jobs=jobs, cache_dir=cache_dir
    ) as revisions:
        options = {
            "command": "diff",
            "commits": (revisions.ancestor, revisions.base, revisions.head),
            "working tree": head is None,
            "select": select,
            "ignore": ignore,
        }
        lookup = run_cache.look_up(root, config, options, cache_dir=cache_dir)
        if lookup.result is not None:
            return msgspec.msgpack.decode(lookup.result, type=Diffed)
        diffed = _Comparison(revisions, config, select, ignore).diffed()
        if not diffed.warnings:
            stamps = {file.path: file for file in lookup.found.python}
            run_cache.keep(lookup, stamps, msgspec.msgpack.encode(diffed))
        return diffed


class _Comparison:
    def __init__(
        self, revisions: Revisions, config: Config, select: Sequence[str], ignore: Sequence[str]
    ) -> None:
        self._revisions = revisions
        self._config = config
        self._select = select
        self._ignore = ignore

    def diffed(self) -> Diffed:
        # Not needed where the result was kept.
        from contract_guard.detectors.drift import join
        from contract_guard.project.culprits import with_commits
        from contract_guard.project.documents import with_documents
        from contract_guard.registry.boundary import across_boundaries
        from contract_guard.registry.compare import compare
        from contract_guard.registry.impact import ImportGraph
        from contract_guard.registry.index import build

        revisions = self._revisions
        old = build(revisions.old.tree)
        new = self._after(old, revisions.new)
        findings = self._fresh(new, revisions.new, (old, revisions.old))
        changes = join(compare(old, new), findings, old, new)
        conflicts: tuple[str, ...] = ()
        last = new
        if revisions.needs_merge:
            merged = revisions.merged
            conflicts = merged.conflicts
            other = build(revisions.other.tree)
            last = self._after(old, merged.state)
            known = ((other, revisions.other), (new, revisions.new), (old, revisions.old))
            only_merged = self._fresh(last, merged.state, *known)
            findings += only_merged
            changes = join(changes, only_merged, old, last, "merge")
        literals = self._literals(revisions.new, new, changes)
        findings += literals
        changes = join(changes, literals, old, new)
        changes = with_documents(revisions.repository, revisions.head, changes)
        failing = [f.path for f in findings if f.impact == "collection-error"]
        graph = ImportGraph(last)
        lost = {failure.path for path in failing for failure in graph.failures(path)}
        tests = [
            graph.collection.lost([path])
            for path, _ in new.facts()
            if new.layout.is_test_module(path)
        ]
        changes, commits = with_commits(
            revisions.repository,
            across_boundaries(changes, old, last),
            [f"{revisions.ancestor}..{revisions.head}", f"{revisions.ancestor}..{revisions.base}"],
        )
        return Diffed(
            changes=tuple(changes),
            commits=commits,
            findings=tuple(sorted(findings, key=lambda f: (f.sort_key, f.message))),
            lost=graph.collection.lost(sorted(lost)),
            conflicts=conflicts,
            files=len(new.tree.files),
            tests=sum(test.count for test in tests if test is not None),
            old=revisions.ancestor,
            new=None if revisions.is_working_tree else revisions.head,
            warnings=tuple(revisions.warnings),
        )

    def _literals(
        self, state: State, registry: "Registry", changes: Sequence[Change]
    ) -> list[Finding]:
        """Literals that have the former value of a constant."""
        from contract_guard.detectors.former_values import former_values

        detector = partial(former_values, changes=changes)
        return self._run(registry, state, {"CG203"}, [(frozenset({"CG203"}), detector)])

    @staticmethod
    def _after(old: "Registry", state: State) -> "Registry":
        """The registry of what came of `old`: packages that it had are not taken for others."""
        from contract_guard.registry.former import former_packages
        from contract_guard.registry.index import build

        registry = build(state.tree)
        former = former_packages(old, registry)
        if not former:
            return registry
        return build(msgspec.structs.replace(state.tree, former=former))

    def _fresh(
        self, new: "Registry", state: State, *known: "tuple[Registry, State]"
    ) -> list[Finding]:
        """What is broken in `new` and in none of `known`. Each registry is asked only after files
        in which the answer may matter."""
        from contract_guard.detectors.drift import BREAKING, Side, fresh
        from contract_guard.detectors.run import DETECTORS
        from contract_guard.registry.affected import affected_paths
        from contract_guard.registry.contents import changed_paths

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
        registry: "Registry",
        state: State,
        rules: Collection[str],
        detectors: "Sequence[tuple[frozenset[str], Detector]]",
    ) -> list[Finding]:
        from contract_guard.detectors.run import run

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
