"""Rules over constants: which values of a subject the predicates of production accept, and which
predicates elsewhere still follow the old rule."""

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from contract_guard.facts.fold import NotFoldable, fold
from contract_guard.facts.model import Call, ModuleFacts, Predicate
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, Consumer, Place
from contract_guard.registry.risk import is_constant_name
from contract_guard.registry.value_sets import Ranges, is_finite, literal, overlap, value_set


class Rule(NamedTuple):
    """A predicate over constants, the integers that it accepts, and the constants' symbols."""

    path: str
    predicate: Predicate
    accepts: Ranges
    constants: frozenset[str]


def rules_of(registry: Registry, path: str) -> Iterator[Rule]:
    """The predicates of a file that name constants and whose set of values can be told."""
    facts = registry.tree.files.get(path)
    for predicate in facts.predicates if isinstance(facts, ModuleFacts) else ():
        constants = _constants(registry, path, predicate)
        if constants:
            try:
                accepts = value_set(predicate, lambda text: registry.evaluate(path, text))
            except NotFoldable:
                continue
            yield Rule(path, predicate, accepts, constants)


def _constants(registry: Registry, path: str, predicate: Predicate) -> frozenset[str]:
    found: set[str] = set()
    for name in predicate.names:
        if not is_constant_name(name.rpartition(".")[2]):
            continue
        producer = registry.resolve_name(path, name).producer
        if producer is not None and producer.kind == "assign":
            found.add(producer.symbol)
    return frozenset(found)


def given_rules(registry: Registry, *, by_tests: bool = True) -> Iterator[Rule]:
    """Predicates of production over a parameter of their function (`ids < first + 5`), with the
    constants that calls give for it: those of tests too, or of production alone."""
    bound: dict[str, list[tuple[str, Predicate]]] = {}
    for path, facts in registry.whole.facts():
        if registry.layout.is_test(path):
            continue
        for predicate in facts.predicates:
            if any(name.isidentifier() and not name.isupper() for name in predicate.names):
                function = facts.scopes[predicate.scope].qualname.rpartition(".")[2]
                if function:
                    bound.setdefault(function, []).append((path, predicate))
    if not bound:
        return
    seen: set[tuple[str, int, str]] = set()
    for path, facts in registry.whole.facts():
        if not by_tests and registry.layout.is_test(path):
            continue
        for call in facts.calls:
            for where, predicate in bound.get(call.function.rpartition(".")[2], ()):
                rule = _given(registry, path, call, where, predicate)
                key = (where, predicate.span.line, str(rule and sorted(rule.constants)))
                if rule is not None and key not in seen:
                    seen.add(key)
                    yield rule


def _given(
    registry: Registry, path: str, call: Call, where: str, predicate: Predicate
) -> Rule | None:
    """The rule that a predicate of file `where` is for what a call in file `path` passes."""
    facts = registry.tree.files[where]
    assert isinstance(facts, ModuleFacts)
    qualname = facts.scopes[predicate.scope].qualname
    producer = registry.resolve_name(path, call.function).producer
    if producer is None or producer.symbol != f"{registry.module(where).name}:{qualname}":
        return None
    binding = next((b for b in facts.bindings if b.name == qualname and b.signature), None)
    if binding is None or binding.signature is None:
        return None
    names = [parameter.name for parameter in binding.signature.parameters]
    values: dict[str, object] = {}
    constants: set[str] = set()
    for argument in call.arguments:
        name = argument.keyword
        if name is None and argument.position < len(names):
            name = names[argument.position]
        given = registry.resolve_name(path, argument.value).producer
        if name in predicate.names and given is not None and given.kind == "assign":
            try:
                values[name or ""] = registry.evaluate(path, argument.value)
            except NotFoldable:
                return None
            constants.add(given.symbol)

    def lookup(name: str) -> object:
        return values[name] if name in values else registry.evaluate(where, name)

    try:
        accepts = value_set(predicate, lambda text: fold(text, lookup)) if values else ()
    except NotFoldable:
        return None
    return Rule(where, predicate, accepts, frozenset(constants)) if values else None


def rule_changes(
    old: Registry, new: Registry, paths: Collection[str], known: Collection[str]
) -> Iterator[Change]:
    """Constants over which production has a rule that it did not have, with the predicates of
    tests that still follow another. Those in `known` have changed themselves."""
    in_production = [path for path in sorted(paths) if not new.layout.is_test(path)]
    before = _by_constant(rule for path in in_production for rule in rules_of(old, path))
    after = _by_constant(rule for path in in_production for rule in rules_of(new, path))
    for symbol, rules in sorted(after.items()):
        if symbol in known or old.producer(symbol) is None:
            continue
        was = {rule.accepts: rule for rule in before.get(symbol, ())}
        fresh = [rule for rule in rules if rule.accepts not in was]
        if not fresh:
            continue
        now = {rule.accepts for rule in rules}
        gone = [rule for accepts, rule in was.items() if accepts not in now]
        stale = tuple(_staying(old, new, symbol, {rule.accepts for rule in fresh}, paths))
        if gone or stale:
            yield Change(
                symbol=symbol,
                kind="rule-changed",
                old=_place(gone[0]) if gone else None,
                new=_place(fresh[0]),
                replacement=None,
                consumers=stale,
            )


def _by_constant(rules: Iterable[Rule]) -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        for constant in rule.constants:
            found.setdefault(constant, []).append(rule)
    return found


def _staying(
    old: Registry,
    new: Registry,
    symbol: str,
    fresh: Collection[Ranges],
    paths: Collection[str],
) -> Iterator[Consumer]:
    """Predicates of tests over the constant that accept other values than the new rule."""
    name = symbol.rpartition(":")[2].rpartition(".")[2]
    for path, facts in new.facts():
        if name not in facts.loaded_names or not new.layout.is_test(path):
            continue
        for rule in rules_of(new, path):
            if symbol in rule.constants and _is_outdated(rule.accepts, fresh):
                was = rules_of(old, path) if path in old.tree.files else ()
                kept = any(symbol in r.constants and r.accepts == rule.accepts for r in was)
                yield Consumer(
                    path=path,
                    line=rule.predicate.span.line,
                    form="mirror",
                    test=new.test_at(path, rule.predicate.scope),
                    impact="silent",
                    updated=path in paths and not kept,
                )


def _is_outdated(accepts: Ranges, fresh: Collection[Ranges]) -> bool:
    """Whether the set is another than all of the new ones, and meant for the same values."""
    return accepts not in fresh and any(
        is_finite(accepts) and is_finite(other) and overlap(accepts, other) for other in fresh
    )


def _place(rule: Rule) -> Place:
    return Place(rule.path, rule.predicate.span.line, literal(rule.accepts))
