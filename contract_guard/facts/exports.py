"""`__all__`: which names it lists, and whether that is all of them."""

import ast

from contract_guard.facts.constants import Constants
from contract_guard.facts.fold import NotFoldable, is_text, names_in
from contract_guard.facts.guards import GuardRecord
from contract_guard.facts.observations import Observations

_SAME_NAMES = frozenset({"sorted", "list", "tuple", "set", "frozenset"})


class _Names:
    def __init__(self, names: list[str], exact: bool) -> None:
        self.names = names
        self.exact = exact


def exports_of(notes: Observations, constants: Constants) -> tuple[tuple[str, ...] | None, bool]:
    """The names of `__all__` in order, None without it, and whether they are complete.

    Additions in branches are all taken, removals only outside of them.
    """
    steps = _steps(notes)
    if not steps:
        return None, True
    names: dict[str, None] = {}
    exact = True
    for _, operation, value, guard in steps:
        found = _read(value, constants) if value is not None else _Names([], False)
        exact = exact and found.exact
        if operation == "=" and guard is None:
            names = dict.fromkeys(found.names)
            exact = found.exact
        elif operation != "remove":
            names.update(dict.fromkeys(found.names))
        elif guard is None:
            for name in found.names:
                names.pop(name, None)
    return tuple(names), exact


_Step = tuple[tuple[int, int], str, ast.expr | None, GuardRecord | None]


def _steps(notes: Observations) -> list[_Step]:
    """What is done to `__all__`, in the order of the text."""
    steps: list[_Step] = []
    for item in notes.bindings[notes.module]:
        if item.name != "__all__" or item.kind == "annotation":
            continue
        place = (item.statement.lineno, item.statement.col_offset)
        if isinstance(item.statement, ast.AugAssign):
            steps.append((place, "+=", item.statement.value, item.guard))
        elif isinstance(item.value, ast.BinOp) and _mentions_all(item.value):
            steps.append((place, "+=", item.value, item.guard))
        else:
            value = item.value if item.kind == "assign" and not item.path else None
            steps.append((place, "=", value, item.guard))
    for method in ("extend", "append", "remove", "insert", "update"):
        for call, here in notes.calls_by_name.get(method, ()):
            function = call.func
            if (
                isinstance(function, ast.Attribute)
                and isinstance(function.value, ast.Name)
                and function.value.id == "__all__"
                and call.args
            ):
                value = call.args[-1]
                if method not in ("extend", "update"):
                    value = ast.copy_location(ast.List([value], ast.Load()), value)
                operation = "remove" if method == "remove" else "+="
                place = (call.lineno, call.col_offset)
                steps.append((place, operation, value, here.guard))
    steps.sort(key=lambda step: step[0])
    return steps


def _mentions_all(node: ast.expr) -> bool:
    return any(isinstance(part, ast.Name) and part.id == "__all__" for part in ast.walk(node))


def _read(node: ast.expr, constants: Constants) -> _Names:
    names: list[str] = []
    exact = True
    stack = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.List | ast.Tuple | ast.Set):
            stack.extend(reversed(part.elts))
        elif isinstance(part, ast.Starred):
            stack.append(part.value)
        elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.BitOr):
            stack.extend((part.right, part.left))
        elif (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Name)
            and part.func.id in _SAME_NAMES
        ):
            stack.extend(part.args[:1])
        elif isinstance(part, ast.Name) and part.id == "__all__":
            continue
        else:
            found = _folded(part, constants)
            exact = exact and found is not None
            names.extend(found or ())
    return _Names(names, exact)


def _folded(node: ast.expr, constants: Constants) -> list[str] | None:
    try:
        value = constants.fold(node)
    except NotFoldable:
        return None
    if is_text(value):
        return [value]
    return names_in(value)
