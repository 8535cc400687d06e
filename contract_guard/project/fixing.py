"""`--fix`: the fixes of a `check` or a `diff`, made in memory and written to the working tree."""

import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from contract_guard.detectors.base import Context, Detector
from contract_guard.detectors.former_fixtures import former_fixtures
from contract_guard.detectors.outdated_calls import outdated_calls
from contract_guard.detectors.own_names import own_names
from contract_guard.detectors.run import DETECTORS, RULES, is_selected, run
from contract_guard.errors import UserError
from contract_guard.findings import Finding
from contract_guard.fixes.model import CannotFix, Knowledge
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.extraction import asks_for_fragments
from contract_guard.project.line_length import line_length
from contract_guard.project.mendable import MENDED, by_symbol
from contract_guard.project.mending import Find, Mended, Read, mend, mend_one
from contract_guard.project.places import checked_root, select_paths
from contract_guard.project.revisions import Revisions
from contract_guard.project.rules import load_rules
from contract_guard.project.snapshot import load
from contract_guard.project.writing import Refused, must_be_replaceable, replace_file
from contract_guard.registry.compare import compare
from contract_guard.registry.former import build_after
from contract_guard.registry.index import Registry, build
from contract_guard.registry.model import Change
from contract_guard.text import plural

if TYPE_CHECKING:
    from contract_guard.project.against import Against

_FINDS_BY_ALL_FILES = ("CG30",)
_PLACE = re.compile(r"(.+?):(\d{1,9})(?::\d+)?")  # a column may follow, as in what is reported


def mend_check(
    root: Path,
    config: Config,
    findings: Iterable[Finding],
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    unsafe: bool = False,
    jobs: int | None = None,
    cache_dir: Path | None = None,
    against: "Sequence[Against]" = (),
) -> Mended:
    """The fixes of what `check` found, with the same options. Nothing is written.

    Raises UserError as `check` does.
    """
    wanted = _fixable(findings)
    if not wanted:
        return Mended()
    root = checked_root(root)
    select, ignore = tuple(select or config.select), (*config.ignore, *ignore)
    rules = RULES
    if not any(finding.rule.startswith(_FINDS_BY_ALL_FILES) for finding in wanted):
        rules = frozenset(r for r in RULES if not r.startswith(_FINDS_BY_ALL_FILES))
    fragments = asks_for_fragments(rule for rule in rules if is_selected(rule, select, ignore))
    snapshot = load(root, config, jobs=jobs, cache_dir=cache_dir, fragments=fragments)
    from contract_guard.project.outlines import outlines

    others = outlines(against, snapshot.tree, jobs=jobs, cache_dir=cache_dir)
    registry = build(snapshot.tree, *others)
    knowledge = Knowledge(registry, snapshot.read, line_length(root))
    find = _finder(config, rules, select, ignore)
    return mend(knowledge, wanted, find, unsafe=unsafe, fragments=fragments)


