"""CG307 narrowed inputs: tests whose own inputs reach only part of what a rule of production
accepts, and changes that make inputs equal that were told apart."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.constants import production_modules
from contract_guard.facts.fold import NotFoldable, fold
from contract_guard.facts.literals import is_distinctive_int
from contract_guard.facts.model import Input, ModuleFacts, Span
from contract_guard.findings import Finding, Related
from contract_guard.registry.contents import changed_paths
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change
from contract_guard.registry.rules import Rule, given_rules, rules_of
from contract_guard.registry.value_sets import Ranges, is_finite, literal

_LARGEST = 4096  # values that a rule may accept


class _Drawn(NamedTuple):
    """The integers that one test file writes down; `open_names` stand in expressions of which the
    value cannot be told, `open_lists` are the integers of lists that hold others as well."""

    values: dict[int, Input]
    ranges: list[range]
    open_names: frozenset[str]
    open_lists: tuple[frozenset[int], ...]

    def may_hit(self, accepted: frozenset[int], names: set[str]) -> bool:
        """Whether values that cannot be told may be among those accepted."""
        return bool(names & self.open_names) or any(accepted & known for known in self.open_lists)

    def hits(self, accepted: frozenset[int]) -> frozenset[int]:
        hit = accepted & self.values.keys()
        return hit.union(*({n for n in accepted if n in each} for each in self.ranges))


def narrowed_inputs(context: Context) -> Iterable[Finding]:
    """CG307: the tests of a rule, all together, write down some of the values that it accepts,
    and none of the others."""
    rules = _rules(context)
    if not rules:
        return
    registry = context.registry
    reached: dict[int, list[str]] = {}
    drawn: dict[str, _Drawn] = {}
    paths = {rule.path for rule in rules}
    for path, facts in registry.whole.facts():
        if not facts.fragments.inputs or not registry.layout.is_test(path):
            continue
        near = _near(context, path, facts) & paths
        if near:
            drawn[path] = _drawn(registry, path, facts.fragments.inputs)
            for number, rule in enumerate(rules):
                if rule.path in near:
                    reached.setdefault(number, []).append(path)
    seen: set[tuple[str, Ranges]] = set()
    for number, files in reached.items():
        rule = rules[number]
        accepted = _members(rule.accepts)
        names = {symbol.rpartition(":")[2].rpartition(".")[2] for symbol in rule.constants}
        if any(drawn[path].may_hit(accepted, names) for path in files):
            continue
        hit = frozenset[int]().union(*(drawn[path].hits(accepted) for path in files))
        if not hit or hit == accepted:
            continue
        for path in files:
            here = drawn[path].hits(accepted)
            if here and (path, rule.accepts) not in seen:
                seen.add((path, rule.accepts))
                yield _narrow(context, rule, path, drawn[path], here, accepted - hit)


def _rules(context: Context) -> list[Rule]:
    """Rules of production that accept several values, ids that nobody draws by chance."""
    registry = context.registry
    rules = [
        rule
        for path, facts in registry.whole.facts()
        if facts.predicates and not registry.layout.is_test(path)
        for rule in rules_of(registry, path)
    ]
    return [
        rule
        for rule in (*rules, *given_rules(registry))
        if is_finite(rule.accepts)
        and 1 < sum(high - low for low, high in rule.accepts) <= _LARGEST
        and is_distinctive_int(int(rule.accepts[0][0]))
    ]


def _members(ranges: Ranges) -> frozenset[int]:
    return frozenset(n for low, high in ranges for n in range(int(low), int(high)))


def _near(context: Context, path: str, facts: ModuleFacts) -> set[str]:
    """Files of the production modules that a test imports, and of those that these import."""
    found: set[str] = set()
    for module in production_modules(context, path, facts):
        if module.tree or module.path in found:
            continue
        found.add(module.path)
        if module.facts is not None:
            inner = production_modules(context, module.path, module.facts)
            found.update(other.path for other in inner if not other.tree)
    return found


def _drawn(registry: Registry, path: str, inputs: Sequence[Input]) -> _Drawn:
    values: dict[int, Input] = {}
    ranges: list[range] = []
    names: set[str] = set()
    open_lists: list[frozenset[int]] = []
    for each in inputs:
        known: set[int] = set()
        is_open = False
        for text in each.texts:
            try:
                value = _evaluated(registry, path, text)
            except NotFoldable:
                names.update(part.rpartition(".")[2] for part in _words(text))
                is_open = True
                continue
            items = cast("list[object]", value) if isinstance(value, list | tuple) else [value]
            if isinstance(value, range):
                ranges.append(value)
            known.update(item for item in items if type(item) is int)
        for item in known:
            values.setdefault(item, each)
        if is_open and each.is_list:
            open_lists.append(frozenset(known))
    return _Drawn(values, ranges, frozenset(names), tuple(open_lists))


def _evaluated(registry: Registry, path: str, text: str) -> object:
    """The value of an expression in a test, names that only a function imports included. Raises
    NotFoldable."""
    try:
        return registry.evaluate(path, text)
    except NotFoldable:
        facts = registry.tree.files[path]
        assert isinstance(facts, ModuleFacts)
        inner = {imp.bound: imp for imp in facts.imports if imp.name is not None and imp.scope > 0}

    def lookup(name: str) -> object:
        if name not in inner:
            return registry.evaluate(path, name)
        return registry.value_of(registry.resolve_import(path, inner[name]).symbol)

    return fold(text, lookup)


def _words(text: str) -> list[str]:
    kept = [c if c.isalnum() or c in "_." else " " for c in text]
    return "".join(kept).split()


def _narrow(
    context: Context,
    rule: Rule,
    path: str,
    drawn: _Drawn,
    here: frozenset[int],
    missed: frozenset[int],
) -> Finding:
    facts = context.registry.tree.files[rule.path]
    assert isinstance(facts, ModuleFacts)
    predicate = rule.predicate
    qualname = facts.scopes[predicate.scope].qualname
    symbol = f"{context.registry.module(rule.path).name}:{qualname}"
    used = [value for value in sorted(here) if value in drawn.values]
    place = drawn.values[used[0]] if used else next(iter(drawn.values.values()), None)
    site = _site(context, path, place)
    span = predicate.span
    return context.finding(
        "CG307",
        "note",
        site,
        sorted(rule.constants)[0],
        f"`{symbol}` takes {literal(rule.accepts)} alike; of these the tests draw "
        f"{_listed(here)}, and never {_listed(missed)}",
        "draw the others too: a rule that takes one of them for something else passes these tests",
        related=(
            Related(
                rule.path,
                span.line,
                max(span.end_line, span.line + 1),
                qualname,
                "the rule in production",
            ),
        ),
        identity=f"{symbol} {literal(rule.accepts)}",
    )


def _listed(values: frozenset[int]) -> str:
    ranges: list[tuple[float, float]] = []
    for value in sorted(values):
        if ranges and ranges[-1][1] == value:
            ranges[-1] = (ranges[-1][0], value + 1)
        else:
            ranges.append((value, value + 1))
    return literal(tuple(ranges))


def _site(context: Context, path: str, place: Input | None) -> Site:
    facts = context.registry.tree.files[path]
    assert isinstance(facts, ModuleFacts)
    lines = context.text(path).split("\n")
    if place is None:
        span = Span(1, 1, 1, len(lines[0]) + 1)
        return Site(path, facts, span, span, 0, -1)

    def column(line: int, offset: int) -> int:
        return len(lines[line - 1].encode()[: offset - 1].decode("utf-8", "replace")) + 1

    span = Span(
        place.line,
        column(place.line, place.column),
        place.end_line,
        column(place.end_line, place.end_column),
    )
    inside = [
        (scope.span.end_line - scope.span.line, index)
        for index, scope in enumerate(facts.scopes)
        if scope.kind == "function"
        and scope.qualname == place.qualname
        and scope.span.line <= place.line <= scope.span.end_line
    ]
    return Site(path, facts, span, span, min(inside)[1] if inside else 0, -1)


def merged_inputs(
    context: Context, earlier: Context, changes: Sequence[Change]
) -> Iterable[Finding]:
    """CG307 of a change: elements of a list in a test that were different in `earlier` are the
    same now."""
    old = earlier.registry
    paths = changed_paths(old.tree, context.registry.tree)
    for path in sorted(paths):
        before, after = old.tree.files.get(path), context.registry.tree.files.get(path)
        if (
            isinstance(before, ModuleFacts)
            and isinstance(after, ModuleFacts)
            and context.registry.layout.is_test(path)
        ):
            for was, now in _changed_lists(before.fragments.inputs, after.fragments.inputs):
                pair = _merged_pair(old, context.registry, path, was, now)
                if pair is not None:
                    yield _merged(context, old, path, was, now, pair)


def _changed_lists(
    before: Sequence[Input], after: Sequence[Input]
) -> Iterator[tuple[Input, Input]]:
    """Lists of one function before and after that are of one length and not the same, in order."""
    same = Counter((i.qualname, i.texts) for i in before) & Counter(
        (i.qualname, i.texts) for i in after
    )
    kept: list[dict[tuple[str, int], list[Input]]] = []
    for side in (before, after):
        left = Counter(same)
        lists: dict[tuple[str, int], list[Input]] = {}
        for each in side:
            if left[each.qualname, each.texts]:
                left[each.qualname, each.texts] -= 1
            elif each.is_list and len(each.texts) > 1:
                lists.setdefault((each.qualname, len(each.texts)), []).append(each)
        kept.append(lists)
    for key, former in kept[0].items():
        present = kept[1].get(key, [])
        if len(former) == len(present):
            yield from zip(former, present, strict=True)


def _merged_pair(
    old: Registry, new: Registry, path: str, was: Input, now: Input
) -> tuple[int, int] | None:
    """The first two positions that differed and no longer do, in a list of which most stays."""
    if 2 * sum(a == b for a, b in zip(was.texts, now.texts, strict=True)) < len(was.texts):
        return None
    for second in range(1, len(now.texts)):
        for first in range(second):
            if (
                _is_same(new, path, now.texts[first], now.texts[second])
                and not _is_same(old, path, was.texts[first], was.texts[second])
                and any(text.isupper() for text in now.texts[second].split("."))
            ):
                return first, second
    return None


def _is_same(registry: Registry, path: str, one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        return registry.evaluate(path, one) == registry.evaluate(path, other)
    except NotFoldable:
        return False


def _merged(
    context: Context, old: Registry, path: str, was: Input, now: Input, pair: tuple[int, int]
) -> Finding:
    first, second = pair
    gone = next(
        (was.texts[i] for i in (second, first) if was.texts[i] != now.texts[i]), was.texts[second]
    )
    symbol = _symbol(old, path, gone)
    return context.finding(
        "CG307",
        "warning",
        _site(context, path, now),
        symbol,
        f"`{was.texts[first]}` and `{was.texts[second]}` were two inputs, and are one now "
        f"(`{now.texts[second]}` twice): what told them apart is no longer checked",
        f"put another value in place of `{gone}`: one that production treats in its own way",
        impact="silent",
        identity=f"{now.qualname} {', '.join(now.texts)}",
    )


def _symbol(registry: Registry, path: str, name: str) -> str:
    """What a name of a test stands for, as it was imported where it is gone."""
    producer = registry.resolve_name(path, name).producer
    if producer is not None:
        return producer.symbol
    facts = registry.tree.files.get(path)
    for imp in facts.imports if isinstance(facts, ModuleFacts) else ():
        if imp.bound == name and imp.name is not None:
            return registry.resolve_import(path, imp).symbol
    return name
