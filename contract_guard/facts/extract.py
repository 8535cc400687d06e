"""`extract`: the bytes of a file -> its facts."""

import ast
from collections.abc import Callable

from contract_guard.facts.bindings import bindings_of
from contract_guard.facts.calls import calls_of, literals_of
from contract_guard.facts.class_decorators import class_decorators
from contract_guard.facts.classes import classes_of, stored_attributes
from contract_guard.facts.constants import Constants
from contract_guard.facts.effects import ModuleEffects
from contract_guard.facts.exports import exports_of
from contract_guard.facts.model import FileFragments, ModuleFacts, Scope, Unreadable
from contract_guard.facts.module_getattr import getattr_of
from contract_guard.facts.observations import Observations
from contract_guard.facts.patches import patches_of
from contract_guard.facts.predicates import predicates_of
from contract_guard.facts.pytest_facts import pytest_facts_of
from contract_guard.facts.reader import read
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import Source
from contract_guard.facts.statements import observe
from contract_guard.facts.tables import Tables
from contract_guard.facts.texts import Texts
from contract_guard.facts.unbound import unbound_of
from contract_guard.facts.uses import ImportedNames, loads_of, uses_of

_SUPPRESSION = b"contract-guard:"


def extract(
    source: bytes, fragments_of: Callable[[ast.Module], FileFragments] | None = None
) -> ModuleFacts | Unreadable:
    """All facts of one Python source file, or why it has none. Never raises for its content.

    The same bytes give the same facts under one minor version of Python. `fragments_of` fills
    `ModuleFacts.fragments` from the same tree.
    """
    parsed = read(source)
    if isinstance(parsed, Unreadable):
        return parsed
    text, tree = parsed
    try:
        notes = observe(text, tree)
        fragments = FileFragments() if fragments_of is None else fragments_of(tree)
        return _facts(notes, fragments, has_suppressions=_SUPPRESSION in source)
    except RecursionError:
        return Unreadable("too-deep", "blocks or expressions are nested too deeply")


def _facts(notes: Observations, fragments: FileFragments, has_suppressions: bool) -> ModuleFacts:
    constants = Constants(notes)
    imported = ImportedNames(notes)
    exports, exports_exact = exports_of(notes, constants)
    tables = Tables(notes, constants, exports)
    texts = Texts(notes, constants, tables)
    served, serves_others = getattr_of(notes, constants, tables)
    effects = ModuleEffects(notes, constants, tables, texts)
    bindings = bindings_of(notes.bindings[notes.module], notes)
    classes = classes_of(notes, constants)
    uses = uses_of(notes, imported)
    loads = loads_of(notes, imported)
    patches, unfolded = patches_of(notes, imported, texts)
    calls = calls_of(notes)
    predicates = predicates_of(notes)
    literals = literals_of(notes)
    unbound = unbound_of(notes)
    tests = pytest_facts_of(notes, constants)
    return ModuleFacts(
        lines=_line_count(notes.source),
        scopes=tuple([_scope(record, notes) for record in notes.scopes]),
        guards=tuple(notes.guards.guards),
        bindings=bindings,
        classes=classes,
        imports=tuple(notes.imports),
        uses=uses,
        loads=loads,
        patches=patches,
        calls=calls,
        predicates=predicates,
        literals=literals,
        pytest=tests,
        exports=exports,
        exports_exact=exports_exact,
        getattr_names=tuple(dict.fromkeys((*served, *effects.lazy_names))),
        getattr_open=serves_others or effects.lazy_open,
        dynamic=effects.dynamic,
        added_names=effects.added_names,
        submodule_stubs=effects.submodule_stubs,
        loaded_names=_loaded_names(notes),
        unfolded_targets=unfolded,
        has_suppressions=has_suppressions,
        fragments=fragments,
        unbound=unbound,
        class_decorators=class_decorators(notes),
        stored_attributes=stored_attributes(notes),
    )


def _line_count(source: Source) -> int:
    return len(source.lines) - (source.lines[-1] == "")


def _scope(record: ScopeRecord, notes: Observations) -> Scope:
    return Scope(
        record.kind,
        record.qualname,
        record.parent.index if record.parent is not None else -1,
        notes.source.span_of_scope(record.node),
    )


def _loaded_names(notes: Observations) -> frozenset[str]:
    loaded = notes.loaded
    for scope in notes.every_scope():
        loaded.update(scope.loads)
    return frozenset(loaded)