def mend_extraction(
    root: Path,
    config: Config,
    place: str,
    name: str = "",
    *,
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> Mended:
    """The rule that a test repeats at `place` (`PATH:LINE`) moved out of production, into a
    function `name` that both call. Nothing is written.

    Raises UserError where there is no such place, or the rule cannot be moved out.
    """
    from contract_guard.fixes.extract import extraction

    given = _PLACE.fullmatch(place)
    if given is None:
        raise UserError(f"{place!r} is no place: write PATH:LINE")
    root = checked_root(root)
    (path,) = select_paths(root, [Path(given[1])])
    number = int(given[2])
    snapshot = load(root, config, jobs=jobs, cache_dir=cache_dir, fragments=True)
    knowledge = Knowledge(build(snapshot.tree), snapshot.read, line_length(root))
    if path in snapshot.tree.files and number > (lines := len(snapshot.read(path).splitlines())):
        raise UserError(f"{place}: the file has {plural(lines, 'line')}")
    rules = frozenset(r for r in RULES if not r.startswith(_FINDS_BY_ALL_FILES))
    try:
        fix = extraction(path, number, knowledge, name=name)
        files = mend_one(knowledge, fix, _finder(config, rules, (), ()))
    except CannotFix as reason:
        raise UserError(f"{place}: {reason}") from None
    return Mended(files=files, titles=[fix.title], together=[frozenset(files)])


def mend_diff(
    root: Path,
    config: Config,
    base: str,
    findings: Iterable[Finding],
    *,
    merge: bool = True,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    unsafe: bool = False,
    jobs: int | None = None,
    cache_dir: Path | None = None,
) -> Mended:
    """The fixes of what the working tree breaks of `base`, with the same options as `diff`; what
    took the place of a name is told by what changed. Nothing is written.

    Raises UserError as `diff` does.
    """
    wanted = _fixable(findings)
    if not wanted:
        return Mended()
    root = checked_root(root)
    with Revisions(root, config, base, None, merge=merge, jobs=jobs, cache_dir=cache_dir) as both:
        old, new = both.old, both.new
        before = build(old.tree)
        after = build_after(before, new.tree)
        changes = compare(before, after, downstream=True)
        knowledge = Knowledge(
            after, new.read, line_length(root), before, old.read, by_symbol(changes)
        )
        find = _finder(
            config,
            frozenset(MENDED),
            tuple(select or config.select),
            (*config.ignore, *ignore),
            told_by_changes(before, old.read, changes),
        )
        return mend(knowledge, wanted, find, unsafe=unsafe)


def changes_by_symbol(before: Registry, after: Registry) -> dict[str, Change]:
    """What became of each name and module, those that nobody imports included."""
    return by_symbol(compare(before, after, downstream=True))


def told_by_changes(
    before: Registry, read: Read, changes: Sequence[Change]
) -> list[tuple[frozenset[str], Detector]]:
    """Detectors of what is to be mended and only an older revision can tell."""
    old = Context(before, read, {})
    return [
        (frozenset({"CG101"}), lambda context: own_names(context, old, changes)),
        (frozenset({"CG106"}), lambda context: former_fixtures(context, old, changes)),
        (frozenset({"CG107"}), lambda context: outdated_calls(context, old, changes)),
    ]


def write_files(root: Path, mended: Mended) -> list[tuple[str, str]]:
    """Write what `mended` holds below `root`; the files that were left as they are, with why."""
    refused: dict[str, str] = {}
    for path, (before, _) in mended.files.items():
        try:
            must_be_replaceable(root, path, before)
        except Refused as reason:
            refused[path] = str(reason)
    while waiting := _waiting(mended.together, refused):
        refused |= waiting
    for path, (before, after) in sorted(mended.files.items()):
        if path not in refused:
            try:
                replace_file(root, path, before, after)
            except Refused as reason:
                refused[path] = str(reason)
    return sorted(refused.items())


def _waiting(together: Iterable[frozenset[str]], refused: Collection[str]) -> dict[str, str]:
    """Files that go with one that is refused, and why they are left as they are."""
    return {
        path: f"its fix changes {stuck} too"
        for paths in together
        if (stuck := min(paths & set(refused), default=None)) is not None
        for path in paths - set(refused)
    }


def _fixable(findings: Iterable[Finding]) -> list[Finding]:
    rules = {rule.id for rule in load_rules().values() if rule.fixable != "no"}
    return [finding for finding in findings if finding.rule in rules]


def _finder(
    config: Config,
    rules: Collection[str],
    select: Sequence[str],
    ignore: Sequence[str],
    more: Sequence[tuple[frozenset[str], Detector]] = (),
) -> Find:
    def find(registry: Registry, read: Read, paths: Collection[str]) -> Sequence[Finding]:
        by_all = any(rule.startswith(_FINDS_BY_ALL_FILES) for rule in rules)
        found = run(
            registry if by_all else registry.only(paths),
            read,
            rules=rules,
            detectors=(*DETECTORS, *more),
            select=select,
            ignore=ignore,
            per_file_ignores=config.per_file_ignores,
            severity=config.severity,
            known=rule_ids(),
            version_predicates=config.version_predicates,
            patch_wrappers=config.patch_wrappers,
        )
        return [finding for finding in found if finding.path in paths]

    return find
