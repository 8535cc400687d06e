"""`Predicate` facts: conditions over one subject and named values.

`(ids >= LO) & (ids < LO + 5)` is one predicate on `ids`. A comparison counts where one side is
made of names of the module or of imports (or is a parameter, so that a rule can be followed
through calls) and the other is not; literals alone make no predicate, but may bound one.
"""

import ast
from collections.abc import Iterable
from typing import NamedTuple

from contract_guard.facts.fold import is_foldable
from contract_guard.facts.model import Predicate, PredicateOp
from contract_guard.facts.observations import Here, Observations
from contract_guard.facts.scopes import ScopeRecord
from contract_guard.facts.source import MAX_TEXT, dotted

_COMPARISONS: dict[type[ast.cmpop], tuple[PredicateOp, bool]] = {
    ast.Eq: ("==", False),
    ast.NotEq: ("!=", False),
    ast.Lt: ("<", False),
    ast.LtE: ("<=", False),
    ast.Gt: ("<", True),
    ast.GtE: ("<=", True),
    ast.In: ("in", False),
    ast.NotIn: ("not in", False),
}
# Functions and methods that compare element by element, by name; True swaps the operands.
_CALLS: dict[str, tuple[PredicateOp, bool]] = {
    "eq": ("==", False),
    "equal": ("==", False),
    "ne": ("!=", False),
    "not_equal": ("!=", False),
    "lt": ("<", False),
    "less": ("<", False),
    "le": ("<=", False),
    "less_equal": ("<=", False),
    "gt": ("<", True),
    "greater": ("<", True),
    "ge": ("<=", True),
    "greater_equal": ("<=", True),
    "isin": ("isin", False),
    "logical_and": ("and", False),
    "logical_or": ("or", False),
    "logical_not": ("not", False),
}
_MAX_PARTS = 60
_MAX_DEPTH = 12


class _Rule(NamedTuple):
    """A predicate without its place; `subject` is the text of what is tested."""

    op: PredicateOp
    operands: tuple["_Rule | str", ...]
    subject: str
    names: tuple[str, ...]
    node: ast.expr


class _Side(NamedTuple):
    text: str
    names: tuple[str, ...]
    fixed: bool  # made of literals and of names that the module binds


def predicates_of(notes: Observations) -> tuple[Predicate, ...]:
    reader = _PredicateReader(notes)
    seen = [(node, here) for node, here in notes.conditions if not _names_nothing(node)]
    for name in _CALLS:
        seen.extend(notes.calls_by_name.get(name, ()))
    seen.sort(key=_outer_first)
    found: list[Predicate] = []
    for node, here in seen:
        if id(node) in reader.consumed:
            continue
        rules = reader.rules(node, here.scope, 0)
        found.extend(reader.fact(rule, here) for rule in rules if rule.names)
    found.sort(key=lambda fact: fact.span)
    return tuple(found)


def _outer_first(seen: tuple[ast.expr, Here]) -> tuple[int, int, int, int]:
    node = seen[0]
    end = node.end_lineno or node.lineno
    return node.lineno, node.col_offset, -end, -(node.end_col_offset or 0)


def _names_nothing(node: ast.expr) -> bool:
    """The cheap test for the most frequent conditions: `x is None`, `x == 0`."""
    return (
        isinstance(node, ast.Compare)
        and len(node.ops) == 1
        and (
            isinstance(node.comparators[0], ast.Constant)
            or isinstance(node.ops[0], ast.Is | ast.IsNot)
        )
    )


