"""Execution of a test's statements, as far as expected values depend on them.

Branches on unknown conditions become `ifelse`, loops over known elements are unrolled, other
loops run once and refuse the slice.
"""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from contract_guard.mirrors.assertions import Comparison, asserted, is_asserting_name
from contract_guard.mirrors.bindings import GROWING, Bindings, named_by
from contract_guard.mirrors.captures import captured_names, given_names
from contract_guard.mirrors.expressions import Evaluated
from contract_guard.mirrors.graph import (
    RESULT,
    Graph,
    TooLarge,
)
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.operations import ARRAY_METHODS, BINARY, canonical_method
from contract_guard.mirrors.scopes import (
    ClassValue,
    Closure,
    Frame,
    Module,
    arguments_of,
    dotted_name,
    every_node,
    holds,
    imports_of,
    methods_of,
    root_name,
)

_DEPTH = 8
_STATEMENTS = 6000


class Ended:
    """A block that does not run on: it returned `value`, or raised (`value` is None)."""

    __slots__ = ("value",)

    def __init__(self, value: Evaluated | None) -> None:
        self.value = value


@dataclass(frozen=True, slots=True)
class Assertion:
    """A comparison that was reached, with the value of each side and the conditions around it."""

    comparison: Comparison
    left: Reference
    right: Reference | None
    conditions: tuple[Reference, ...]
    frame: Frame


