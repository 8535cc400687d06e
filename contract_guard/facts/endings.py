"""What a statement means for the rest of its block: that it is skipped, or never reached."""

import ast
from collections.abc import Sequence
from typing import Literal

from contract_guard.facts.guards import GuardRecord, condition_kind, is_special, split_not
from contract_guard.facts.source import Source, callee

_Ending = Literal["", "exit", "skip"]
_ENDINGS = frozenset({"importorskip", "skipTest", "skip", "exit", "_exit", "quit"})
_EXITS = frozenset({"sys.exit", "os._exit", "exit", "quit"})

_VALUED = (ast.Expr, ast.Assign)
_LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)
# Statements behind which the rest of a block may not be reached.
MAY_END = frozenset(
    {
        ast.Expr,
        ast.Assign,
        ast.Return,
        ast.Raise,
        ast.Continue,
        ast.Break,
        ast.If,
        ast.Assert,
        ast.Try,
        ast.TryStar,
    }
)


def guard_after(
    statement: ast.stmt, guard: GuardRecord | None, source: Source
) -> GuardRecord | None:
    """The guard that the rest of a block stands behind because of `statement`."""
    if isinstance(statement, _VALUED):
        call = statement.value
        if isinstance(call, ast.Call):
            ending = _call_ending(call)
            if ending:
                return GuardRecord("skip" if ending == "skip" else "unreachable", guard, call)
    elif isinstance(statement, _LEAVING):
        return GuardRecord("unreachable", guard, None)
    elif isinstance(statement, ast.If):
        ending = _ending(statement.body)
        if ending:
            test, negated = split_not(statement.test)
            kind = condition_kind(test, source)
            if ending == "skip" and not is_special(kind):
                return GuardRecord("skip", guard, test, not negated)
            if is_special(kind):
                return GuardRecord(kind, guard, test, not negated)
    elif isinstance(statement, ast.Assert):
        test, negated = split_not(statement.test)
        kind = condition_kind(test, source)
        if is_special(kind):
            return GuardRecord(kind, guard, test, negated)
    elif isinstance(statement, ast.Try | ast.TryStar):
        for handler in statement.handlers:
            if _ending(handler.body) == "skip":
                return GuardRecord("skip", guard, handler.type)
    return None


def _call_ending(call: ast.Call) -> _Ending:
    function = call.func
    if isinstance(function, ast.Attribute):
        last = function.attr
    else:
        last = function.id if isinstance(function, ast.Name) else ""
    if last not in _ENDINGS:
        return ""
    name = callee(call)
    if last in ("importorskip", "skipTest") or name in ("pytest.skip", "skip"):
        return "skip"
    return "exit" if name in _EXITS else ""


def _ending(body: Sequence[ast.stmt]) -> _Ending:
    """Whether a block never reaches what follows it, and whether by skipping."""
    last = body[-1]
    if isinstance(last, ast.Expr) and isinstance(last.value, ast.Call):
        ending = _call_ending(last.value)
        return ending if callee(last.value).rpartition(".")[2] != "importorskip" else ""
    if isinstance(last, ast.Raise) and last.exc is not None:
        return "skip" if callee(last.exc).rpartition(".")[2] == "SkipTest" else "exit"
    if isinstance(last, _LEAVING):
        return "exit"
    return ""
