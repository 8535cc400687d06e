"""Changes to contracts between two registries of one project.

A contract is a definition that another module names. What is said of it here rests on names and
values alone; which of its consumers fail is the matter of detectors.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import msgspec

from contract_guard.facts.model import Signature
from contract_guard.findings import Impact
from contract_guard.registry.callables import callable_of
from contract_guard.registry.consumers import (
    Consumption,
    consumers_of_any,
    consumers_of_modules,
)
from contract_guard.registry.contents import (
    Definition,
    changed_paths,
    contents,
    value_text,
)
from contract_guard.registry.followed import is_rewritten, still_there
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, ChangeKind, Consumer, Place, Producer
from contract_guard.registry.replacement import (
    Replacements,
    module_replacement,
    package_replacements,
)
from contract_guard.registry.rules import rule_changes
from contract_guard.registry.signatures import signature_change, signature_text

_MOST_ROUNDS = 20  # of constants derived from derived constants
_NAME = re.compile(r"[A-Za-z_]\w*")
GOING: frozenset[ChangeKind] = frozenset({"removed", "renamed", "moved", "visibility-changed"})


def compare(old: Registry, new: Registry, *, downstream: bool = False) -> tuple[Change, ...]:
    """Every change to a contract from `old` to `new`, by symbol; with `downstream`, of whatever
    another project may name.

    Consumers are the places outside of the defining module: at `new`, and those that named the
    symbol at `old`. Those whose code is no longer the same are `updated`. Their
    impact is "silent": nothing here tells which of them fail; None where the same code is still
    there under the old name.
    """
    changes = _Comparison(old, new).changes()
    return tuple(change for change in changes if change.consumers or downstream)


class _Comparison:
    def __init__(self, old: Registry, new: Registry) -> None:
        self.old = old
        self.new = new
        self.paths = changed_paths(old.tree, new.tree)
        self.before = contents(old, self.paths)
        self.after = contents(new, self.paths)

    def changes(self) -> Iterator[Change]:
        found = [*self._modules(), *self._names(), *self._derived()]
        found += rule_changes(self.old, self.new, self.paths, {c.symbol for c in found})
        found = with_consumers(found, self.old, self.new, self.paths)
        yield from sorted(found, key=lambda change: (change.symbol, change.kind))

    def _modules(self) -> Iterator[Change]:
        """Modules that are gone, and what took their place."""
        before, after = _by_module(self.before), _by_module(self.after)
        came = {name: own for name, own in after.items() if not self.old.modules.named(name)}
        gone: dict[str, str] = {}
        for path in sorted(self.paths - self.new.tree.files.keys()):
            name = self.old.module(path).name
            is_known = not name or name in gone or self.new.modules.named(name)
            if not is_known and self.new.resolve_dotted(name).status == "missing":
                gone[name] = path
        found = {name: module_replacement(before.get(name, ()), came) for name in gone}
        arrived = {self.new.module(path).name for path in self.paths & self.new.tree.files.keys()}
        arrived = {name for name in arrived if name and not self.old.modules.named(name)}
        found |= dict(package_replacements(found, arrived))
        self.gone_modules = set(gone)
        self.replaced: dict[str, list[str]] = {}
        for name, path in gone.items():
            other = found[name]
            kind: ChangeKind = "removed"
            new = None
            if other is not None:
                is_same_name = other.rpartition(".")[2] == name.rpartition(".")[2]
                kind = "moved" if is_same_name else "renamed"
                new = Place(self.new.modules.named(other)[0].path, 1)
                self.replaced.setdefault(other, []).append(name)
            yield Change(symbol=name, kind=kind, old=Place(path, 1), new=new, replacement=other)

    def _names(self) -> Iterator[Change]:
        came = [d for s, d in self.after.items() if s not in self.before and not d.is_passed_on]
        replacements = Replacements(came)
        replacing = set[str]()
        for change in self._gone_or_altered(replacements):
            replacing.add(change.replacement or "")
            yield change
        yield from self._exports()
        for new in came:
            if new.symbol in replacing or self._came_along(new):
                continue
            if self.old.resolve_symbol(new.symbol).status == "missing":
                yield Change(symbol=new.symbol, kind="added", old=None, new=new.place)

    def _came_along(self, new: Definition) -> bool:
        """Whether it came with a module that took the place of one that had the same name."""
        module, _, name = new.symbol.partition(":")
        return any(f"{old}:{name}" in self.before for old in self.replaced.get(module, ()))

    def _gone_or_altered(self, replacements: Replacements) -> Iterator[Change]:
        for symbol, old in self.before.items():
            if old.module.name in self.gone_modules:
                continue
            new = self.after.get(symbol)
            if new is None:
                if self.new.resolve_symbol(symbol).status == "missing":
                    yield self._gone(old, replacements)
            elif not old.is_passed_on and new.is_passed_on:
                yield from self._passed_on(old, new)
            elif not old.is_passed_on and old.binding is not new.binding:
                yield from _altered(self.old, self.new, old, new)

    def _gone(self, old: Definition, replacements: Replacements) -> Change:
        kind: ChangeKind = "removed"
        new = None if old.is_passed_on else replacements.renamed(old)
        if new is not None:
            kind = "visibility-changed" if new.name == f"_{old.name}" else "renamed"
        elif not old.is_passed_on and (new := replacements.moved(old)) is not None:
            kind = "moved"
        place = old.place
        if old.is_passed_on:
            # What goes is the way; the definition behind it may still be there.
            behind = self.old.producer(old.symbol)
            here = self.new.producer(behind.symbol) if behind is not None else None
            if here is not None:
                new_place = Place(here.path, here.span.line, value_text(self.new, here.symbol))
                return Change(
                    symbol=old.symbol,
                    kind="moved",
                    old=place,
                    new=new_place,
                    replacement=here.symbol,
                )
        return Change(
            symbol=old.symbol,
            kind=kind,
            old=place,
            new=new.place if new else None,
            replacement=new.symbol if new else None,
        )

    def _passed_on(self, old: Definition, new: Definition) -> Iterator[Change]:
        """A definition that moved, and left an import in its place."""
        behind = self.new.producer(new.symbol)
        if behind is None or behind.symbol == old.symbol:
            return
        name = behind.symbol.partition(":")[2]
        yield Change(
            symbol=old.symbol,
            kind="moved" if name == old.name else "renamed",
            old=old.place,
            new=Place(behind.path, behind.span.line, value_text(self.new, behind.symbol)),
            replacement=behind.symbol,
        )

    def _exports(self) -> Iterator[Change]:
        """Public names that `__all__` no longer lists: a star import does not bring them."""
        for path in sorted(self.paths):
            if path not in self.old.tree.files or path not in self.new.tree.files:
                continue
            before, after = self.old.module(path), self.new.module(path)
            if before.facts is None or after.facts is None or after.facts.exports is None:
                continue
            if not after.facts.exports_exact:
                continue
            exports = before.facts.exports
            for name in (b for b in before.bindings if not b.startswith("_")):
                was_listed = exports is None or name in exports
                if was_listed and name in after.bindings and name not in after.facts.exports:
                    symbol = f"{before.name}:{name}"
                    old, new = self.before.get(symbol), self.after.get(symbol)
                    if old and new and not old.is_passed_on:
                        yield Change(
                            symbol=symbol,
                            kind="visibility-changed",
                            old=old.place,
                            new=new.place,
                            replacement=symbol,
                        )

    def _derived(self) -> Iterator[Change]:
        """Constants whose own text stayed and whose value follows one that changed."""
        names = {
            old.name
            for symbol, old in self.before.items()
            if old.value is not None
            and (new := self.after.get(symbol)) is not None
            and new.value != old.value
        }
        known = set(self.before)
        for _ in range(_MOST_ROUNDS):
            if not names:
                return
            found = [c for c in self._following(names) if c.symbol not in known]
            known |= {change.symbol for change in found}
            names = {change.symbol.rpartition(":")[2].rpartition(".")[2] for change in found}
            yield from found

    def _following(self, names: set[str]) -> Iterator[Change]:
        for path, facts in self.new.facts():
            if path in self.paths:
                continue
            following = [
                binding
                for binding in facts.bindings
                if binding.kind == "assign"
                and binding.value is not None
                and not names.isdisjoint(_NAME.findall(binding.value))
            ]
            module = self.new.module(path)
            for binding in following:
                symbol = f"{module.name}:{binding.name}"
                before, after = value_text(self.old, symbol), value_text(self.new, symbol)
                if None not in (before, after) and before != after:
                    line = binding.span.line
                    yield Change(
                        symbol=symbol,
                        kind="value-changed",
                        old=Place(path, line, before),
                        new=Place(path, line, after),
                        replacement=symbol,
                    )


def _altered(
    old_registry: Registry, new_registry: Registry, old: Definition, new: Definition
) -> Iterator[Change]:
    kind: ChangeKind | None = None
    was, now = old.place, new.place
    if old.binding.kind != new.binding.kind:
        kind = "kind-changed"
    elif old.value is not None and new.value is not None:
        kind = "value-changed" if old.value != new.value else None
    else:
        before, after = _signature(old_registry, old), _signature(new_registry, new)
        if before is not None and after is not None:
            kind = signature_change(before, after)
            was = msgspec.structs.replace(was, value=signature_text(before))
            now = msgspec.structs.replace(now, value=signature_text(after))
    if kind is not None:
        yield Change(symbol=old.symbol, kind=kind, old=was, new=now, replacement=new.symbol)


def _signature(registry: Registry, definition: Definition) -> Signature | None:
    """What a call of a function or a class has to fit."""
    if definition.binding.kind != "class":
        return definition.binding.signature
    found = callable_of(registry, definition.symbol)
    return found.signature if found is not None else None


def _by_module(definitions: Mapping[str, Definition]) -> dict[str, list[Definition]]:
    found: dict[str, list[Definition]] = {}
    for definition in definitions.values():
        if not definition.is_passed_on:
            found.setdefault(definition.module.name, []).append(definition)
    return found


def with_consumers(
    changes: Iterable[Change], old: Registry, new: Registry, paths: Collection[str] = ()
) -> list[Change]:
    """The changes, in the same order, with who names their symbols in the registries' own files.
    `paths` are those of the files that differ: only there can consumers have been updated."""
    changes = list(changes)
    consumers = _Consumers(old, new, paths, changes)
    return [msgspec.structs.replace(c, consumers=(*c.consumers, *consumers.of(c))) for c in changes]


class _Consumers:
    """Who names the changed symbols, at both revisions, found in one pass over each."""

    def __init__(
        self, old: Registry, new: Registry, paths: Collection[str], changes: Sequence[Change]
    ) -> None:
        self._old = old
        self._new = new
        self._paths = paths
        going = [change for change in changes if change.kind in GOING]
        self._before = _index(old, going)
        self._after = _index(new, changes)

    def of(self, change: Change) -> tuple[Consumer, ...]:
        found = self._after.get(change.symbol, ())
        if change.kind not in GOING:
            return tuple(_consumer(c, updated=self._is_rewritten(c)) for c in found)
        impact = None if self._costs_nothing(change) else "silent"
        consumers = [_consumer(c, updated=False, impact=impact) for c in found]
        here = {(c.path, c.form) for c in found}
        now = {(c.path, c.form): c for c in self._after.get(change.replacement or "", ())}
        followed: dict[tuple[str, str, int, bool], Consumer] = {}
        for was in self._before.get(change.symbol, ()):
            if (was.path, was.form) in here:
                continue
            span = still_there(self._old, self._new, was)
            place = now.get((was.path, was.form), was) if span is None else was
            line = place.span.line if span is None else span.line
            updated = span is None and was.path in self._paths
            consumer = _consumer(place, updated=updated, line=line)
            followed[was.path, was.form, line, updated] = consumer
        return (*consumers, *followed.values())

    def _is_rewritten(self, place: Consumption) -> bool:
        return place.path in self._paths and is_rewritten(self._old, self._new, place)

    def _costs_nothing(self, change: Change) -> bool:
        """Whether the same code is still there under the old name, which passes it on."""
        before = self._old.resolve_symbol(change.symbol)
        after = self._new.resolve_symbol(change.symbol)
        return (
            after.status == "exists"
            and change.kind in ("moved", "renamed")
            and (code := _code(self._old, before.producer)) is not None
            and code == _code(self._new, after.producer)
        )


def _code(registry: Registry, producer: Producer | None) -> object:
    """What a definition does or is, None where that is not known."""
    if producer is None or not producer.path:
        return None
    module, _, qualname = producer.symbol.partition(":")
    for each in registry.modules.named(module):
        for binding in reversed(each.bindings.get(qualname, ())):
            if binding.body:
                return (binding.body, binding.signature, binding.decorators)
    return value_text(registry, producer.symbol)


def _consumer(
    found: Consumption, *, updated: bool, line: int = 0, impact: Impact | None = "silent"
) -> Consumer:
    return Consumer(
        path=found.path,
        line=line or found.span.line,
        form=found.form,
        test=found.test,
        impact=impact,
        updated=updated,
    )


def _index(registry: Registry, changes: Iterable[Change]) -> dict[str, list[Consumption]]:
    symbols = {change.symbol for change in changes}
    symbols |= {change.replacement for change in changes if change.replacement}
    modules = {symbol for symbol in symbols if ":" not in symbol}
    names = {symbol.partition(":")[2].rpartition(".")[2] for symbol in symbols - modules}
    found: dict[str, list[Consumption]] = {}
    places = [*consumers_of_any(registry, names)] if names else []
    if modules:
        places += consumers_of_modules(registry, modules)
    for place in places:
        for symbol in {place.symbol, place.producer.symbol} & symbols:
            found.setdefault(symbol, []).append(place)
    return found
