"""When a resemblance is a mirror, and how sure that is."""

import math

from contract_guard.mirrors.index import CALLEE, IMPORTED, NEARBY
from contract_guard.mirrors.match import Match
from contract_guard.mirrors.operations import COMPOSITE, COMPUTING

# Fitted on the labelled tests by `benchmarks/mirrors.py --fit`: logarithm of the evidence times
# coverage, coverage, reach, length of shared text / 20, computing operations / 3.
WEIGHTS = (1.223, 0.474, 0.414, 0.337, 0.278)
BIAS = -2.594

MIRROR = 0.4  # default threshold; the conditions below decide more than the score

# What a finding needs whatever its score: most of the expected value has to be found again, in
# several operations or in a text of some length, and the more the further off the place is.
_COVERAGE = 0.7
_LONG_COVERAGE = 0.5
_LONG = 4  # operations of a chain that is no accident
_SUBSTANCE = 0.6  # share of the score that operations and texts bear, not names and lookups
_LONG_SUBSTANCE = 0.25  # the same, for chains of several operations
_EVIDENCE = 4.0
_FAR_EVIDENCE = 10.0
_LONG_EVIDENCE = 15.0
_TEXT = 12
_LONG_TEXT = 20
_SHADOW_COVERAGE = 0.7
_WHOLE = 0.9
_BRANCHES = 3  # decisions on the same names that are no accident
_BRANCH_EVIDENCE = 6.0
_TWIN_EVIDENCE = 25.0
_TWIN = 6  # operations
_SLIGHT_EVIDENCE = 3.5
_NAMED_EVIDENCE = 5.0
_PIECE = 2  # operations that belong together
_MANY = 10  # operations
_HANGING = 8  # of these, in one piece
_TELLING = 4  # letters of a name that says something


def features(match: Match, reach: float) -> tuple[float, ...]:
    """The signals of a match, each growing with the likelihood of a mirror."""
    return (
        math.log1p(match.score * match.coverage) * match.coverage,
        match.coverage,
        reach,
        min(match.text, 40) / 20,
        min(match.computing, 6) / 3,
    )


def probability(match: Match, reach: float) -> float:
    """How likely a maintainer calls this a mirror, 0 to 1."""
    total = BIAS + sum(
        weight * signal for weight, signal in zip(WEIGHTS, features(match, reach), strict=True)
    )
    return 1 / (1 + math.exp(-total))


def has_substance(match: Match, reach: float) -> bool:
    """True if what is shared is more than one operation or a short text."""
    evidence = match.score * match.coverage
    if reach >= NEARBY and match.text >= _LONG_TEXT:
        evidence = max(evidence, _EVIDENCE)
    is_long = match.computing >= _LONG and evidence >= _LONG_EVIDENCE and _telling_names(match) >= 1
    several = match.arithmetic >= 2 or match.computing >= 3
    telling = evidence >= _FAR_EVIDENCE or _telling_names(match) >= 1
    borne = _LONG_SUBSTANCE if match.computing >= _LONG else _SUBSTANCE
    return (
        match.coverage >= (_LONG_COVERAGE if is_long else _COVERAGE)
        and match.substance >= borne * match.score
        and evidence >= (_EVIDENCE if reach >= NEARBY else _FAR_EVIDENCE)
        and ((several and telling) or match.text >= _TEXT)
    )


def _telling_names(match: Match) -> int:
    """Shared names that say something; `n * (n - 1)` is in every other function."""
    return sum(len(leaf) >= _TELLING and leaf != "None" for leaf in match.leaves)


def is_mirror(match: Match, reach: float, threshold: float = MIRROR) -> bool:
    """The verdict on one resemblance with a function that the test reaches."""
    return (
        reach >= IMPORTED
        and (
            has_substance(match, reach) or _is_whole(match, reach) or _is_branch_rule(match, reach)
        )
        and probability(match, reach) >= threshold
    )


