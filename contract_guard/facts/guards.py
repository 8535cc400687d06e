"""Why a place may not run: the conditions, handlers and contexts around it."""

import ast
import re

from contract_guard.facts.model import Guard, GuardKind
from contract_guard.facts.source import Source, dotted

_SPECIAL = re.compile(
    r"TYPE_CHECKING|hasattr|getattr|find_spec|modules|version|VERSION|Version|platform|os\.name"
)
_PLATFORM = frozenset({"sys.platform", "os.name"})
_ASKS = frozenset({"hasattr", "getattr", "find_spec"})


class GuardRecord:
    """A guard while the tree is read; it becomes a `Guard` only if a fact stands behind it."""

    __slots__ = ("catches", "index", "kind", "negated", "node", "parent")

    def __init__(
        self,
        kind: GuardKind,
        parent: "GuardRecord | None",
        node: ast.expr | ast.pattern | None,
        negated: bool = False,
        catches: tuple[str, ...] = (),
    ) -> None:
        self.kind: GuardKind = kind
        self.parent = parent
        self.node = node
        self.negated = negated
        self.catches = catches
        self.index = -1


class GuardTable:
    """Numbers the guards that facts refer to, outer ones first."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.guards: list[Guard] = []

    def index(self, record: GuardRecord | None) -> int:
        if record is None:
            return -1
        if record.index >= 0:
            return record.index
        fresh: list[GuardRecord] = []
        outer: GuardRecord | None = record
        while outer is not None and outer.index < 0:
            fresh.append(outer)
            outer = outer.parent
        for guard in reversed(fresh):
            guard.index = len(self.guards)
            self.guards.append(
                Guard(
                    guard.kind,
                    guard.parent.index if guard.parent is not None else -1,
                    self._source.short(guard.node) if guard.node is not None else "",
                    guard.negated,
                    guard.catches,
                )
            )
        return record.index


def split_not(test: ast.expr) -> tuple[ast.expr, bool]:
    """The condition without its leading `not`s, and whether they negate it."""
    negated = False
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
        negated = not negated
    return test, negated


def condition_kind(test: ast.expr, source: Source) -> GuardKind:
    """What a condition (without leading `not`) is about."""
    if isinstance(test, ast.Name):
        if test.id == "TYPE_CHECKING":
            return "type-checking"
        return "version" if "version" in test.id.lower() else "if"
    if isinstance(test, ast.Constant):
        return "unreachable" if not test.value else "if"
    if _SPECIAL.search(source.short(test)) is None:
        return "if"
    return _special_kind(test)


def _special_kind(test: ast.expr) -> GuardKind:
    if dotted(test).endswith("TYPE_CHECKING"):
        return "type-checking"
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        for part in test.values:
            if dotted(part).rpartition(".")[2] == "TYPE_CHECKING":
                return "type-checking"
    found: set[GuardKind] = set()
    for node in ast.walk(test):
        if isinstance(node, ast.Call):
            name = dotted(node.func).rpartition(".")[2]
            if name in _ASKS:
                found.add("hasattr")
        elif isinstance(node, ast.Compare):
            if any(dotted(right) == "sys.modules" for right in node.comparators):
                found.add("hasattr")
        elif isinstance(node, ast.Attribute):
            name = dotted(node)
            if name in _PLATFORM or name.startswith("platform."):
                found.add("platform")
        if isinstance(node, ast.Name | ast.Attribute):
            last = node.id if isinstance(node, ast.Name) else node.attr
            if "version" in last.lower():
                found.add("version")
    for kind in ("hasattr", "version", "platform"):
        if kind in found:
            return kind
    return "if"


def caught_names(kind: ast.expr | None) -> tuple[str, ...]:
    """Exception names of a handler or of the first argument of `suppress`, as written."""
    if kind is None:
        return ("BaseException",)
    if isinstance(kind, ast.Tuple | ast.List):
        return tuple(name for item in kind.elts for name in caught_names(item))
    name = dotted(kind)
    return (name,) if name else ()


def context_guard(item: ast.expr, parent: GuardRecord | None) -> GuardRecord | None:
    """The guard that `with item:` puts around its body, if it is one that handles errors."""
    if not isinstance(item, ast.Call):
        return None
    name = dotted(item.func).rpartition(".")[2]
    if name == "suppress":
        names = tuple(name for argument in item.args for name in caught_names(argument))
        return GuardRecord("suppress", parent, item, catches=names)
    if name in ("raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp"):
        expected = item.args[0] if item.args else None
        for keyword in item.keywords:
            if keyword.arg in ("expected_exception", "exception"):
                expected = keyword.value
        names = caught_names(expected) if expected is not None else ()
        return GuardRecord("raises", parent, item, catches=names)
    return None


_SPECIAL_KINDS = frozenset({"hasattr", "version", "platform", "type-checking"})


def is_special(kind: GuardKind) -> bool:
    """Conditions that tell whether a name or module exists, rather than what to do."""
    return kind in _SPECIAL_KINDS


def function_guard(
    guard: GuardRecord | None, decorators: list[ast.expr], source: Source
) -> GuardRecord | None:
    """The guard of a function's body: it runs later, so handlers around the `def` do not count,
    but a decorator that skips on a version, a platform or a missing name does."""
    outer = _without_handlers(guard)
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and decorator.args:
            name = dotted(decorator.func).rpartition(".")[2]
            if name in ("skipif", "skipIf", "skipUnless"):
                test, negated = split_not(decorator.args[0])
                kind = condition_kind(test, source)
                if is_special(kind):
                    runs_if_true = name == "skipUnless"
                    outer = GuardRecord(kind, outer, test, negated is runs_if_true)
    return outer


def _without_handlers(guard: GuardRecord | None) -> GuardRecord | None:
    kept: list[GuardRecord] = []
    removed = False
    record = guard
    while record is not None:
        if record.kind in ("suppress", "raises") or (record.kind == "try" and not record.negated):
            removed = True
        else:
            kept.append(record)
        record = record.parent
    if not removed:
        return guard
    outer: GuardRecord | None = None
    for record in reversed(kept):
        outer = GuardRecord(record.kind, outer, record.node, record.negated, record.catches)
    return outer
