"""Mirror pairs: a copy and what it copies, each with a fingerprint, and which of them changed.

A fingerprint is made of the operations of the normal form: comments, layout, names of locals, and
the order of commutative operands do not count; in production neither do names of parameters.
"""

import ast
import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from contract_guard.facts.model import FunctionFragments
from contract_guard.mirrors.copies import Copy, FileCopies, Place, PredicateCopy
from contract_guard.mirrors.graph_of_test import TestGraph
from contract_guard.mirrors.index import Entry
from contract_guard.mirrors.model import Const, MirrorPair, Range, Reference
from contract_guard.mirrors.normal_form import NormalForm, leaf_text
from contract_guard.mirrors.operations import COMPUTING
from contract_guard.mirrors.predicates import named_predicates
from contract_guard.mirrors.search import Search
from contract_guard.mirrors.weights import Graphs

Drifted = Literal["production", "test"]
_NAMES_ONLY = frozenset({"getattr", "call"})
_CHOICES = frozenset({"where", "if"})  # join branches, of which others may have changed
_A_COPY = 0.5  # coverage from which on a test still computes what production does
_CONSTANT = re.compile(r"\b_*[A-Z][A-Z0-9_]{2,}\b")
_NEARLY = 0.95  # of the evidence that a copy had, for another function to have taken its place


@dataclass(frozen=True, slots=True)
class Drift:
    """A pair of which one side changed. `lines` are those of the copy, `production` the lines of
    what it copies, both as they are now."""

    pair: MirrorPair
    side: Drifted
    lines: tuple[int, ...]
    production: Range


def pairs_in(search: Search, copies: FileCopies) -> Iterator[MirrorPair]:
    """The pairs of one file's copies, in their order."""
    for copy in copies.copies:
        known = _known(search, copy)
        if known is not None:
            yield known.pair
    for predicate in copies.predicates:
        yield _predicate_pair(predicate)


def drifts(before: Search, after: Search, copies: FileCopies) -> Iterator[Drift]:
    """Those of the pairs in `copies`, found in `before`, of which one side is another in `after`.

    Quiet where both sides changed, where a side is gone, where the copy came nearer to production
    or is none any more, and where another function of production has what is copied now.
    """
    for copy in copies.copies:
        known = _known(before, copy)
        drift = _drift(before, after, known) if known is not None else None
        if drift is not None:
            yield drift
    for predicate in copies.predicates:
        drift = _predicate_drift(after, predicate) if predicate.is_equal else None
        if drift is not None:
            yield drift


@dataclass(frozen=True, slots=True)
class _Known:
    copy: Copy
    test: TestGraph
    production: Graphs
    pair: MirrorPair


def _known(search: Search, copy: Copy) -> _Known | None:
    test_entry = function_at(search, copy.test)
    production_entry = function_at(search, copy.production)
    if test_entry is None or production_entry is None:
        return None
    graph = search.graph(copy.test.path, test_entry)
    if graph is None:
        return None
    production = search.production(Entry(copy.production.path, production_entry))
    place = copy.helper or copy.test
    here = [line for line, _ in copy.match.aligned]
    there = [line for _, line in copy.match.aligned]
    pair = MirrorPair(
        test=Range(place.path, min(here), max(here)),
        test_qualname=copy.test.qualname,
        test_fingerprint=_of_test(graph, here),
        production=Range(copy.production.path, min(there), max(there)),
        production_qualname=copy.production.qualname,
        production_fingerprint=_of_lines(production.form, there),
        score=copy.probability,
        aligned=copy.match.aligned,
        reason=", ".join(dict.fromkeys(copy.match.operations)),
    )
    return _Known(copy, graph, production, pair)


def _drift(before: Search, after: Search, known: _Known) -> Drift | None:
    copy, pair = known.copy, known.pair
    test_entry, production_entry = (
        function_at(after, copy.test),
        function_at(after, copy.production),
    )
    if test_entry is None or production_entry is None:
        return None
    touched = _is_touched(before, after, copy.production, [production_entry.qualname])
    test_touched = _is_touched(before, after, copy.test, reached(after, test_entry, copy.test.path))
    if not touched and not test_touched:
        return None
    graph = after.graph(copy.test.path, test_entry)
    if graph is None:
        return None
    production = after.production(Entry(copy.production.path, production_entry))
    # Both ends are compared by the weights of the older one.
    match = before.match(known.test, production)
    there = [line for _, line in match.aligned]
    turned = before.match(graph, known.production)
    here = sorted({line for line, _ in turned.aligned})
    if not here:
        return None
    production_changed = touched and (
        not there or _of_lines(production.form, there) != pair.production_fingerprint
    )
    test_changed = test_touched and _of_test(graph, here) != pair.test_fingerprint
    if production_changed == test_changed:
        return None
    evidence = copy.match.score * copy.match.coverage
    if production_changed:
        others = [
            r
            for r in after.resemblances(copy.test.path, test_entry)
            if r.entry.function is not production_entry
        ]
        if any(r.match.score * r.match.coverage >= _NEARLY * evidence for r in others):
            return None
    else:
        now = before.match(graph, production)
        if now.score * now.coverage >= _NEARLY * evidence or now.coverage < _A_COPY:
            return None
    place = function_at(after, copy.helper or copy.test) or test_entry
    span = there or [production_entry.start, production_entry.end]
    return Drift(
        pair,
        "production" if production_changed else "test",
        tuple(line for line in here if place.start <= line <= place.end) or (place.start,),
        Range(copy.production.path, min(span), max(span)),
    )


