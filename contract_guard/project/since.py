"""`check --base`: which findings a revision has too, without any file that says so."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from contract_guard.findings import Finding
from contract_guard.project.against import Against
from contract_guard.project.cache import Cache, code_stamp
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.encoding import decode_result
from contract_guard.project.git_objects import Repository
from contract_guard.project.places import checked_root
from contract_guard.project.revisions import Revisions
from contract_guard.project.rules import may_ask_for_fragments, rules_directory

# Rules that are asked of a file only if it has a finding of them now. What a comment suppresses can
# be told only by all rules.
_SLOW = frozenset({"CG301", "CG302", "CG303", "CG304", "CG901"})


class _Seen(msgspec.Struct, frozen=True):
    """What a revision has: findings in the files that were asked for, and its Python files."""

    findings: tuple[Finding, ...]
    paths: frozenset[str]


def known_since(
    root: Path,
    config: Config,
    base: str,
    merging: Sequence[str],
    findings: Sequence[Finding],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
    against: Sequence[Against] = (),
) -> Counter[str]:
    """How many of each fingerprint the common ancestor of HEAD and `base` has, of the files that
    `findings`, those of the working tree, are in. What stands in a moved file counts as there
    where the old file had a finding of the same rule on the same symbol. While a merge is under
    way, what the other side has is known too, and so is what the commits of `merging` have.
    `against` is as for `check`.

    Raises UserError for a place that is no repository, an unknown revision, and histories without
    a common ancestor. Before the first commit, HEAD has nothing.
    """
    root = checked_root(root)
    with Repository(root) as repository:
        if base == "HEAD" and repository.is_unborn:
            return Counter()
        others = dict.fromkeys((*repository.merge_heads, *merging))
    sides = [(base, True), *((head, False) for head in others)]
    known: Counter[str] = Counter()
    for revision, is_forked in sides:
        with Revisions(
            root,
            config,
            revision,
            None,
            merge=is_forked,
            jobs=jobs,
            cache_dir=cache_dir,
            fragments=may_ask_for_fragments(select or config.select),
        ) as revisions:
            look = _Look(config, tuple(select), tuple(ignore), tuple(against), jobs, cache_dir)
            seen = look.at(revisions, findings)
        known |= _counts(seen, findings, root)
    return known


def _counts(seen: _Seen, findings: Iterable[Finding], root: Path) -> Counter[str]:
    counts = Counter(finding.fingerprint for finding in seen.findings)
    moved = Counter((f.rule, f.symbol) for f in seen.findings if not (root / f.path).exists())
    for finding in findings:
        key = (finding.rule, finding.symbol)
        if moved[key] and finding.path not in seen.paths:
            moved[key] -= 1
            counts[finding.fingerprint] += 1
    return counts


class _Look(NamedTuple):
    config: Config
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    against: tuple[Against, ...]
    jobs: int | None
    cache_dir: Path | None

    def at(self, revisions: Revisions, findings: Iterable[Finding]) -> _Seen:
        """What the revision has in the files of the findings."""
        findings = list(findings)
        if not findings:
            return _Seen((), frozenset())
        slow = {finding.path for finding in findings if finding.rule in _SLOW}
        asked = {path: path in slow for path in sorted({finding.path for finding in findings})}
        package = Path(__file__).parent.parent
        depends_on = (
            "since",
            code_stamp(package),
            code_stamp(rules_directory()),
            self.config,
            str(revisions.root),
            revisions.ancestor,
            self.select,
            self.ignore,
            [each.identity for each in self.against],
            asked,
        )
        key = hashlib.sha256(msgspec.msgpack.encode(depends_on)).digest()
        with Cache(self.cache_dir) as cache:
            seen = decode_result(cache.result(key), _Seen)
        if seen is None:
            seen = self._seen(revisions, asked)
            if not revisions.warnings and all(each.is_settled for each in self.against):
                with Cache(self.cache_dir) as cache:
                    cache.keep_result(key, msgspec.msgpack.encode(seen))
        return seen

    def _seen(self, revisions: Revisions, asked: Mapping[str, bool]) -> _Seen:
        # Not needed where the result was kept.
        from contract_guard.detectors.run import RULES, run
        from contract_guard.project.outlines import outlines
        from contract_guard.registry.index import build

        state = revisions.old
        others = outlines(self.against, state.tree, jobs=self.jobs, cache_dir=self.cache_dir)
        registry = build(state.tree, *others)
        paths = frozenset(state.tree.files)
        slow = {path for path, is_slow in asked.items() if is_slow}
        if not paths.issuperset(asked):
            slow |= {path for path in paths if not (revisions.root / path).exists()}
        found: list[Finding] = []
        for part, rules in ((slow, RULES), (asked.keys() - slow, RULES - _SLOW)):
            if part:
                there = run(
                    registry.only(part),
                    state.read,
                    rules=rules,
                    select=tuple(self.select or self.config.select),
                    ignore=(*self.config.ignore, *self.ignore),
                    per_file_ignores=self.config.per_file_ignores,
                    severity=self.config.severity,
                    known=rule_ids(),
                    unreadable=state.unreadable,
                    version_predicates=self.config.version_predicates,
                    patch_wrappers=self.config.patch_wrappers,
                )
                found += [finding for finding in there if finding.path in part]
        return _Seen(tuple(found), paths)
