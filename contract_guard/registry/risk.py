"""Which tests hang on which constant: those that would vanish at collection if it went."""

import re
from collections.abc import Mapping

import msgspec

from contract_guard.facts.model import ModuleFacts
from contract_guard.registry import guards
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Producer, Resolution

_CONSTANT = re.compile(r"_{0,2}[A-Z][A-Z0-9_]*\Z")


class AtRisk(msgspec.Struct, frozen=True, kw_only=True):
    """A production constant and the test modules that import it at module level.

    `tests` counts the tests of those modules with their parametrizations; `exact` is false where
    that is a lower bound.
    """

    producer: Producer
    modules: tuple[str, ...]
    tests: int
    exact: bool


class Risk(msgspec.Struct, frozen=True, kw_only=True):
    """`constants` are sorted by the number of tests, most first. `tests` are those of all
    `modules`, each counted once."""

    constants: tuple[AtRisk, ...]
    modules: int
    tests: int


def tests_at_risk(registry: Registry) -> Risk:
    """Constants of production that test modules import at module level."""
    importers: dict[str, dict[str, Producer]] = {}
    cases: dict[str, tuple[int, bool]] = {}
    for path, facts in registry.facts():
        for constant in leaned_on(registry, path, facts):
            importers.setdefault(constant.symbol, {})[path] = constant
            tests = facts.pytest.tests
            cases[path] = (sum(t.cases for t in tests), all(t.exact for t in tests))
    constants = [_at_risk(producers, cases) for producers in importers.values()]
    return Risk(
        constants=tuple(sorted(constants, key=lambda c: (-c.tests, c.producer.symbol))),
        modules=len(cases),
        tests=sum(count for count, _ in cases.values()),
    )


def leaned_on(registry: Registry, path: str, facts: ModuleFacts) -> list[Producer]:
    """The constants of production without which a test module cannot be collected."""
    if not registry.layout.is_test_module(path):
        return []
    found = (
        production_constant(registry, registry.resolve_import(path, imp))
        for imp in facts.imports
        if imp.name is not None and guards.fatal_at_import(facts, imp.scope, imp.guard)
    )
    return [constant for constant in found if constant is not None]


def is_constant_name(name: str) -> bool:
    """Whether a name is written as constants are."""
    return _CONSTANT.match(name) is not None


def production_constant(registry: Registry, resolution: Resolution) -> Producer | None:
    """The constant of a module outside of the tests that a name leads to, if it leads to one."""
    producer = resolution.producer
    if producer is None or producer.kind != "assign":
        return None
    if not is_constant_name(producer.symbol.partition(":")[2]):
        return None
    if not producer.origin and registry.layout.is_test(producer.path):
        return None
    return producer


def _at_risk(producers: Mapping[str, Producer], cases: Mapping[str, tuple[int, bool]]) -> AtRisk:
    return AtRisk(
        producer=next(iter(producers.values())),
        modules=tuple(sorted(producers)),
        tests=sum(cases[path][0] for path in producers),
        exact=all(cases[path][1] for path in producers),
    )