def _is_touched(before: Search, after: Search, place: Place, names: Iterable[str]) -> bool:
    """Whether any of these functions of the place's file is written in another way than before,
    comments and layout aside."""
    for name in names:
        pair: list[str] = []
        for search in (before, after):
            function = function_at(search, Place(place.path, name, place.start, place.end))
            node = search.node(place.path, function) if function is not None else None
            pair.append(ast.dump(node) if node is not None else "")
        if pair[0] != pair[1]:
            return True
    return False


def reached(search: Search, test: FunctionFragments, path: str) -> list[str]:
    """The functions of a file that a test may reach by name, itself included."""
    functions = search.files[path].functions
    found = {test.qualname: test}
    pending = [test]
    while pending:
        current = pending.pop()
        for other in functions:
            is_named = other.qualname.rpartition(".")[2] in current.calls
            is_inside = other.qualname.rpartition(".")[0] == current.qualname
            if (is_named or is_inside) and other.qualname not in found:
                found[other.qualname] = other
                pending.append(other)
    return list(found)


def _predicate_pair(predicate: PredicateCopy) -> MirrorPair:
    shape = _hash([predicate.shape])
    return MirrorPair(
        test=Range(predicate.test.path, predicate.line, predicate.line),
        test_qualname=predicate.test.qualname,
        test_fingerprint=shape,
        production=Range(
            predicate.production.path, predicate.production_line, predicate.production_line
        ),
        production_qualname=predicate.production.qualname,
        production_fingerprint=shape if predicate.is_equal else "",
        score=1.0,
        aligned=((predicate.line, predicate.production_line),),
        reason=predicate.name,
    )


def _predicate_drift(after: Search, predicate: PredicateCopy) -> Drift | None:
    test_entry = function_at(after, predicate.test)
    production_entry = function_at(after, predicate.production)
    if test_entry is None or production_entry is None:
        return None
    graph = after.graph(predicate.test.path, test_entry)
    if graph is None:
        return None
    names = frozenset(_CONSTANT.findall(predicate.shape))
    here = list(named_predicates(graph.form, names))
    production = after.production(Entry(predicate.production.path, production_entry))
    there = list(named_predicates(production.form, names))
    theirs = next((p for p in there if p.shape == predicate.shape), None)
    ours = next((p for p in here if p.shape == predicate.shape), None)
    if not here or not there or (theirs is None) == (ours is None):
        return None
    if {p.shape for p in here} & {p.shape for p in there}:
        return None
    line = (ours or here[0]).line
    at = (theirs or there[0]).line
    return Drift(
        _predicate_pair(predicate),
        "production" if theirs is None else "test",
        (line,),
        Range(predicate.production.path, at, at),
    )


def function_at(search: Search, place: Place) -> FunctionFragments | None:
    """The function of that name in the file, the one nearest to the place where there are
    several; None where there is none."""
    file = search.files.get(place.path)
    found = [f for f in (file.functions if file else ()) if f.qualname == place.qualname]
    return min(found, key=lambda f: abs(f.start - place.start), default=None)


def _of_test(graph: TestGraph, lines: Iterable[int]) -> str:
    """The fingerprint of the expected values that take part in a copy at `lines`."""
    wanted = set(lines)
    nodes: set[int] = set()
    for _, group in graph.groups:
        kept = group & graph.graphs.nodes.keys()
        if any(graph.form.nodes[node].line in wanted for node in kept):
            nodes |= kept
    return _hash(graph.form.nodes[node].digest for node in nodes)


def _of_lines(form: NormalForm, lines: Iterable[int]) -> str:
    """The fingerprint of what a function does on these lines and takes from elsewhere, without
    calls of which nothing is used."""
    lines = set(lines)
    used = {o for node in form.nodes for o in node.operands if isinstance(o, int)}
    return _fingerprint(
        form,
        {
            index
            for index, node in enumerate(form.nodes)
            if node.line in lines and (index in used or node.op in COMPUTING)
        },
    )


def _fingerprint(form: NormalForm, nodes: Collection[int]) -> str:
    return _hash(_signature(form, index) for index in nodes if form.nodes[index].op not in _CHOICES)


def _signature(form: NormalForm, index: int) -> str:
    """An operation with its constants and the operations below it."""
    node = form.nodes[index]
    if node.op in _NAMES_ONLY:
        return node.op
    return f"{node.op}({','.join(sorted(_part(form, operand) for operand in node.operands))})"


def _part(form: NormalForm, operand: Reference) -> str:
    if isinstance(operand, int):
        return "_" if form.nodes[operand].op in _CHOICES else form.nodes[operand].op
    return leaf_text(operand) if isinstance(operand, Const) else "$"


def _hash(signatures: Iterable[str]) -> str:
    text = "\n".join(sorted(signatures))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
