"""Who names a definition from another module, and what hangs on it."""

from collections.abc import Collection, Iterable, Iterator
from typing import Literal

import msgspec

from contract_guard.facts.model import Import, ModuleFacts, Span, Test
from contract_guard.registry import guards
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Producer, Resolution

Form = Literal["import", "attribute", "assignment", "patch"]


class Consumption(msgspec.Struct, frozen=True, kw_only=True):
    """A place in another module than the producer's that names it.

    `symbol` is the name as it was asked for: where a package re-exports the definition, the one in
    the package. `test` is the node id of the test around the place. `tests` are the node ids of
    this file that would fail without the name: those whose code loads it, or all where it stands
    at module level. `cases` counts them with their parametrizations; `exact` is false where that
    is a lower bound.
    """

    producer: Producer
    symbol: str
    path: str
    span: Span
    form: Form
    in_test: bool
    at_module_level: bool
    test: str | None
    tests: tuple[str, ...]
    cases: int
    exact: bool


def consumers(registry: Registry, name: str) -> Iterator[Consumption]:
    """All consumers of definitions whose own name is `name`.

    In order of path; imports, then attributes, then patches of each file.
    """
    return consumers_of_any(registry, {name})


def consumers_of_any(registry: Registry, names: Collection[str]) -> Iterator[Consumption]:
    """All consumers of definitions whose own name is among `names`, in the same order."""
    for path, facts in registry.facts():
        yield from _of_file(_File(registry, path, facts), names)


def _of_file(file: "_File", names: Collection[str]) -> Iterator[Consumption]:
    registry, path, facts = file.registry, file.path, file.facts
    for index, imp in enumerate(facts.imports):
        if imp.name in names:
            found = registry.resolve_import(path, imp)
            loads = {imp.scope, *(load.scope for load in facts.loads if index in load.imported)}
            yield from file.consumption(found, imp.span, imp.scope, "import", loads)
    for use in facts.uses:
        for length, part in enumerate(use.chain, 1):
            if part not in names:
                continue
            shorter = msgspec.structs.replace(use, chain=use.chain[:length])
            is_whole = length == len(use.chain)
            form = "assignment" if is_whole and use.context != "load" else "attribute"
            span = Span(use.span.line, use.span.column, *use.ends[length])
            found = registry.resolve_use(path, shorter)
            yield from file.consumption(found, span, use.scope, form, {use.scope})
    for patch in facts.patches:
        if (patch.attribute or patch.target.rpartition(".")[2]) in names:
            found = registry.resolve_patch(path, patch)
            yield from file.consumption(found, patch.span, patch.scope, "patch", {patch.scope})


def consumers_of_modules(registry: Registry, dotted: Collection[str]) -> Iterator[Consumption]:
    """All imports of modules, and of names out of them, by the modules' dotted names.

    A statement counts once for each module, however many names it takes.
    """
    last_parts = {name.rpartition(".")[2] for name in dotted}
    for path, facts in registry.facts():
        file = _File(registry, path, facts)
        seen: set[tuple[str, Span]] = set()
        for imp in facts.imports:
            names_one = imp.module.rpartition(".")[2] in last_parts or imp.name in last_parts
            for found in _modules(registry, path, imp) if names_one else ():
                producer = found.producer
                if producer is None or (producer.symbol, imp.statement) in seen:
                    continue
                if producer.symbol in dotted:
                    seen.add((producer.symbol, imp.statement))
                    yield from file.consumption(found, imp.span, imp.scope, "import", {imp.scope})


def _modules(registry: Registry, path: str, imp: Import) -> Iterator[Resolution]:
    """The modules that an import loads: the one it names, and the one that it takes out of it."""
    whole = msgspec.structs.replace(imp, name=None)
    taken = () if imp.name in (None, "*") else (registry.resolve_import(path, imp),)
    for found in (registry.resolve_import(path, whole), *taken):
        if found.producer is not None and found.producer.kind == "module":
            yield found


class _File:
    """What consumptions of one file have in common."""

    def __init__(self, registry: Registry, path: str, facts: ModuleFacts) -> None:
        self.registry = registry
        self.path = path
        self.facts = facts
        self.in_test = registry.layout.is_test(path)
        collected = facts.pytest.tests if registry.layout.is_test_module(path) else ()
        self.tests = {test.scope: test for test in collected}

    def consumption(
        self, found: Resolution, span: Span, scope: int, form: Form, loads: Iterable[int]
    ) -> Iterator[Consumption]:
        """Nothing for what is unknown or stands in the producer's own module."""
        producer = found.producer
        if found.status != "exists" or producer is None or producer.path == self.path:
            return
        here = self._test_around(scope)
        at_module_level = guards.at_import(self.facts, scope)
        around = [self._test_around(load) for load in loads]
        needing = list(self.tests.values()) if at_module_level else _unique(around)
        yield Consumption(
            producer=producer,
            symbol=found.symbol,
            path=self.path,
            span=span,
            form=form,
            in_test=self.in_test,
            at_module_level=at_module_level,
            test=self._node_id(here) if here else None,
            tests=tuple(map(self._node_id, needing)),
            cases=sum(test.cases for test in needing),
            exact=all(test.exact for test in needing),
        )

    def _test_around(self, scope: int) -> Test | None:
        while scope > 0:
            if scope in self.tests:
                return self.tests[scope]
            scope = self.facts.scopes[scope].parent
        return None

    def _node_id(self, test: Test) -> str:
        return f"{self.path}::{test.qualname.replace('.', '::')}"


def _unique(tests: Iterable[Test | None]) -> list[Test]:
    return list({test.scope: test for test in tests if test is not None}.values())