def _is_whole(match: Match, reach: float) -> bool:
    """True where all of a value is found again in a function that the test calls, whatever the
    share of lookups and layout in it."""
    return (
        reach >= CALLEE
        and match.coverage >= _WHOLE
        and match.size >= _LONG
        and match.computing >= 1
        and match.score * match.coverage >= _FAR_EVIDENCE
        and _telling_names(match) >= 1
    )


def _is_branch_rule(match: Match, reach: float) -> bool:
    """True where nothing is computed, but the same names decide what the value holds."""
    return (
        reach >= CALLEE
        and match.branches >= _BRANCHES
        and match.coverage >= _SHADOW_COVERAGE
        and match.score * match.coverage >= _BRANCH_EVIDENCE
    )


def is_scattered(match: Match, reach: float) -> bool:
    """True where the operations that are shared stand apart from one another: most of them are
    not in one piece on both sides. That may be chance, and is a note."""
    return (
        match.text == 0
        and not _is_branch_rule(match, reach)
        and (match.linked < _PIECE or 2 * match.linked < match.computing)
    )


def is_short(match: Match) -> bool:
    """True for a mirror of no more than two operations that are not rare: a note."""
    return (
        1 <= match.computing <= 2
        and COMPOSITE.isdisjoint(match.operations)
        and match.text == 0
        and match.score * match.coverage < _FAR_EVIDENCE
    )


def is_firm(match: Match, distance: int | None) -> bool:
    """True where two operations of what the assertion names are no accident: they are all of an
    expected value and share a name with it, or join constants that have a name, or are decided on
    in the same way."""
    named = [leaf for leaf in match.leaves if leaf.isupper() and len(leaf) >= _TELLING]
    is_joined = len(named) >= _PIECE and match.linked >= _PIECE
    is_decided = {"where", "eq"} <= {*match.operations} and match.linked > _PIECE
    is_whole = match.whole >= _PIECE and _telling_names(match) >= 1
    return distance == 0 and (is_whole or is_joined or is_decided)


def is_slight(
    match: Match, reach: float, threshold: float = MIRROR, *, is_named: bool = False
) -> bool:
    """True for a mirror of two operations or of a short text, of a function that the test calls:
    it may be meant, and is worth a note. One operation alone says too little. Where no names are
    shared, all of it has to be found again in the function that the assertion names."""
    if reach < IMPORTED or match.coverage < _COVERAGE or match.substance < _SUBSTANCE * match.score:
        return False
    evidence = match.score * match.coverage
    if match.text >= _TEXT:
        return reach >= CALLEE
    computed = COMPUTING.intersection(match.operations) - {"bitcast"}
    return (
        match.computing >= 2
        and match.linked >= _PIECE
        and bool(computed)
        and probability(match, reach) >= threshold
        and evidence >= _SLIGHT_EVIDENCE
        and (
            _telling_names(match) >= (1 if reach >= CALLEE else 2)
            or (is_named and match.coverage >= _WHOLE and evidence >= _NAMED_EVIDENCE)
        )
    )


def is_twin(match: Match) -> bool:
    """The verdict where the test calls a kernel, and what it expects is computed by a function of
    production that it does not reach: the kernel's twin in Python. A long copy, nearly whole."""
    return (
        match.coverage >= _SHADOW_COVERAGE
        and match.score * match.coverage >= _TWIN_EVIDENCE
        and match.substance >= _SUBSTANCE * match.score
        and match.computing >= _TWIN
        and match.arithmetic >= 3
    )


def is_long(match: Match) -> bool:
    """True for a copy of many operations that hang together."""
    return match.computing >= _MANY and match.linked >= _HANGING


def is_shadow(match: Match) -> bool:
    """The verdict where the test calls no production at all, so that reach says nothing: a copy
    of some length, nearly whole."""
    return (
        match.coverage >= _SHADOW_COVERAGE
        and match.score * match.coverage >= _FAR_EVIDENCE
        and match.substance >= _SUBSTANCE * match.score
        and match.arithmetic >= 2
        and match.computing >= 3
    )
