"""Which tests hang on which constant: those that would vanish at collection if it went."""

from collections.abc import Iterable

import msgspec

from contract_guard.registry.consumers import Consumption, module_level_consumers
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Producer


class AtRisk(msgspec.Struct, frozen=True, kw_only=True):
    """A production constant and the test modules that name it while they are imported.

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
    """Constants of production that test modules name at module level."""
    by_symbol: dict[str, dict[str, Consumption]] = {}
    for path, facts in registry.facts():
        if not facts.pytest.tests or not registry.layout.is_test_module(path):
            continue
        for found in module_level_consumers(registry, path, facts, str.isupper):
            if is_constant(registry, found.producer):
                by_symbol.setdefault(found.producer.symbol, {})[path] = found
    constants = [_at_risk(list(places.values())) for places in by_symbol.values()]
    modules = {p: found.cases for places in by_symbol.values() for p, found in places.items()}
    return Risk(
        constants=tuple(sorted(constants, key=lambda c: (-c.tests, c.producer.symbol))),
        modules=len(modules),
        tests=sum(modules.values()),
    )


def is_constant(registry: Registry, producer: Producer) -> bool:
    """A module's or class's name in capitals, bound by assignment, outside of tests."""
    name = producer.symbol.rpartition(":")[2].rpartition(".")[2]
    return (
        producer.kind == "assign"
        and name.isupper()
        and not (producer.origin == "" and registry.layout.is_test(producer.path))
    )


def _at_risk(places: Iterable[Consumption]) -> AtRisk:
    places = sorted(places, key=lambda found: found.path)
    return AtRisk(
        producer=places[0].producer,
        modules=tuple(found.path for found in places),
        tests=sum(found.cases for found in places),
        exact=all(found.exact for found in places),
    )
