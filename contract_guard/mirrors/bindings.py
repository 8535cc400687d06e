"""What names stand for: assignment, stores into objects and containers, containers that grow."""

import ast

from contract_guard.mirrors.calls import Calls
from contract_guard.mirrors.captures import MOCKS
from contract_guard.mirrors.expressions import Evaluated
from contract_guard.mirrors.graph import OBJECT, RESULT, Graph
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.scopes import ClassValue, Frame, Module

GROWING = {"append": "list", "extend": "list", "add": "set", "update": "dict", "insert": "list"}
_CONTAINERS = frozenset({"list", "tuple", "dict", "set"})


class Bindings(Calls):
    """Adds what statements do to names. `loops` are what the loops around are over, those that
    are not unrolled."""

    def __init__(self, module: Module, graph: Graph, production: frozenset[str] | None) -> None:
        super().__init__(module, graph, production)
        self.loops: list[Reference] = []

    def assign(self, target: ast.expr, value: Evaluated, frame: Frame) -> None:
        if isinstance(target, ast.Name):
            frame.env[target.id] = self._bound(target.id, value, frame)
        elif isinstance(target, ast.Attribute):
            base = self.evaluate(target.value, frame)
            if isinstance(base, ClassValue):
                name = f"self.{target.attr}"
                self.root.env[name] = self._bound(name, value, frame)
            elif isinstance(base, str):
                frame.env[f"{base}.{target.attr}"] = self.reference(value)
        elif isinstance(target, ast.Subscript):
            self._store_item(target, self.reference(value), frame)
        else:
            super().assign(target, value, frame)

    def _bound(self, name: str, value: Evaluated, frame: Frame) -> Evaluated:
        """What a name stands for: its value, or an input where the value is from outside."""
        full = frame.prefix + name
        if name in frame.captured:
            return self.graph.input(full, RESULT)
        if isinstance(value, str):
            if value in self.graph.objects and not frame.prefix and "." in value:
                return self.new_object(name) if not value.startswith("$self.") else value
            return value
        if isinstance(value, Const):
            return named_by(name, value)
        if not isinstance(value, int):
            return value
        op = self.graph.ops[value]
        self.graph.aliases.setdefault(value, set()).add(name)
        if op.name in self.graph.objects:
            return self.new_object(full)
        rank = self.graph.ranks[value]
        if name in frame.given and op.name not in _CONTAINERS and rank < RESULT:
            return self.graph.input(full, rank)
        if self.graph.random[value] or op.name.rsplit(".", 1)[-1] in MOCKS:
            return self.graph.input(full, rank)
        return value

    def _store_item(self, target: ast.Subscript, value: Reference, frame: Frame) -> None:
        if isinstance(target.value, (ast.Name, ast.Attribute, ast.Subscript)):
            base = self.get(target.value, frame)
            if isinstance(base, str) and self.graph.rank(base) >= OBJECT:
                return
            index = self.get(target.slice, frame)
            op = self.graph.ops[base] if isinstance(base, int) else None
            if op is not None and op.name == "dict" and isinstance(index, Const):
                stored = self.graph.op("dict", (*op.arguments, index, value), target.lineno)
            else:
                stored = self.graph.op("setitem", (base, index, value), target.lineno)
            self.assign(target.value, stored, frame)

    def grow(self, owner: ast.expr, name: str, node: ast.Call, frame: Frame) -> bool:
        """Appends and the like: binds what the container is afterwards, False where that is not
        known."""
        base = self.get(owner, frame)
        if not isinstance(base, int):
            return False
        op = self.graph.ops[base]
        kind = GROWING[name]
        # A list that grew under a condition before is a choice of two lists.
        chosen = op.name == "ifelse" and kind == "list" and not self.loops
        if op.name not in (kind, f"{kind}_comprehension", f"builtins.{kind}") and not chosen:
            return False
        value = self.get(node.args[-1], frame)
        before = op.arguments if op.name == kind else self._spread(kind, base, node.lineno)
        if self.loops:
            old = [base] if op.arguments else []
            arguments = [value, *self.loops, *old]
            grown = self.graph.op(f"{kind}_comprehension", arguments, node.lineno)
        elif name in ("append", "add"):
            grown = self.graph.op(kind, (*before, value), node.lineno)
        elif name in ("extend", "update"):
            grown = self.graph.op(
                kind, (*before, *self._spread(kind, value, node.lineno)), node.lineno
            )
        else:
            return False
        self.assign(owner, grown, frame)
        return True

    def _spread(self, kind: str, value: Reference, line: int) -> tuple[Reference, ...]:
        """The arguments that a container's elements are in a larger container's op."""
        if kind == "dict":
            if isinstance(value, int) and self.graph.ops[value].name == "dict":
                return self.graph.ops[value].arguments
            return (Const("**"), value)
        known = self.graph.elements(value)
        return (self.graph.op("star", (value,), line),) if known is None else tuple(known)


def named_by(name: str, value: Reference) -> Reference:
    """A constant goes by the longest name of the file that it is bound to, which says most. One
    of another module keeps its symbol."""
    if isinstance(value, Const) and value.value is not None and value.value is not UNRESOLVED:
        known = (value.symbol or "").rsplit(".", 1)[-1]
        if len(name.rsplit(".", 1)[-1]) > len(known):
            return Const(value.value, name)
    return value
