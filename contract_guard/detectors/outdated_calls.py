"""CG107: calls that were right for an old signature and raise TypeError with the new one.
Facts do not hold the arguments of every call, so the files that call the function are parsed."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contract_guard.detectors import conditions, cost
from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.guarded import Unguarded
from contract_guard.detectors.instance_calls import instance_calls
from contract_guard.facts.model import ModuleFacts, Signature, Span
from contract_guard.findings import Finding, Related
from contract_guard.registry.callables import callable_of
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, Place
from contract_guard.registry.signatures import difference, misfit, signature_text, takes_all

_MOST_SIGNATURE = 80  # characters


class _Changed(NamedTuple):
    """What has another signature now, so that a call may no longer fit."""

    symbol: str
    before: Signature
    after: Signature
    place: Place

    @property
    def qualname(self) -> str:
        return self.symbol.rpartition(":")[2]

    @property
    def name(self) -> str:
        return self.qualname.rpartition(".")[2]


class _Callees(NamedTuple):
    """By what a file calls a changed function: names that its imports bind, with the scopes in
    which they mean the import, and where attribute chains that lead to it are called, as (line,
    end line) of the chain."""

    names: dict[str, set[int]]
    chains: set[tuple[int, int]]
    scopes: set[int]


def outdated_calls(context: Context, old: Context, changes: Iterable[Change]) -> Iterable[Finding]:
    """A finding for each call that no longer fits: by name, in the files that `changes` of
    signatures have as consumers, and of methods on objects whose class is plain to see. Calls
    with `*` or `**` arguments are left alone."""
    registry = context.registry
    named: dict[str, list[_Changed]] = {}
    methods: dict[str, list[_Changed]] = {}
    for change in changes:
        if change.kind != "signature-changed" or change.new is None:
            continue
        before, after = (
            callable_of(old.registry, change.symbol),
            callable_of(registry, change.symbol),
        )
        if before is None or after is None:
            continue
        changed = _Changed(change.symbol, before.signature, after.signature, change.new)
        if not takes_all(after.signature, before.signature):
            for path in {c.path for c in change.consumers if c.form in ("import", "attribute")}:
                named.setdefault(path, []).append(changed)
        was, now = before.on_instance, after.on_instance
        if was is not None and now is not None and not takes_all(now, was):
            on_instance = changed._replace(before=was, after=now)
            methods.setdefault(changed.name, []).append(on_instance)
    for path, facts in registry.facts():
        mentioned = {
            method.symbol: method
            for name in methods.keys() & facts.loaded_names
            for method in methods[name]
            if _knows(facts, method.qualname.split(".")[-2])
        }
        if path in named:
            yield from _in_file(context, path, facts, named[path])
        yield from _on_instances(context, path, facts, mentioned)


def _knows(facts: ModuleFacts, class_: str) -> bool:
    """Whether a file defines a class of this name, imports it or names it."""
    return (
        class_ in facts.loaded_names
        or any(found.name == class_ for found in facts.classes)
        or any(imp.name in (class_, "*") for imp in facts.imports)
    )


def _on_instances(
    context: Context, path: str, facts: ModuleFacts, methods: Mapping[str, _Changed]
) -> Iterator[Finding]:
    if not methods:
        return
    text = context.text(path)
    tree = ast.parse(text)
    for call, symbol in instance_calls(context.registry, path, tree, methods, "TypeError"):
        if _breaks(call, methods[symbol]):
            site = _site(path, facts, text, call)
            if not conditions.is_excused(context, site, "TypeError"):
                yield _finding(context, site, methods[symbol], call)


def _in_file(
    context: Context, path: str, facts: ModuleFacts, functions: Iterable[_Changed]
) -> Iterator[Finding]:
    text = context.text(path)
    sought = [(f, _callees(context.registry, path, facts, f, text)) for f in functions]
    scopes = {scope for _, callees in sought for scope in callees.scopes}
    for call in _calls(text, facts, scopes) if scopes else ():
        for function, callees in sought:
            if _is_named(call.func, function.name, callees) and _breaks(call, function):
                site = _site(path, facts, text, call)
                if _is_meant(call.func, site, callees) and not conditions.is_excused(
                    context, site, "TypeError"
                ):
                    yield _finding(context, site, function, call)


def _callees(
    registry: Registry, path: str, facts: ModuleFacts, function: _Changed, text: str
) -> _Callees:
    name, symbol = function.name, function.symbol
    found = _Callees({}, set(), set())
    patched = {(p.attribute or p.target).rpartition(".")[2] for p in facts.patches}
    for index, imp in enumerate(facts.imports):
        if imp.name != name or not re.search(rf"\b{re.escape(imp.bound)}\s*\(", text):
            continue
        producer = registry.resolve_import(path, imp).producer
        if producer is not None and producer.symbol == symbol:
            scopes = {load.scope for load in facts.loads if load.imported == (index,)}
            found.names.setdefault(imp.bound, set()).update(scopes)
            found.scopes.update(scopes)
    for use in facts.uses:
        # What stands in for a patched name takes anything.
        if use.called and use.chain[-1] == name and patched.isdisjoint(use.chain):
            producer = registry.resolve_use(path, use).producer
            if producer is not None and producer.symbol == symbol:
                found.chains.add((use.span.line, use.span.end_line))
                found.scopes.add(use.scope)
    return found


def _calls(text: str, facts: ModuleFacts, scopes: Iterable[int]) -> Iterator[ast.Call]:
    """The calls in the outermost functions and classes around the scopes whose TypeError is not
    caught; parsing whole files would take most of a comparison's time."""
    lines = text.split("\n")
    regions = {_outermost(facts, scope) for scope in scopes}
    if None not in regions:
        try:
            parts = [_parsed(lines, *region) for region in sorted(filter(None, regions))]
        except SyntaxError:  # the lines hold more than the definition
            parts = [ast.parse(text)]
    else:
        parts = [ast.parse(text)]
    for part in parts:
        unguarded = Unguarded("TypeError")
        unguarded.visit(part)
        yield from unguarded.calls