class Interpreter(Bindings):
    """Runs a test function over symbolic values; `assertions` and `lines` are what it met."""

    def __init__(
        self, module: Module, graph: Graph, production: frozenset[str] | None, inline: bool = True
    ) -> None:
        super().__init__(module, graph, production)
        module.frame.env.update(module.names)
        self._inline = inline
        self.assertions: list[Assertion] = []
        self.conditions: list[Reference] = []
        self._stack: list[ast.AST] = []
        self._budget = _STATEMENTS

    # Functions

    def run_test(self, closure: Closure, owner: ClassValue | None, frame: Frame) -> None:
        """Runs the body in `frame`, which holds what setUp and fixtures gave, then the bodies of
        the doubles that it defines."""
        node = closure.node
        assert not isinstance(node, ast.Lambda)
        frame.given = given_names(node, self.module.frame, self.production)
        frame.captured = captured_names(node)
        self._stack.append(node)
        self._parameters(closure, [], {}, frame, owner)
        self.block(node.body, frame)
        local = [v for v in frame.env.values() if isinstance(v, (Closure, ClassValue))]
        nodes = every_node(node) if local else ()
        called = {root_name(n.func) for n in nodes if isinstance(n, ast.Call)}
        for value in local:
            if isinstance(value, Closure) and value.frame is frame and value.name not in called:
                self._run_double(value)
            elif isinstance(value, ClassValue) and value.frame is frame and not value.instance:
                for method in methods_of(value.node).values():
                    self._run_double(Closure(method, frame, value.node))
        self._stack.pop()

    def run_function(self, closure: Closure) -> None:
        """Runs one function on unknown arguments. Of the defaults only numbers are taken: others
        decide which branches are seen."""
        self._stack.append(closure.node)
        self._parameters(closure, [], {}, self.root, None, defaults=False)
        if not isinstance(closure.node, ast.Lambda):
            self.block(closure.node.body, self.root)

    def close(self) -> None:
        """Lets go of all names: frames and the functions defined in them hold one another, and
        the garbage collector may be paused."""
        self.root.env.clear()
        self.module.frame.env.clear()
        self.assertions.clear()

    def _run_double(self, closure: Closure) -> None:
        if isinstance(closure.node, ast.Lambda):
            return
        inner = Frame(parent=closure.frame, prefix=f"{closure.name}.")
        names = [a.arg for a in arguments_of(closure.node.args)]
        for extra in (closure.node.args.vararg, closure.node.args.kwarg):
            names += [extra.arg] if extra else []
        for name in names:
            inner.env[name] = self.graph.input(f"{closure.name}.{name}", RESULT)
        self._stack.append(closure.node)
        self.block(closure.node.body, inner)
        self._stack.pop()

    def invoke(
        self,
        closure: Closure,
        arguments: list[Reference],
        keywords: dict[str, Reference],
        owner: ClassValue | None,
        line: int,
    ) -> Evaluated:
        node = closure.node
        if not self._inline and not isinstance(node, ast.Lambda):
            return self.graph.op(closure.name, arguments, line, keywords)
        if node in self._stack or len(self._stack) > _DEPTH:
            self.graph.refuse(f"recursion: {closure.name}")
            return self.graph.op(closure.name, arguments, line, keywords)
        frame = Frame(parent=closure.frame, prefix=f"{closure.name}.", owner=owner)
        if closure.frame.parent is not None and closure.frame.prefix == "":
            frame.given = closure.frame.given
        self._parameters(closure, arguments, keywords, frame, owner)
        self._stack.append(node)
        try:
            if isinstance(node, ast.Lambda):
                return self.evaluate(node.body, frame)
            ended = self.block(node.body, frame)
        finally:
            self._stack.pop()
        if frame.yields:
            if len(frame.yields) == 1 and node.decorator_list:
                return frame.yields[0]
            return self.graph.op("list", frame.yields, line)
        return Const(None) if ended is None or ended.value is None else ended.value

    def _parameters(
        self,
        closure: Closure,
        arguments: list[Reference],
        keywords: dict[str, Reference],
        frame: Frame,
        owner: ClassValue | None,
        defaults: bool = True,
    ) -> None:
        spec = closure.node.args
        names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
        decorators = [] if isinstance(closure.node, ast.Lambda) else closure.node.decorator_list
        if closure.owner is not None and names and not _is_static(decorators):
            frame.env[names.pop(0)] = owner or ClassValue(closure.owner, closure.frame)
        rest = dict(keywords)
        for name, value in zip(names, arguments, strict=False):
            frame.env[name] = self._argument(name, value, frame)
        if spec.vararg:
            frame.env[spec.vararg.arg] = self.graph.op("tuple", arguments[len(names) :], 0)
        for name in [*names, *(a.arg for a in spec.kwonlyargs)]:
            if name in rest:
                frame.env[name] = self._argument(name, rest.pop(name), frame)
        if spec.kwarg:
            pairs = [part for key, value in rest.items() for part in (Const(key), value)]
            frame.env[spec.kwarg.arg] = self.graph.op("dict", pairs, 0)
        given = [*zip(reversed(names), reversed(spec.defaults), strict=False)]
        given += [(a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if d]
        for name, default in given:
            if name not in frame.env and (defaults or _is_number(default)):
                frame.env[name] = named_by(
                    name, self.reference(self.evaluate(default, closure.frame))
                )
        for name in [*names, *(a.arg for a in spec.kwonlyargs)]:
            if name not in frame.env:
                frame.env[name] = self.graph.input(frame.prefix + name)

    def _argument(self, name: str, value: Reference, frame: Frame) -> Reference:
        """What a parameter stands for: a random value is an input of that name."""
        if self.graph.is_random(value):
            return self.graph.input(frame.prefix + name)
        return named_by(name, value)

    # Statements

    def block(self, body: Iterable[ast.stmt], frame: Frame) -> Ended | None:
        statements = list(body)
        for position, node in enumerate(statements):
            self._budget -= 1
            if self._budget < 0:
                raise TooLarge
            if isinstance(node, ast.If):
                ended, done = self._if(node, statements[position + 1 :], frame)
            else:
                ended, done = self._statement(node, frame), False
            if ended is not None or done:
                return ended
        return None

    def _if(self, node: ast.If, rest: list[ast.stmt], frame: Frame) -> tuple[Ended | None, bool]:
        test = self.get(node.test, frame)
        known = self.graph.constant(test)
        if known is not UNRESOLVED:
            return self.block(node.body if known else node.orelse, frame), False
        self.graph.op("if", (test,), node.lineno)
        # With a return inside, what follows belongs to the branch that runs on.
        tail = rest if holds(node, (ast.Return,)) else []
        before = dict(frame.env)
        self.conditions.append(test)
        first = self.block([*node.body, *tail], frame)
        after = frame.env
        frame.env = before
        self.conditions[-1] = self.graph.op("not", (test,), node.lineno)
        second = self.block([*node.orelse, *tail], frame)
        self.conditions.pop()
        if first is not None and second is None:
            pass
        elif second is not None and first is None:
            frame.env = after
        else:
            self._merge(test, after, frame, node.lineno)
        if not tail:
            return (first if second is not None else None), False
        if first is None or second is None:
            ended = first or second
            return ended, True
        if first.value is None or second.value is None:
            return (second if first.value is None else first), True
        return Ended(self.choose(test, first.value, second.value, node.lineno)), True

    def _merge(self, test: Reference, taken: dict[str, Evaluated], frame: Frame, line: int) -> None:
        for name in [*taken, *(n for n in frame.env if n not in taken)]:
            a, b = taken.get(name), frame.env.get(name)
            if a is b:
                continue
            if a is None or b is None:
                # Bound on one side only: what reads it later is on that side too.
                frame.env[name] = b if a is None else a  # type: ignore[assignment]
            else:
                chosen = self.choose(test, a, b, line)
                if isinstance(chosen, int):
                    self.graph.aliases.setdefault(chosen, set()).add(name)
                frame.env[name] = chosen

    def _statement(self, node: ast.stmt, frame: Frame) -> Ended | None:
        for comparison in asserted(node):
            self._assertion(comparison, frame)
        if isinstance(node, ast.Assign):
            value = self.evaluate(node.value, frame)
            for target in node.targets:
                self.assign(target, value, frame)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self.assign(node.target, self.evaluate(node.value, frame), frame)
        elif isinstance(node, ast.AugAssign):
            target = ast.copy_location(_loaded(node.target), node)
            arguments = (self.get(target, frame), self.get(node.value, frame))
            value = self.graph.op(BINARY[type(node.op)], arguments, node.lineno)
            self.assign(node.target, value, frame)
        elif isinstance(node, ast.Expr):
            self._expression(node.value, frame)
        elif isinstance(node, ast.Return):
            return Ended(Const(None) if node.value is None else self.evaluate(node.value, frame))
        elif isinstance(node, ast.Raise):
            if node.exc is not None:
                self.evaluate(node.exc, frame)
            return Ended(None)
        elif isinstance(node, (ast.Continue, ast.Break)):
            return Ended(None)
        elif isinstance(node, ast.Assert):
            for part in (node.test, node.msg):
                if part is not None:
                    self.evaluate(part, frame)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            return self._for(node, frame)
        elif isinstance(node, ast.While):
            self.graph.refuse(f"while loop at line {node.lineno}")
            self.loops.append(self.get(node.test, frame))
            self.block(node.body, frame)
            self.loops.pop()
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            for item in node.items:
                value = self.evaluate(item.context_expr, frame)
                if item.optional_vars is not None:
                    self.assign(item.optional_vars, value, frame)
            return self.block(node.body, frame)
        elif isinstance(node, ast.Try):
            ended = self.block([*node.body, *node.orelse], frame)
            finished = self.block(node.finalbody, frame)
            return ended or finished
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            frame.env[node.name] = Closure(node, frame)
        elif isinstance(node, ast.ClassDef):
            frame.env[node.name] = ClassValue(node, frame)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            frame.env.update(imports_of(node))
        elif isinstance(node, ast.Match):
            self.graph.refuse(f"match at line {node.lineno}")
            for case in node.cases:
                self.block(case.body, frame)
        return None

    def _for(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Ended | None:
        source = self.get(node.iter, frame)
        elements = self.graph.elements(source, limit=32)
        leaves = holds(node, (ast.Break, ast.Continue))
        if elements is not None and not leaves and len(elements) * len(node.body) < self._budget:
            for element in elements:
                self.assign(node.target, element, frame)
                ended = self.block(node.body, frame)
                if ended is not None and ended.value is not None:
                    return ended
            return None
        self.graph.refuse(f"loop over {ast.unparse(node.iter)[:60]} at line {node.lineno}")
        self.assign(node.target, self.graph.op("element", (source,), node.lineno), frame)
        self.loops.append(source)
        ended = self.block(node.body, frame)
        self.loops.pop()
        self.block(node.orelse, frame)
        return ended if ended is not None and ended.value is not None else None

    def _expression(self, node: ast.expr, frame: Frame) -> None:
        if isinstance(node, ast.Await):
            node = node.value
        if not isinstance(node, ast.Call):
            self.evaluate(node, frame)
            return
        if isinstance(node.func, ast.Attribute):
            owner, name = node.func.value, node.func.attr
            grows = name in GROWING and node.args and isinstance(owner, (ast.Name, ast.Attribute))
            if grows and self.grow(owner, name, node, frame):
                return
            in_place = name.endswith("_") and not name.endswith("__")
            if in_place and canonical_method(name) in ARRAY_METHODS | {"zero", "fill", "copy"}:
                value = self.evaluate(node, frame)
                # A stored input stays an input, whatever the test fills it with.
                if isinstance(owner, ast.Name) and not isinstance(self.get(owner, frame), str):
                    self.assign(owner, value, frame)
                return
        elif dotted_name(node.func) == "setattr" and len(node.args) == 3:
            return
        if is_asserting_name(dotted_name(node.func)) and not self._is_local(node.func, frame):
            return
        value = self.evaluate(node, frame)
        if isinstance(value, int):
            self.graph.done.add(value)

    def _is_local(self, func: ast.expr, frame: Frame) -> bool:
        root = frame.lookup(root_name(func))
        return isinstance(root, (Closure, ClassValue))

    def _assertion(self, comparison: Comparison, frame: Frame) -> None:
        left = self.get(comparison.left, frame)
        right = None if comparison.right is None else self.get(comparison.right, frame)
        self.assertions.append(Assertion(comparison, left, right, tuple(self.conditions), frame))


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _is_static(decorators: list[ast.expr]) -> bool:
    return any(dotted_name(d) == "staticmethod" for d in decorators)


def _loaded(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Name):
        return ast.Name(target.id, ast.Load())
    if isinstance(target, ast.Attribute):
        return ast.Attribute(target.value, target.attr, ast.Load())
    assert isinstance(target, ast.Subscript)
    return ast.Subscript(target.value, target.slice, ast.Load())
