"""When does a place run, and is its failure fatal? Answers from `ModuleFacts.guards`."""

from collections.abc import Iterator
from typing import Literal

from contract_guard.facts.model import Guard, ModuleFacts

Error = Literal["ImportError", "ModuleNotFoundError", "AttributeError", "TypeError"]
"""What a broken reference raises: for a missing name, module, or attribute of a module, and for a
call that does not fit."""

ERRORS: tuple[Error, ...] = ("ImportError", "ModuleNotFoundError", "AttributeError", "TypeError")

_CAUGHT_BY: dict[Error, frozenset[str]] = {
    "ImportError": frozenset({"ImportError", "Exception", "BaseException"}),
    "ModuleNotFoundError": frozenset(
        {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    ),
    "AttributeError": frozenset({"AttributeError", "Exception", "BaseException"}),
    "TypeError": frozenset({"TypeError", "Exception", "BaseException"}),
}


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


def caught(facts: ModuleFacts, guard: int, error: Error) -> bool:
    """True where an error is caught, suppressed or expected.

    A handler of something that is not written like a class may stand for a tuple of anything.
    """
    return any(
        g.kind in ("try", "suppress", "raises")
        and not g.negated
        and any(catches(name.rpartition(".")[2], error) for name in g.catches)
        for g in chain(facts, guard)
    )


def catches(name: str, error: Error) -> bool:
    """Whether a handler of the exception `name` catches the error."""
    return name in _CAUGHT_BY[error] or name.isupper() or name.islower()


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


def runs_at_import(facts: ModuleFacts, scope: int, guard: int) -> bool:
    """True where a place is meant to run whenever its own module is imported."""
    return at_import(facts, scope) and not (
        guard >= 0
        and (
            type_checking(facts, guard)
            or unreachable(facts, guard)
            or fallback(facts, guard)
            or main_only(facts, guard)
        )
    )


def fatal_at_import(
    facts: ModuleFacts, scope: int, guard: int, error: Error = "ImportError"
) -> bool:
    """True where a reference that raises `error` makes the import of its own module fail."""
    return runs_at_import(facts, scope, guard) and not caught(facts, guard, error)