def _outermost(facts: ModuleFacts, scope: int) -> tuple[int, int] | None:
    """First and last line of the definition at the top of the module around the scope; None where
    there is none."""
    found: tuple[int, int] | None = None
    while scope > 0:
        around = facts.scopes[scope]
        found = None
        if around.kind in ("function", "class"):
            found = (around.span.line, around.span.end_line)
        scope = around.parent
    return found


def _parsed(lines: list[str], first: int, last: int) -> ast.AST:
    """Some lines of a file as a tree with the file's line numbers."""
    before = [""] * (first - 1)
    if lines[first - 1][:1].isspace():
        before[-1:] = ["if 1:"]  # the last line before it: what it stands in
    return ast.parse("\n".join([*before, *lines[first - 1 : last]]))


def _is_named(function: ast.expr, name: str, callees: _Callees) -> bool:
    if isinstance(function, ast.Name):
        return function.id in callees.names
    return (
        isinstance(function, ast.Attribute)
        and function.attr == name
        and (function.lineno, function.end_lineno) in callees.chains
    )


def _is_meant(function: ast.expr, site: Site, callees: _Callees) -> bool:
    """Whether a plain name means the import where it is called."""
    if not isinstance(function, ast.Name):
        return True
    scope, scopes = site.scope, site.facts.scopes
    while (
        scopes[scope].kind in ("comprehension", "lambda")
        and scope not in callees.names[function.id]
    ):
        scope = scopes[scope].parent
    return scope in callees.names[function.id]


def _breaks(call: ast.Call, function: _Changed) -> bool:
    return _misfit(call, function.before) is None and _misfit(call, function.after) is not None


def _misfit(call: ast.Call, signature: Signature) -> str | None:
    """Why the call does not fit; None also where its arguments cannot be counted."""
    keywords = [keyword.arg for keyword in call.keywords if keyword.arg is not None]
    is_open = len(keywords) < len(call.keywords)
    if is_open or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    return misfit(signature, len(call.args), keywords, bound=False)


def _site(path: str, facts: ModuleFacts, text: str, call: ast.Call) -> Site:
    """Where the call stands; its guard is that of the callee's use or load, in the same scope."""
    lines = text.split("\n")
    end_line, end_column = call.end_lineno or call.lineno, call.end_col_offset or 0
    span = Span(
        call.lineno,
        _column(lines[call.lineno - 1], call.col_offset),
        end_line,
        _column(lines[end_line - 1], end_column),
    )
    around = [
        index
        for index, scope in enumerate(facts.scopes)
        if index and scope.span[:2] <= span[:2] and span[2:] <= scope.span[2:]
    ]
    scope = max(around, key=lambda index: facts.scopes[index].span[:2], default=0)
    near = [
        (abs(place.span.line - span.line), place.guard)
        for place in (*facts.uses, *facts.loads)
        if place.scope == scope and place.span.line <= end_line
    ]
    return Site(path, facts, span, span, scope, min(near, default=(0, -1))[1])


def _column(line: str, offset: int) -> int:
    """From `ast`'s count of UTF-8 bytes, from 0, to code points from 1."""
    return len(line.encode()[:offset].decode()) + 1


def _finding(context: Context, site: Site, function: _Changed, call: ast.Call) -> Finding:
    spread = cost.of_failure(context, site, "TypeError")
    place, name = function.place, function.qualname
    return context.finding(
        "CG107",
        "error",
        site,
        function.symbol,
        f"`{name}` {_misfit(call, function.after)}: {spread.text}",
        _help(name, function.before, function.after),
        impact=spread.impact,
        lost=spread.lost,
        related=(
            Related(place.path, place.line, place.line, name, "defined here"),
            *spread.related,
        ),
    )


def _help(name: str, before: Signature, after: Signature) -> str:
    was, now = signature_text(before), signature_text(after)
    if max(len(was), len(now)) <= _MOST_SIGNATURE:
        return f"it was `{name}{was}`, and is `{name}{now}`"
    return f"the parameters of `{name}` changed: {difference(before, after)}"
