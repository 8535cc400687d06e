"""`Call` and `LiteralUse` facts: who passes which constant, and which literals stand where."""

import ast

from contract_guard.facts.literals import is_distinctive_int
from contract_guard.facts.model import Argument, Call, LiteralUse
from contract_guard.facts.observations import Here, Observations
from contract_guard.facts.source import dotted

_INNER = frozenset({"function", "lambda", "comprehension"})


def calls_of(notes: Observations) -> tuple[Call, ...]:
    """Calls of a named function that pass a constant: a name in capitals that the module or an
    import binds, or a distinctive number. Only such arguments are listed."""
    found: list[Call] = []
    for calls in notes.calls_by_name.values():
        for call, here in calls:
            arguments = _arguments(call, here, notes)
            function = dotted(call.func) if arguments else ""
            if function:
                span = notes.source.span(call)
                found.append(Call(function, tuple(arguments), span, notes.scope_index(here.scope)))
    found.sort(key=lambda fact: fact.span)
    return tuple(found)


def _arguments(call: ast.Call, here: Here, notes: Observations) -> list[Argument]:
    found: list[Argument] = []
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Name) and not value.id.isupper():
            continue  # the most frequent argument
        text = _constant(value, here, notes)
        if text:
            found.append(Argument(position, None, text))
        elif isinstance(value, ast.Starred):
            break  # positions after it are not known
    for keyword in call.keywords:
        text = _constant(keyword.value, here, notes)
        if text and keyword.arg is not None:
            found.append(Argument(-1, keyword.arg, text))
    return found


def _constant(node: ast.expr, here: Here, notes: Observations) -> str:
    if isinstance(node, ast.IfExp):
        # `PAD if images else None`: where it counts, it is the constant.
        sides = [node.body, node.orelse]
        given = [s for s in sides if not (isinstance(s, ast.Constant) and s.value is None)]
        if len(given) != 1 or isinstance(given[0], ast.IfExp):
            return ""
        node = given[0]
    if isinstance(node, ast.Name):
        name = last = node.id
    elif isinstance(node, ast.Attribute):
        last = node.attr
        if not last.isupper():
            return ""
        name = dotted(node)
    elif isinstance(node, ast.Constant):
        value = node.value
        return str(value) if type(value) is int and is_distinctive_int(value) else ""
    else:
        return ""
    if not last.isupper() or here.scope.home(name.partition(".")[0]) is not notes.module:
        return ""
    return name


def literals_of(notes: Observations) -> tuple[LiteralUse, ...]:
    """Distinctive literals in function bodies and in what the module's names are bound to."""
    found: list[LiteralUse] = []
    for node, here in notes.literals:
        scope = here.scope
        if scope.kind not in _INNER and not isinstance(
            here.statement, ast.Assign | ast.AnnAssign | ast.AugAssign
        ):
            continue
        value = node.value
        if isinstance(value, int) and value.bit_length() > 128:
            continue
        found.append(LiteralUse(repr(value), notes.source.span(node), notes.scope_index(scope)))
    return tuple(found)
