"""Consumers that name a changed symbol through a module that the change keeps from loading."""

from collections.abc import Iterable, Mapping

import msgspec

from contract_guard.facts.model import Import, ModuleFacts
from contract_guard.findings import Finding
from contract_guard.registry import guards
from contract_guard.registry.compare import GOING
from contract_guard.registry.guards import Error
from contract_guard.registry.impact import import_graph
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change, Consumer

# What the findings of the rules say is raised.
RAISES: Mapping[str, Error] = {
    "CG101": "ImportError",
    "CG102": "AttributeError",
    "CG103": "AttributeError",
    "CG104": "ModuleNotFoundError",
    "CG107": "TypeError",
}


def with_carried(change: Change, findings: Iterable[Finding], registry: Registry) -> Change:
    """The change with the impact on those of its consumers that would be silent, had not one of
    its `findings` kept a module that they import from loading."""
    if change.kind not in GOING or not any(map(_is_silent, change.consumers)):
        return change
    failing: dict[str, Error] = {}
    for finding in findings:
        error = RAISES.get(finding.rule)
        if error is not None and _stops_import(finding, registry, error):
            reached = import_graph(registry).reached(finding.path, error)
            failing |= {path: error for path in reached if path not in failing}
    if not failing:
        return change
    consumers = (
        _carried(consumer, failing, registry) if _is_silent(consumer) else consumer
        for consumer in change.consumers
    )
    return msgspec.structs.replace(change, consumers=tuple(consumers))


def _is_silent(consumer: Consumer) -> bool:
    return consumer.impact == "silent" and not consumer.updated


def _stops_import(finding: Finding, registry: Registry, error: Error) -> bool:
    """Whether the file cannot be imported for what is found."""
    return finding.impact == "collection-error" or any(
        guards.fatal_at_import(facts, imp.scope, imp.guard, error)
        for facts, imp in _imports_on(finding.path, finding.line, registry)
    )


def _carried(consumer: Consumer, failing: Mapping[str, Error], registry: Registry) -> Consumer:
    error = failing.get(consumer.path)
    if error is not None:
        lost = import_graph(registry).lost(consumer.path, error)
        impact = "collection-error" if lost else "runtime-error"
        return msgspec.structs.replace(consumer, impact=impact, tests_lost=lost)
    here = registry.module(consumer.path)
    for facts, imp in _imports_on(consumer.path, consumer.line, registry):
        for source in registry.modules.locate_import(here, imp).modules[:1]:
            error = failing.get(source.path) if source.tree == 0 else None
            if error is not None and not guards.caught(facts, imp.guard, error):
                return msgspec.structs.replace(consumer, impact="runtime-error")
    return consumer


def _imports_on(path: str, line: int, registry: Registry) -> list[tuple[ModuleFacts, Import]]:
    facts = registry.tree.files.get(path)
    if not isinstance(facts, ModuleFacts):
        return []
    return [
        (facts, imp)
        for imp in facts.imports
        if imp.statement.line <= line <= max(imp.statement.end_line, imp.statement.line)
    ]
