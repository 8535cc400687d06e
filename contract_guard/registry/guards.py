"""When does a place run, and is its failure fatal? Answers from `ModuleFacts.guards`."""

from collections.abc import Iterator

from contract_guard.facts.model import Guard, ModuleFacts

_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_ATTRIBUTE_ERRORS = frozenset({"AttributeError", "Exception", "BaseException"})


def chain(facts: ModuleFacts, guard: int) -> Iterator[Guard]:
    """Guards around a place, from the innermost outwards."""
    while guard >= 0:
        found = facts.guards[guard]
        yield found
        guard = found.parent


def type_checking(facts: ModuleFacts, guard: int) -> bool:
    """True where only a type checker reads the place."""
    return any(g.kind == "type-checking" and not g.negated for g in chain(facts, guard))


def unreachable(facts: ModuleFacts, guard: int) -> bool:
    return any(g.kind == "unreachable" for g in chain(facts, guard))


def caught(
    facts: ModuleFacts, guard: int, *, missing_module: bool = True, import_: bool = True
) -> bool:
    """True where the failure of an import, or of an attribute access, is caught or expected.

    A missing name raises ImportError, which a handler for ModuleNotFoundError alone does not catch.
    """
    errors = _IMPORT_ERRORS if import_ else _ATTRIBUTE_ERRORS
    if import_ and not missing_module:
        errors = errors - {"ModuleNotFoundError"}
    return any(
        g.kind in ("try", "suppress", "raises")
        and not g.negated
        and any(name.rpartition(".")[2] in errors for name in g.catches)
        for g in chain(facts, guard)
    )


def fallback(facts: ModuleFacts, guard: int) -> bool:
    """True in a handler's body, or where the place first asks whether the name is there."""
    return any(g.kind in ("except", "hasattr") for g in chain(facts, guard))


def main_only(facts: ModuleFacts, guard: int) -> bool:
    """True under `if __name__ == "__main__":`."""
    return any(
        g.kind == "if" and not g.negated and "__main__" in g.text for g in chain(facts, guard)
    )


def at_import(facts: ModuleFacts, scope: int) -> bool:
    """True where code of this scope runs while the module is imported: no function around it."""
    while scope > 0:
        found = facts.scopes[scope]
        if found.kind in ("function", "lambda"):
            return False
        scope = found.parent
    return True


def fatal_at_import(
    facts: ModuleFacts, scope: int, guard: int, *, missing_module: bool = True, import_: bool = True
) -> bool:
    """True where a failing reference makes the import of its own module fail."""
    if not at_import(facts, scope):
        return False
    if guard < 0:
        return True
    return not (
        type_checking(facts, guard)
        or unreachable(facts, guard)
        or fallback(facts, guard)
        or main_only(facts, guard)
        or caught(facts, guard, missing_module=missing_module, import_=import_)
    )
