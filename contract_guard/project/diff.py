"""A whole `diff`: from two revisions to changes, findings and the commits that made them."""

import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from contract_guard.findings import Finding, TestsLost
from contract_guard.project import run_cache
from contract_guard.project.cache import Cache, code_stamp
from contract_guard.project.config import Config
from contract_guard.project.encoding import decode, decode_result
from contract_guard.project.git_objects import Commit
from contract_guard.project.places import checked_root
from contract_guard.project.revisions import Revisions
from contract_guard.project.rules import may_ask_for_fragments, rules_directory
from contract_guard.registry.model import Change


class Diffed(msgspec.Struct, frozen=True, kw_only=True):
    """The contracts that changed, worst first, and the findings that the change brings.

    `lost` are the tests that can no longer be collected, each counted once, None where all can.
    `conflicts` are files that a merge of both revisions would leave to a person. `commits` holds
    those that the changes name, by oid. `old` and `new`
    are the commits that were compared, `new` None for the working tree. `warnings` and `notices`
    are sentences for the user; the notices say what the same run would say again.
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
    notices: tuple[str, ...] = ()


def diff(
    root: Path,
    config: Config,
    base: str,
    head: str | None = None,
    *,
    merge: bool = True,
    consumers: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> Diffed:
    """What `head` (None: the working tree) changes of the contracts of the project at `root`.

    With `merge`, the change is told from the common ancestor with `base`, and what breaks only
    when both are merged is told as well. `consumers` are directories, or releases as
    `DIST==VERSION`, of projects that import this one. `select` and `ignore` are as for `check`.

    Raises UserError for a place that is no repository, an unknown revision, histories without a
    common ancestor, and objects that this clone lacks.
    """
    root = checked_root(root)
    select = tuple(select or config.select)
    ignore = (*config.ignore, *ignore)
    with Revisions(
        root,
        config,
        base,
        head,
        merge=merge,
        jobs=jobs,
        cache_dir=cache_dir,
        fragments=may_ask_for_fragments(select),
    ) as revisions:
        if consumers:
            return _diffed(revisions, config, consumers, select, ignore, jobs, cache_dir)
        if head is not None:
            # Commits do not change: the working tree need not be looked at.
            commits = (revisions.ancestor, revisions.base, revisions.head)
            parts = ("commits", str(root), commits, config, select, ignore)
            return _kept(
                parts,
                cache_dir,
                lambda: _diffed(revisions, config, (), select, ignore, jobs, cache_dir),
            )
        options = {
            "command": "diff",
            "commits": (revisions.ancestor, revisions.base, revisions.head),
            "select": select,
            "ignore": ignore,
        }
        lookup = run_cache.look_up(root, config, options, cache_dir=cache_dir)
        known = decode_result(lookup.result, Diffed)
        if known is not None:
            return known
        revisions.found = lookup.found
        diffed = _diffed(revisions, config, (), select, ignore, jobs, cache_dir)
        if not diffed.warnings:
            stamps = {file.path: file for file in lookup.found.python}
            run_cache.keep(lookup, stamps, msgspec.msgpack.encode(diffed))
        return diffed


def _diffed(
    revisions: Revisions,
    config: Config,
    consumers: Sequence[str],
    select: Sequence[str],
    ignore: Sequence[str],
    jobs: int | None,
    cache_dir: Path | None,
) -> Diffed:
    # Not needed where the result was kept.
    from contract_guard.project.comparison import Comparer
    from contract_guard.project.culprits import with_commits
    from contract_guard.project.documents import with_documents
    from contract_guard.project.former import FormerValues
    from contract_guard.project.releases import load_release
    from contract_guard.registry.boundary import across_boundaries

    history = FormerValues(revisions.repository, revisions.ancestor)
    comparer = Comparer(config, select, ignore, history)
    old, new = revisions.old, revisions.new
    merged = (revisions.other, revisions.merged) if revisions.needs_merge else None
    compared = comparer.compared(old, new, merged, downstream=bool(consumers))
    last = merged[1].state if merged is not None else new
    for consumer in consumers:
        state = load_release(consumer, cache_dir, jobs)
        compared = comparer.downstream(compared, old, last, state, consumer)
    changes = with_documents(revisions.repository, revisions.head, compared.changes)
    changes, commits = with_commits(
        revisions.repository,
        across_boundaries(changes, compared.old, compared.last),
        [f"{revisions.ancestor}..{revisions.head}", f"{revisions.ancestor}..{revisions.base}"],
    )
    return Diffed(
        changes=tuple(changes),
        commits=commits,
        findings=tuple(sorted(compared.findings, key=lambda f: (f.sort_key, f.message))),
        lost=compared.lost,
        conflicts=merged[1].conflicts if merged is not None else (),
        files=len(new.tree.files),
        tests=compared.tests,
        old=revisions.ancestor,
        new=None if revisions.is_working_tree else revisions.head,
        warnings=(*revisions.warnings, *history.warnings),
        notices=comparer.notices,
    )


def diff_releases(
    base: str,
    head: str,
    *,
    consumers: Sequence[str] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    jobs: int | None = None,
    cache_dir: Path | None,
) -> Diffed:
    """The same for two releases, `DIST==VERSION` or archives or directories of them.

    A consumer may be a release of the same project: its own tests, against the newer one. A
    release does not change, so that the result for some is kept.

    Raises UserError for a release that cannot be had.
    """
    specs = (base, head, *consumers)
    is_pinned = all("==" in spec and not Path(spec).exists() for spec in specs)
    parts = ("releases", specs, tuple(select), tuple(ignore))
    return _kept(
        parts,
        cache_dir if is_pinned else None,
        lambda: _releases_compared(base, head, consumers, select, ignore, jobs, cache_dir),
    )


def _kept(
    parts: tuple[object, ...], cache_dir: Path | None, compare: Callable[[], Diffed]
) -> Diffed:
    """The result for what does not change, made once for this state of the program."""
    package = Path(__file__).parent.parent
    code = (code_stamp(package), code_stamp(rules_directory()))
    key = hashlib.sha256(msgspec.msgpack.encode((*parts, code))).digest()
    with Cache(cache_dir) as cache:
        known = decode_result(cache.result(key), Diffed)
    if known is not None:
        return known
    diffed = compare()
    if not diffed.warnings:
        with Cache(cache_dir) as cache:
            cache.keep_result(key, msgspec.msgpack.encode(diffed))
    return diffed


def _releases_compared(
    base: str,
    head: str,
    consumers: Sequence[str],
    select: Sequence[str],
    ignore: Sequence[str],
    jobs: int | None,
    cache_dir: Path | None,
) -> Diffed:
    from contract_guard.project.comparison import Comparer
    from contract_guard.project.releases import load_release
    from contract_guard.registry.boundary import across_boundaries

    comparer = Comparer(Config(), select, ignore)
    shared = functools.cache(decode)
    old, new = (load_release(spec, cache_dir, jobs, shared) for spec in (base, head))
    compared = comparer.compared(old, new, downstream=bool(consumers))
    for consumer in consumers:
        state = load_release(consumer, cache_dir, jobs, shared)
        compared = comparer.downstream(compared, old, new, state, consumer)
    return Diffed(
        changes=tuple(across_boundaries(compared.changes, compared.old, compared.last)),
        commits={},
        findings=tuple(sorted(compared.findings, key=lambda f: (f.sort_key, f.message))),
        lost=compared.lost,
        conflicts=(),
        files=len(new.tree.files),
        tests=compared.tests,
        old=base,
        new=head,
        warnings=(),
        notices=comparer.notices,
    )