class _PredicateReader:
    def __init__(self, notes: Observations) -> None:
        self.consumed: set[int] = set()
        self._notes = notes

    def fact(self, rule: _Rule, here: Here) -> Predicate:
        source = self._notes.source
        return Predicate(
            rule.op,
            tuple([o if isinstance(o, str) else self.fact(o, here) for o in rule.operands]),
            rule.subject,
            rule.names,
            source.span(rule.node),
            source.statement_span(here.statement),
            self._notes.scope_index(here.scope),
            self._notes.guards.index(here.guard),
        )

    def rules(self, node: ast.expr, scope: ScopeRecord, depth: int) -> list[_Rule]:
        """The largest predicates in a condition, each on one subject."""
        if depth > _MAX_DEPTH:
            return []
        op, parts, joined = _parts(node)
        self.consumed.update(joined)
        if op is None:
            return self._comparison(node, scope)
        by_subject: dict[str, list[_Rule]] = {}
        for part in parts[:_MAX_PARTS]:
            for rule in self.rules(part, scope, depth + 1):
                by_subject.setdefault(rule.subject, []).append(rule)
        found: list[_Rule] = []
        for subject, rules in by_subject.items():
            if op == "not" or len(rules) > 1:
                whole = node if len(by_subject) == 1 else rules[0].node
                found.append(_Rule(op, tuple(rules), subject, _names(rules), whole))
            else:
                found.extend(rules)
        return found

    def _comparison(self, node: ast.expr, scope: ScopeRecord) -> list[_Rule]:
        if isinstance(node, ast.Compare):
            self.consumed.add(id(node))
            found: list[_Rule] = []
            left = node.left
            for operator, right in zip(node.ops[:_MAX_PARTS], node.comparators, strict=False):
                known = _COMPARISONS.get(type(operator))
                rule = self._leaf(known, left, right, node, scope) if known is not None else None
                if rule is not None:
                    found.append(rule)
                left = right
            if len(found) > 1 and len({rule.subject for rule in found}) == 1:
                return [_Rule("and", tuple(found), found[0].subject, _names(found), node)]
            return found
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            known = _CALLS.get(node.func.attr)
            operands = _operands(node)
            if known is not None and len(operands) == 2:
                self.consumed.add(id(node))
                right = _listed(operands[1]) if known[0] == "isin" else operands[1]
                rule = self._leaf(known, operands[0], right, node, scope)
                return [] if rule is None else [rule]
        return []

    def _leaf(
        self,
        known: tuple[PredicateOp, bool],
        left: ast.expr,
        right: ast.expr,
        node: ast.expr,
        scope: ScopeRecord,
    ) -> _Rule | None:
        op, swapped = known
        tested, bound = left, right
        if swapped:
            left, right = right, left
        first, second = self._side(left, scope), self._side(right, scope)
        if first is None or second is None or (first.fixed and second.fixed):
            return None
        if first.fixed:
            names, subject = first.names, second
            if op in ("==", "!="):
                first, second = second, first
        elif second.fixed:
            names, subject = second.names, first
        else:
            names = self._parameters(bound, scope)  # callers may give them a constant
            subject = first if tested is left else second
            if not names:
                return None
        return _Rule(op, (first.text, second.text), subject.text, names, node)

    def _side(self, node: ast.expr, scope: ScopeRecord) -> _Side | None:
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and len(node.value) > MAX_TEXT:
                return None
            return _Side(self._text(node), (), fixed=True)
        text = self._text(node)
        if not text:
            return None
        if not is_foldable(node):
            return _Side(text, (), fixed=False)
        names: dict[str, None] = {}
        for name in _dotted_names(node):
            home = scope.home(name.partition(".")[0])
            if home is self._notes.module:
                names[name] = None
            elif home is not None:
                return _Side(text, (), fixed=False)
        return _Side(text, tuple(names), fixed=True)

    def _text(self, node: ast.expr) -> str:
        """The source of an expression on one line, "" if it is long."""
        if (node.end_lineno or node.lineno) - node.lineno > 20:
            return ""
        text = " ".join(self._notes.source.segment(node).split())
        return text if len(text) <= MAX_TEXT else ""

    def _parameters(self, node: ast.expr, scope: ScopeRecord) -> tuple[str, ...]:
        """The names in an expression that is made of parameters of the function around, names of
        the module and literals; () where there is no parameter, or anything else."""
        if not isinstance(node, ast.Name | ast.BinOp) or not is_foldable(node):
            return ()
        names: dict[str, None] = {}
        has_parameter = False
        for name in _dotted_names(node):
            home = scope.home(name.partition(".")[0])
            if home is not self._notes.module:
                if "." in name or not _is_parameter(name, home):
                    return ()
                has_parameter = True
            names[name] = None
        return tuple(names) if has_parameter else ()


def _is_parameter(name: str, home: ScopeRecord | None) -> bool:
    function = home.node if home is not None and home.kind == "function" else None
    if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
        return False
    arguments = function.args
    return any(
        argument.arg == name
        for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    )


def _parts(node: ast.expr) -> tuple[PredicateOp | None, list[ast.expr], list[int]]:
    """The operator that joins conditions, its operands, and the ids of the nodes that join them;
    None for what joins none."""
    if isinstance(node, ast.BoolOp):
        return ("and" if isinstance(node.op, ast.And) else "or"), node.values, [id(node)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
        kind = type(node.op)
        parts: list[ast.expr] = []
        joined: list[int] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and type(left.op) is kind:
            joined.append(id(left))
            parts.append(left.right)
            left = left.left
        parts.append(left)
        parts.reverse()
        return ("and" if kind is ast.BitAnd else "or"), parts, joined
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        return "not", [node.operand], []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        known = _CALLS.get(node.func.attr)
        if known is not None and known[0] in ("and", "or", "not"):
            return known[0], _operands(node), [id(node)]
    return None, [], []


def _listed(node: ast.expr) -> ast.expr:
    """`[a, b]` of `torch.tensor([a, b], ...)`, anything else as it is."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.List | ast.Tuple):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return node.args[0] if name in ("tensor", "as_tensor", "array", "asarray") else node
    return node


def _operands(node: ast.Call) -> list[ast.expr]:
    """The operands of `torch.eq(a, b)` and of `a.eq(b)`."""
    function = node.func
    assert isinstance(function, ast.Attribute)
    wanted = 1 if function.attr == "logical_not" else 2
    if len(node.args) == wanted:
        return node.args
    if len(node.args) == wanted - 1:
        return [function.value, *node.args]
    return []


def _names(rules: Iterable[_Rule]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for rule in rules for name in rule.names))


def _dotted_names(node: ast.expr) -> list[str]:
    """The names and attribute chains in an expression, the functions it calls left out."""
    found: list[str] = []
    stack: list[ast.expr] = [node]
    while stack:
        part = stack.pop()
        name = dotted(part)
        if name:
            found.append(name)
        elif isinstance(part, ast.Call):
            stack.extend(part.args)
            if isinstance(part.func, ast.Attribute):
                stack.append(part.func.value)
        else:
            stack.extend(c for c in ast.iter_child_nodes(part) if isinstance(c, ast.expr))
    return found
