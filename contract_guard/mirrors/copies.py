"""What the tests of one file copy of production.

A result is plain values, and depends on that file, on the files of production and on which files
there are: it can be kept, and be made in another process.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from contract_guard.facts.model import FileFragments, FunctionFragments
from contract_guard.mirrors.graph_of_test import TestGraph
from contract_guard.mirrors.index import CALLEE, IMPORTED, NEARBY, Entry
from contract_guard.mirrors.match import Match
from contract_guard.mirrors.predicates import masks, named_predicates, production_constants
from contract_guard.mirrors.search import Resemblance, Search
from contract_guard.mirrors.subject import FAR
from contract_guard.mirrors.verdict import (
    MIRROR,
    is_firm,
    is_long,
    is_mirror,
    is_scattered,
    is_shadow,
    is_short,
    is_slight,
    is_twin,
    probability,
)

_BRUTE = re.compile(r"(^|[_.])(naive|brute)")
_REFERENCE = re.compile(r"(^|[_.])(ref|reference|naive|slow|golden|oracle|brute)(_|\d|$)")
_WHOLE = 0.9
_LONG_TEXT = 20
_MOSTLY = 0.7
_NEARLY = 0.1  # of probability, by which a sibling may be ahead of what the test calls
_INDEPENDENT = re.compile(
    r"""(?<![a-z])(naive(ly)?|brute[-_ ]?force|independent(ly)?)(?![a-z])
    |O\(n\s*(\^|\*\*)\s*\d
    |\#.*\b(old|former|previous)\ (algorithm|implementation|version|code)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_SLOW = re.compile(r"#.*(\b(naive(ly)?|brute[- ]force)\b|O\(n\s*(\^|\*\*)\s*\d)", re.IGNORECASE)
_ABOVE = 20  # lines above a copy in which a comment may say what it is
_FORMER = re.compile(r"(^|[_.])(old|former|legacy)(_|$)")


@dataclass(frozen=True, slots=True)
class Place:
    """A function: its file, and its lines, both included."""

    path: str
    qualname: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Copy:
    """The production function that one test copies.

    `helper` is the function of the test's file in which most of the copy stands, None where that
    is the test. `is_shadow` says that the test calls no production at all, `is_slight` that the
    copy has two operations or stands in pieces, `is_twin` that `production` does in Python
    what the test calls, and is not run by it. `forms` are the
    assertions that take part, sorted; `probability` is how likely a maintainer calls it a mirror.
    `distance` is the number of calls from what the assertions name to `production`, None where
    what they name is not known.
    """

    test: Place
    production: Place
    helper: Place | None
    is_shadow: bool
    is_slight: bool
    is_twin: bool
    match: Match
    forms: tuple[str, ...]
    probability: float
    distance: int | None = None


@dataclass(frozen=True, slots=True)
class PredicateCopy:
    """A condition over the production constant `symbol` at `line` of a test, that `production`
    builds too at `production_line`; `is_equal` says whether both have one shape."""

    test: Place
    line: int
    shape: str
    name: str
    symbol: str
    production: Place
    production_line: int
    is_equal: bool


@dataclass(frozen=True, slots=True)
class FileCopies:
    """`copies` has at most one for each test. `cut` are the tests (qualified names) that were too
    large to be looked at as a whole."""

    copies: tuple[Copy, ...] = ()
    predicates: tuple[PredicateCopy, ...] = ()
    cut: tuple[str, ...] = ()


CopiesOf = Callable[
    [Mapping[str, FileFragments], frozenset[str], Sequence[str]], Iterable[tuple[str, FileCopies]]
]
"""Takes the fragments of all files, those of them that are no production, and the test files to
look at; gives what each of these copies, in their order."""


def copies_in(search: Search, path: str) -> FileCopies:
    """What the tests of file `path` copy, in the order of the tests."""
    found = [copies_of_test(search, path, test) for test in search.tests_of(path)]
    return FileCopies(
        tuple(copy for each in found for copy in each.copies),
        tuple(predicate for each in found for predicate in each.predicates),
        tuple(qualname for each in found for qualname in each.cut),
    )


def copies_of_test(
    search: Search,
    path: str,
    test: FunctionFragments,
    is_wanted: Callable[[Entry], bool] = lambda _: True,
) -> FileCopies:
    """What one test of file `path` copies: nothing, where it can copy no function of production
    that is wanted."""
    entries = search.index.entries
    candidates = search.candidates(path, test)
    if not any(is_wanted(entries[candidate.entry]) for candidate in candidates):
        candidates = []
    resemblances = search.resemblances(path, test, candidates)
    best = _best(resemblances)
    if any(map(_is_near, resemblances)) if best is None else best.distance != 0 or best.is_slight:
        # Nominated by what it has in common: what the assertions name comes first.
        known = {candidate.entry for candidate in candidates}
        named = [c for c in search.subjects(path, test) if c.entry not in known]
        best = _best([*search.resemblances(path, test, [*candidates, *named])])
    if best is not None and best.helper is not None and _is_test(best.helper):
        best = None  # a test that is run by another one is looked at by itself
    if best is not None and not best.is_slight and _is_declared(search.text(path), best):
        best = replace(best, is_slight=True)
    predicates = _predicates(search, path, test, is_wanted)
    cut = (test.qualname,) if search.is_cut(path, test) else ()
    return FileCopies((best,) if best is not None else (), tuple(predicates), cut)


def _is_test(place: Place) -> bool:
    return place.qualname.rsplit(".", 1)[-1].startswith("test")


def _is_declared(text: str, copy: Copy) -> bool:
    """True for what is meant to be another way by the names and comments at it, or by the name of
    the helper, and is one in part."""
    if copy.match.coverage >= _WHOLE or copy.is_shadow:
        return False
    if copy.helper is not None and _FORMER.search(copy.helper.qualname):
        return True
    lines = text.splitlines()
    near = {number for line, _ in copy.match.aligned for number in (line - 1, line)}
    place, first = copy.helper or copy.test, min(near)
    above = lines[max(place.start, first - _ABOVE) - 1 : first]
    return any(_INDEPENDENT.search(lines[number - 1]) for number in near if number > 0) or any(
        _SLOW.search(line) for line in above
    )


def _is_near(resemblance: Resemblance) -> bool:
    """True for a function that has most of a value: what the assertion names may have it too."""
    match = resemblance.match
    return match.coverage >= _MOSTLY and match.computing >= 1


def _best(resemblances: Iterable[Resemblance]) -> Copy | None:
    """The copy to report of one test: what it calls before a sibling that has hardly more of it."""
    found = [(copy, r.reach) for r in resemblances if (copy := copy_of(r)) is not None]
    best, reach = max(found, key=lambda each: _rank(each[0]), default=(None, 0.0))
    if best is None:
        return None
    called = [
        copy
        for copy, near in found
        if _rank(copy)[0] >= _rank(best)[0]
        and copy.probability >= best.probability - _NEARLY
        and ((near >= CALLEE > reach) or (copy.distance == 0 != best.distance))
    ]
    return max(called, key=_rank, default=best)


def _rank(copy: Copy) -> tuple[bool, bool, float]:
    return not (copy.is_slight or copy.is_twin), copy.match.whole > 0, copy.probability


def copy_of(resemblance: Resemblance, threshold: float = MIRROR) -> Copy | None:
    """The verdict on a resemblance, None where it is no copy. `threshold` is the probability from
    which it is one."""
    match, reach = resemblance.match, resemblance.reach
    if match.has_own_way or _is_brute_force(resemblance) or _is_wording(resemblance):
        return None
    shadow = not resemblance.calls_production and reach < NEARBY
    slight = twin = False
    if resemblance.distance == FAR and reach >= IMPORTED:
        # Not what the assertion checks, but a long copy of it all the same.
        is_sure = reach < NEARBY or match.coverage >= _WHOLE
        shadow, twin = False, is_sure and is_twin(match) and not is_scattered(match, reach)
        if not twin:
            return None
    elif shadow:
        if not (resemblance.is_related and is_shadow(match)):
            return None
    elif is_mirror(match, reach, threshold):
        weak = is_short(match) or is_scattered(match, reach)
        slight = (weak and not is_firm(match, resemblance.distance)) or _is_size(resemblance)
    elif resemblance.of_kernel and reach < IMPORTED and is_twin(match):
        twin = True
    elif is_slight(match, reach, threshold, is_named=resemblance.distance == 0):
        slight = not is_firm(match, resemblance.distance) or _is_size(resemblance)
        if match.arithmetic < 2 and all(form.endswith(" shape") for form in resemblance.forms):
            return None
    else:
        return None
    path, helper = resemblance.path, resemblance.helper
    return Copy(
        _place(path, resemblance.test),
        _place(*resemblance.entry),
        _place(path, helper) if helper is not None else None,
        shadow,
        slight,
        twin,
        match,
        tuple(sorted(resemblance.forms)),
        probability(match, reach),
        resemblance.distance,
    )


def is_note(copy: Copy) -> bool:
    """True for a copy that may well be meant, or be chance."""
    if is_of_other_path(copy):
        return not is_long(copy.match)
    return copy.is_slight or _is_other_reference(copy) or _is_message(copy)


def is_of_other_path(copy: Copy) -> bool:
    """True where production has a function for the reference itself, and the test runs another:
    a kernel, whose slow path the copy is."""
    named = _REFERENCE.search(copy.production.qualname) is not None
    return copy.is_twin or (named and copy.distance != 0)


def _is_other_reference(copy: Copy) -> bool:
    """True for a declared reference that is written otherwise in part: what differs is checked,
    and it is meant to stand beside a fused or blocked implementation."""
    return (
        copy.helper is not None
        and copy.match.coverage < _WHOLE
        and _REFERENCE.search(copy.helper.qualname) is not None
    )


def _is_message(copy: Copy) -> bool:
    """True for the text of an error message with its values filled in, and for other short text
    unless it is all of what the assertion names."""
    match = copy.match
    if all(form.endswith(" message") for form in copy.forms):
        return match.text > 0
    if not match.text:
        return False
    if all(form.endswith("match") for form in copy.forms):
        return match.computing < 2
    is_whole = match.whole >= 2 and copy.distance == 0
    return not match.computing and match.text < _LONG_TEXT and not is_whole


def _is_wording(resemblance: Resemblance) -> bool:
    """True for the text of an error with what the test passed filled in: it says how production
    words the error, which a test can only repeat. A value computed for it is another matter."""
    match = resemblance.match
    return (
        match.text > 0
        and not match.computing
        and all(form.endswith(("match", " message")) for form in resemblance.forms)
    )


def _is_size(resemblance: Resemblance) -> bool:
    """True for the shape of a result, unless it is more than one operation of the function that
    the assertion names: where a layout is a contract, writing it out is what a test is for."""
    return all(form.endswith(" shape") for form in resemblance.forms) and (
        resemblance.match.arithmetic < 2 or resemblance.distance != 0
    )


def _is_brute_force(resemblance: Resemblance) -> bool:
    """True for a helper that is slow and plain by its name, and not production's way throughout."""
    helper = resemblance.helper
    return (
        helper is not None
        and _BRUTE.search(helper.qualname) is not None
        and resemblance.match.coverage < _WHOLE
    )


def _place(path: str, function: FunctionFragments) -> Place:
    return Place(path, function.qualname, function.start, function.end)


def _predicates(
    search: Search, path: str, test: FunctionFragments, is_wanted: Callable[[Entry], bool]
) -> Iterator[PredicateCopy]:
    """Masks over a production constant that production has a function for."""
    constants, entries = search.compared_constants, search.index.entries
    compared = constants.keys() & {fragment.partition(">")[2] for fragment in test.fragments}
    if not any(is_wanted(entries[number]) for name in compared for number in constants[name]):
        return
    graph = search.graph(path, test)
    if graph is None:
        return
    symbols, masked = _masked(search, graph)
    for predicate in named_predicates(graph.form, frozenset(symbols)):
        if predicate.node not in masked:
            continue
        search.asked.constants.update(predicate.names)
        wanted = {n for name in predicate.names for n in constants.get(name, ())}
        for entry in (entries[number] for number in sorted(wanted)):
            same = named_predicates(search.production(entry).form, predicate.names)
            theirs = max(
                same, key=lambda p: (p.shape == predicate.shape, len(p.names)), default=None
            )
            if theirs is not None:
                name = min(predicate.names)
                yield PredicateCopy(
                    _place(path, test),
                    predicate.line,
                    predicate.shape,
                    name,
                    symbols[name],
                    _place(*entry),
                    theirs.line,
                    theirs.shape == predicate.shape,
                )
                break


def _masked(search: Search, graph: TestGraph) -> tuple[dict[str, str], set[object]]:
    """The production constants that the expected values of a test name, and the nodes of its
    normal form that are used as data there."""
    ops = graph.trace.graph.ops
    needed = graph.trace.reachable([e.value for e in graph.trace.expectations])
    symbols = production_constants((ops[i] for i in needed), search.packages)
    return symbols, {graph.form.moved[index] for index in masks(ops, needed)}
