"""CG310 drifted mirror: one side of a known mirror pair changed, the other did not."""

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.mirrors import search_of
from contract_guard.facts.model import FunctionFragments, ModuleFacts, Span
from contract_guard.findings import Finding, Related
from contract_guard.mirrors.copies import copies_of_test
from contract_guard.mirrors.index import Entry
from contract_guard.mirrors.operations import COMPUTING
from contract_guard.mirrors.pairs import Drift, drifts, reached
from contract_guard.mirrors.search import Search
from contract_guard.registry.contents import changed_paths
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change

MOST_FILES = 40  # test files that are looked at for one change
_SHARED = 3
_COMPARING = frozenset({"eq", "ne", "lt", "le", "in", "not_in"})


def drifted_mirrors(
    context: Context, earlier: Context, changes: Sequence[Change]
) -> Iterable[Finding]:
    """CG310: pairs of which one side alone is another than in `earlier`."""
    changed = changed_functions(earlier.registry, context.registry)
    paths = candidates(earlier, changed)
    if not paths:
        return
    enabled = gc.isenabled()
    gc.disable()
    try:
        found = list(_drifts(search_of(earlier), search_of(context), paths, changed))
    finally:
        if enabled:
            gc.enable()
    seen: set[tuple[str, int, str]] = set()
    for drift in found:
        key = (drift.pair.test.path, drift.lines[0], drift.pair.production_qualname)
        if key not in seen:  # one helper serves many tests
            seen.add(key)
            yield _finding(context, drift)


class Changed(NamedTuple):
    """The functions of the older end that do something else now, by path."""

    tests: Mapping[str, Sequence[FunctionFragments]]
    production: Mapping[str, Sequence[FunctionFragments]]

    def names(self, path: str) -> set[str]:
        functions = (*self.tests.get(path, ()), *self.production.get(path, ()))
        return {function.qualname for function in functions}


def changed_functions(old: Registry, new: Registry) -> Changed:
    tests: dict[str, list[FunctionFragments]] = {}
    production: dict[str, list[FunctionFragments]] = {}
    for path in changed_paths(old.tree, new.tree):
        before, after = old.tree.files.get(path), new.tree.files.get(path)
        if not isinstance(before, ModuleFacts) or not isinstance(after, ModuleFacts):
            continue
        altered = _altered(before, after)
        if altered and old.layout.is_test_module(path):
            tests[path] = altered
        elif altered and not old.layout.is_test(path):
            production[path] = altered
    return Changed(tests, production)


def candidates(earlier: Context, changed: Changed) -> list[str]:
    """Test files of `earlier` that may hold a side of a pair that changed: the files that changed,
    and those that share enough with a function of production that did; at most `MOST_FILES`, and
    `earlier.notices` says so."""
    old = earlier.registry
    wanted: dict[str, float] = dict.fromkeys(changed.tests, float("inf"))
    sharing = _sharing([f for functions in changed.production.values() for f in functions])
    if sharing:
        for path, facts in old.facts():
            if old.layout.is_test_module(path) and path not in wanted:
                functions = facts.fragments.functions
                score = sharing({f for function in functions for f in function.fragments})
                if score:
                    wanted[path] = score
    ranked = sorted(wanted, key=lambda path: (-wanted[path], path))
    if len(ranked) > MOST_FILES:
        earlier.notices.append(
            f"mirrors: {len(ranked)} test files may copy what changed; the {MOST_FILES} that share "
            f"most with it were compared, the first left out is {ranked[MOST_FILES]}"
        )
    return sorted(ranked[:MOST_FILES])


def _drifts(
    before: Search, after: Search, paths: Iterable[str], changed: Changed
) -> Iterator[Drift]:
    """A pair drifts where its test, or what that calls in its file, changed, or else its function
    of production: other tests need not be looked at, and most are told by fragments alone."""
    names = {path: changed.names(path) for path in (*changed.tests, *changed.production)}
    functions = [f for each in changed.production.values() for f in each]
    sharing = _sharing(functions, branches=True)

    def is_changed(entry: Entry) -> bool:
        return entry.function.qualname in names.get(entry.path, ())

    for path in paths:
        here = names.get(path, set[str]())
        for test in before.tests_of(path):
            if not here.isdisjoint(reached(before, test, path)):
                yield from drifts(before, after, copies_of_test(before, path, test))
            elif sharing and sharing(before.closure(path, test)[0]):
                yield from drifts(before, after, copies_of_test(before, path, test, is_changed))


