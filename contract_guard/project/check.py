"""A whole `check` of a project: from its files to findings, or from the result that was kept."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from contract_guard.findings import Finding
from contract_guard.project import run_cache
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.encoding import decode_result
from contract_guard.project.places import checked_root, scope_notice, select_paths
from contract_guard.report import Cache, ReadAgainst, Summary
from contract_guard.text import plural

if TYPE_CHECKING:
    from contract_guard.project.against import Against


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """The findings in the selected paths, and what was looked at to come by them.

    `modules`, `constants` and `tests_at_risk` are of the whole project: test modules that import
    production constants at module level, those constants, and the tests in those modules. `known`
    findings are not among `findings`, since a baseline or an older revision has them too.
    `selected` is the number of files in the selected paths.
    """

    findings: tuple[Finding, ...]
    files: int
    lines: int
    tests: int
    modules: int
    constants: int
    tests_at_risk: int
    unresolved: dict[str, int]
    cache_hits: int
    cache_misses: int
    warnings: tuple[str, ...]
    selected: int
    known: int = 0
    against: tuple[ReadAgainst, ...] = ()


def check(
    root: Path,
    config: Config,
    *,
    paths: Sequence[Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    count_unknown: bool = False,
    jobs: int | None = None,
    cache_dir: Path | None = None,
    against: "Sequence[Against]" = (),
    notice: Callable[[str], None] | None = None,
) -> Checked:
    """Findings of the project at `root`, those in `paths` alone if any are given.

    `against` are releases and environments whose names count as known (`against.find`).
    `select`, if not empty, stands in for the configuration's; `ignore` adds to it. `unresolved`
    stays empty without `count_unknown`, which takes time of its own. Where nothing that matters
    has changed since a run that was kept in `cache_dir`, no file is read. `notice` is told before
    a run that looks at more than may have been meant (`places.scope_notice`).

    Raises UserError for what the user can mend: a path that does not exist, a file that changes
    during the run.
    """
    root = checked_root(root)
    selected = select_paths(root, paths)
    select = tuple(select or config.select)
    ignore = (*config.ignore, *ignore)
    options = {
        "command": "check",
        "paths": selected,
        "select": select,
        "ignore": ignore,
        "unknown": count_unknown,
        "against": [each.identity for each in against],
    }
    lookup = run_cache.look_up(root, config, options, cache_dir=cache_dir)
    kept = decode_result(lookup.result, Checked)
    if kept is not None:
        return msgspec.structs.replace(kept, cache_hits=kept.files, cache_misses=0)
    if notice is not None and (text := scope_notice(root, len(lookup.found.python))):
        notice(text)
    return _check(
        root,
        config,
        lookup,
        paths=paths,
        select=select,
        ignore=ignore,
        count_unknown=count_unknown,
        jobs=jobs,
        against=against,
    )


def _check(
    root: Path,
    config: Config,
    lookup: run_cache.Lookup,
    *,
    paths: Sequence[Path],
    select: Sequence[str],
    ignore: Sequence[str],
    count_unknown: bool,
    jobs: int | None,
    against: "Sequence[Against]",
) -> Checked:
    # Not needed where the result was kept.
    from contract_guard.detectors.base import Context
    from contract_guard.detectors.run import BY_FILE, OVER_ALL, RULES, chosen_rules, detect, settle
    from contract_guard.project import last_run
    from contract_guard.project.extraction import asks_for_fragments
    from contract_guard.project.ignore import exclude_spec
    from contract_guard.project.mirror_search import MirrorSearch
    from contract_guard.project.outlines import outlines, summaries
    from contract_guard.project.snapshot import load
    from contract_guard.registry.index import build
    from contract_guard.registry.risk import leaned_on
    from contract_guard.registry.unknowns import count_unknowns

    exclude_spec(tuple(config.per_file_ignores), "per-file-ignores")
    chosen = chosen_rules(RULES, select, ignore, config.severity)
    snapshot = load(
        root,
        config,
        paths=paths,
        jobs=jobs,
        cache_dir=lookup.cache_dir,
        found=lookup.found,
        fragments=asks_for_fragments(chosen),
    )
    others = outlines(against, snapshot.tree, jobs=jobs, cache_dir=lookup.cache_dir)
    registry = build(snapshot.tree, *others)
    search = MirrorSearch(snapshot, jobs=jobs, cache_dir=lookup.cache_dir)
    context = Context(
        registry,
        snapshot.read,
        snapshot.unreadable,
        config.version_predicates,
        config.patch_wrappers,
        search,
    )
    taken = last_run.reuse(lookup.project_key, snapshot, registry, lookup.cache_dir)
    by_file = [*taken.found, *detect(context.only(taken.again), chosen, BY_FILE)]
    found = settle(
        context,
        [*by_file, *detect(context, chosen, OVER_ALL)],
        chosen,
        per_file_ignores=config.per_file_ignores,
        severity=config.severity,
        known=rule_ids(),
    )
    # The cache is opened for each of the two, and may say the same.
    warnings = tuple(dict.fromkeys((*snapshot.warnings, *search.warnings)))
    notices = list(search.notices)
    # Whoever turned CG903 off knows; whoever picked other rules does not.
    tells = chosen_rules({"CG903"}, (), ignore, config.severity) - chosen
    if tells and snapshot.unreadable:
        places = plural(len(snapshot.unreadable), "file")
        notices.append(f"{places} could not be read and may hold anything: see CG903")
    constants = dict(taken.constants)
    for path, facts in registry.only(taken.again).facts():
        if leaned := leaned_on(registry, path, facts):
            constants[path] = frozenset(constant.symbol for constant in leaned)
    tests = {
        path: sum(test.cases for test in facts.pytest.tests)
        for path, facts in registry.facts()
        if registry.layout.is_test_module(path)
    }
    checked = Checked(
        findings=tuple(finding for finding in found if snapshot.is_selected(finding.path)),
        files=snapshot.counts.files,
        lines=snapshot.counts.lines,
        tests=sum(tests.values()),
        modules=len(constants),
        constants=len(frozenset[str]().union(*constants.values())),
        tests_at_risk=sum(tests[path] for path in constants),
        unresolved=count_unknowns(registry) if count_unknown else {},
        cache_hits=snapshot.counts.cache_hits,
        cache_misses=snapshot.counts.cache_misses,
        warnings=(*warnings, *notices),
        selected=sum(map(snapshot.is_selected, snapshot.tree.files)),
        against=summaries(others),
    )
    if not warnings and all(each.is_settled for each in against):
        run_cache.keep(lookup, snapshot.stamps, msgspec.msgpack.encode(checked))
        last_run.keep(lookup.project_key, snapshot, registry, by_file, constants, lookup.cache_dir)
    return checked


def summary(checked: Checked, seconds: float) -> Summary:
    return Summary(
        files=checked.files,
        lines=checked.lines,
        tests=checked.tests,
        findings=dict(sorted(Counter(f.rule for f in checked.findings).items())),
        tests_at_risk=checked.tests_at_risk,
        known=checked.known,
        against=checked.against,
        unresolved=checked.unresolved,
        seconds=round(seconds, 3),
        cache=Cache(checked.cache_hits, checked.cache_misses),
    )


def closing(checked: Checked, paths: Sequence[Path] = ()) -> str:
    """The line on tests at risk, "" where there are none; and, if findings in `paths` alone were
    asked for, that the other counts are of the whole project."""
    narrowed = ""
    if paths:
        named = ", ".join(map(str, paths[:3])) + (" and more" if len(paths) > 3 else "")
        narrowed = f"Findings in {named} only; all else is of the whole project"
    if not checked.constants:
        return f"{narrowed}." if narrowed else ""
    modules = plural(checked.modules, "test module")
    verb = "imports" if checked.modules == 1 else "import"
    constants = plural(checked.constants, "production constant")
    tests = plural(checked.tests_at_risk, "test")
    them = "it" if checked.constants == 1 else "them"
    risk = f"{modules} {verb} {constants} at module level; {tests} would vanish without {them}."
    return f"{narrowed}: {risk}" if narrowed else risk


def source_lines(root: Path, paths: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The lines of files below `root`, for reports that show them; () where one is gone."""
    from contract_guard.detectors.statement import decode

    lines: dict[str, tuple[str, ...]] = {}
    for path in paths:
        try:
            source = (root / path).read_bytes()
            lines[path] = tuple(decode(source).split("\n"))
        except (OSError, SyntaxError, LookupError):
            lines[path] = ()
    return lines