def _altered(before: ModuleFacts, after: ModuleFacts) -> list[FunctionFragments]:
    """The functions of a file that are there after too and do something else: their fragments
    differ, or the body of the definition that they are in."""
    was, now = _bodies(before), _bodies(after)
    fragments = {f.qualname: f.fragments for f in after.fragments.functions}
    return [
        function
        for function in before.fragments.functions
        if function.qualname in fragments
        and (
            fragments[function.qualname] != function.fragments
            or _body(function.qualname, was) != _body(function.qualname, now)
        )
    ]


def _bodies(facts: ModuleFacts) -> dict[str, int]:
    """Hashes of bodies by qualified name."""
    found = {b.name: b.body for b in facts.bindings if b.kind == "function"}
    for class_ in facts.classes:
        outer = facts.scopes[class_.scope].qualname
        found.update((f"{outer}.{m.name}", m.body) for m in class_.members if m.kind == "function")
    return found


def _body(qualname: str, bodies: dict[str, int]) -> int:
    """The hash of a function, or of the one that it is nested in."""
    while qualname:
        if qualname in bodies:
            return bodies[qualname]
        qualname = qualname.rpartition(".")[0]
    return 0


def _sharing(
    functions: Sequence[FunctionFragments], *, branches: bool = False
) -> Callable[[Set[str]], float] | None:
    """How much some fragments share with the one of `functions` that is nearest to them, 0 where
    it is too little for a copy; with `branches`, decisions count too."""
    posted: dict[str, list[int]] = {}
    for number, function in enumerate(functions):
        for fragment in function.fragments:
            if _tells(fragment) or (branches and fragment.startswith("if>")):
                posted.setdefault(fragment, []).append(number)
    if not posted:
        return None

    def score(fragments: Set[str]) -> float:
        shared: dict[int, float] = {}
        for fragment in posted.keys() & fragments:
            whole = fragment.startswith("f:") or _is_named(fragment)
            weight = _SHARED if whole and not _is_computing(fragment) else 1.0
            for number in posted[fragment]:
                shared[number] = shared.get(number, 0.0) + weight
        best = max(shared.values(), default=0.0)
        return best if best >= _SHARED else 0.0

    return score


def _tells(fragment: str) -> bool:
    return fragment.startswith("f:") or _is_named(fragment) or _is_computing(fragment)


def _is_named(fragment: str) -> bool:
    """Whether it compares with a constant."""
    operation, _, leaf = fragment.partition(">")
    return operation in _COMPARING and leaf.isupper() and len(leaf) > 2


def _is_computing(fragment: str) -> bool:
    operation, _, leaf = fragment.partition(">")
    return operation in COMPUTING or (len(leaf) > 3 and leaf.isdigit())


def _finding(context: Context, drift: Drift) -> Finding:
    pair, production = drift.pair, drift.production
    symbol = f"{context.registry.module(production.path).name}:{pair.production_qualname}"
    path = pair.test.path
    facts = context.registry.tree.files[path]
    assert isinstance(facts, ModuleFacts)
    lines = context.text(path).split("\n")
    first, last = drift.lines[0], drift.lines[-1]
    start = lines[first - 1]
    span = Span(
        first, len(start) - len(start.lstrip()) + 1, last, len(lines[last - 1].rstrip()) + 1
    )
    if drift.side == "production":
        message = f"`{symbol}` changed, and its copy here did not: the two no longer agree"
        help_ = (
            "bring the copy in line, or better, expect values that are known some other way: the "
            "next change will part them again"
        )
    else:
        message = f"this copy of `{symbol}` changed, and `{symbol}` did not"
        help_ = "change production too, if the rule is meant to be another; else undo the change"
    scopes = [
        index
        for index, scope in enumerate(facts.scopes)
        if scope.kind == "function" and scope.span.line <= first <= scope.span.end_line
    ]
    return context.finding(
        "CG310",
        "error",
        Site(path, facts, span, span, scopes[-1] if scopes else 0, -1),
        symbol,
        message,
        help_,
        impact="silent",
        related=(
            Related(
                production.path,
                production.start,
                max(production.end, production.start + 1),
                pair.production_qualname,
                "changed" if drift.side == "production" else "as it was",
            ),
        ),
        identity=f"{pair.test_qualname} {symbol}",
    )
