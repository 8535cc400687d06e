"""A test run over symbolic values: its assertions, with the expected side of each told."""

import ast
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from contract_guard.mirrors.graph import PLAIN, RESULT, Graph, ProductionCalled, TooLarge
from contract_guard.mirrors.model import Op, Reference
from contract_guard.mirrors.scopes import (
    ClassValue,
    Closure,
    Frame,
    FunctionNode,
    Module,
    dotted_name,
    methods_of,
    module_of,
)
from contract_guard.mirrors.statements import Assertion, Interpreter

_EXPECTED = re.compile(
    r"(^|_)(exp|expect\w*|ref\w*|golden|gold|want\w*|truth|correct|oracle|gt)(_|\d|$)"
)
_ACTUAL = re.compile(
    r"(^|_)(actual|out\w*|result\w*|got|res|obs\w*|observed|pred\w*|captured)(_|\d|$)"
)
_SETUP = ("setUpClass", "setup_class", "setUp", "setup_method", "asyncSetUp", "setup")


@dataclass(frozen=True, slots=True)
class Expectation:
    """The expected side of one assertion. `name` is how the test calls it; `actual` is the other
    side, None where there is none. `literal` is true where the expression names nothing."""

    name: str
    value: Reference
    actual: Reference | None
    actual_text: str
    form: str
    line: int
    conditions: tuple[Reference, ...]
    literal: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """All operations of a test and its expectations. `production_calls` are indices of ops that
    call production; `refusals` pairs a reason with the number of ops that existed then."""

    graph: Graph
    expectations: tuple[Expectation, ...]
    parameters: tuple[tuple[str, tuple[object, ...]], ...]
    truncated: bool

    def reachable(self, roots: Iterable[Reference]) -> list[int]:
        """Indices of the ops that `roots` need, in order."""
        found: set[int] = set()
        stack = [root for root in roots if isinstance(root, int)]
        while stack:
            index = stack.pop()
            if index not in found:
                found.add(index)
                op = self.graph.ops[index]
                stack += [a for a in op.arguments if isinstance(a, int)]
                stack += [a for _, a in op.keywords if isinstance(a, int)]
        return sorted(found)

    def renumbered(self, index: int, moved: Callable[[Reference], Reference]) -> Op:
        op = self.graph.ops[index]
        keywords = tuple((key, moved(value)) for key, value in op.keywords)
        return replace(op, arguments=tuple(moved(a) for a in op.arguments), keywords=keywords)

    def refused_for(self, needed: Iterable[int]) -> Iterator[str]:
        """The refusals that concern these ops: those at one of their lines, and whole ones."""
        ops = [self.graph.ops[i] for i in needed]
        lines = {op.line for op in ops}
        names = {op.name.rsplit(".", 1)[-1] for op in ops}
        for reason in self.graph.refused:
            match = re.search(r" at line (\d+)$", reason)
            last = reason.rsplit(" ", 1)[-1]
            concerned = int(match[1]) in lines if match else last in names
            if concerned:
                yield reason
        if self.truncated:
            yield "too large"


def trace(tree: ast.Module, qualname: str, production: frozenset[str] = frozenset()) -> Trace:
    """Runs one test function. Raises `LookupError` if the file has no such function."""
    for name, node, owner in functions_of(tree):
        if name == qualname:
            return run(module_of(tree), node, owner, production)
    raise LookupError(f"no function {qualname}")


def trace_all(tree: ast.Module, production: frozenset[str] = frozenset()) -> dict[str, Trace]:
    """Runs every test function of a file, by qualified name."""
    module = module_of(tree)
    return {
        name: run(module, node, owner, production)
        for name, node, owner in functions_of(tree)
        if node.name.startswith("test")
    }


def trace_function(module: Module, node: FunctionNode) -> Graph:
    """All operations of one function of a file, taken alone: its parameters are inputs, functions
    that it calls are operations."""
    graph = Graph()
    interpreter = Interpreter(module, graph, None, inline=False)
    with contextlib.suppress(TooLarge):
        interpreter.run_function(Closure(node, module.frame))
    interpreter.close()
    return graph


def functions_of(
    tree: ast.Module,
) -> Iterator[tuple[str, FunctionNode, ast.ClassDef | None]]:
    """Functions and methods of a file with the class around each, not those inside functions."""
    stack: list[tuple[str, ast.AST, ast.ClassDef | None]] = [("", tree, None)]
    while stack:
        prefix, node, owner = stack.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield prefix + child.name, child, owner
            elif isinstance(child, ast.ClassDef):
                stack.append((f"{prefix}{child.name}.", child, child))
            elif isinstance(child, (ast.If, ast.Try, ast.With)):
                stack.append((prefix, child, owner))


def run(
    module: Module,
    node: FunctionNode,
    owner: ast.ClassDef | None,
    production: frozenset[str] = frozenset(),
    *,
    alone: bool = False,
) -> Trace:
    """Runs one function of a file, `owner` being the class around it. With `alone`, raises
    `ProductionCalled` as soon as it calls production."""
    graph = Graph(alone=alone)
    interpreter = Interpreter(module, graph, production)
    frame = interpreter.root
    instance = ClassValue(owner, module.frame, instance=True) if owner else None
    frame.owner = instance
    truncated = False
    try:
        if owner is not None and instance is not None:
            for name in _SETUP:
                if name in methods_of(owner):
                    _run_setup(interpreter, methods_of(owner)[name], owner, instance, frame)
        _request_fixtures(interpreter, module, node, frame)
        interpreter.run_test(Closure(node, module.frame, owner), instance, frame)
    except TooLarge:
        truncated = True
    except ProductionCalled:
        interpreter.close()
        raise
    expectations = tuple(_expectation(a, graph) for a in interpreter.assertions)
    interpreter.close()
    return Trace(graph, expectations, tuple(_parameters(node, owner)), truncated)


def _run_setup(
    interpreter: Interpreter,
    node: FunctionNode,
    owner: ast.ClassDef,
    instance: ClassValue,
    frame: Frame,
) -> None:
    inner = Frame(parent=frame, owner=instance)
    if node.args.args:
        inner.env[node.args.args[0].arg] = instance
    interpreter.block(node.body, inner)


def _request_fixtures(
    interpreter: Interpreter, module: Module, node: FunctionNode, frame: Frame
) -> None:
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
        fixture = module.fixtures.get(argument.arg)
        if fixture is None:
            continue
        value = interpreter.reference(interpreter.invoke(fixture, [], {}, None, node.lineno))
        name = argument.arg
        if (
            isinstance(value, int)
            and interpreter.graph.ops[value].name in interpreter.graph.objects
        ):
            frame.env[name] = interpreter.new_object(name)
        elif isinstance(value, str):
            is_object = value in interpreter.graph.objects
            frame.env[name] = interpreter.new_object(name) if is_object else value
        elif not isinstance(value, int) or not interpreter.graph.is_random(value):
            frame.env[name] = value
        else:
            frame.env[name] = interpreter.graph.input(name)


def _parameters(
    node: FunctionNode, owner: ast.ClassDef | None
) -> Iterator[tuple[str, tuple[object, ...]]]:
    """Literal values of `parametrize` by argument name; rows that are not literal are left out."""
    for decorator in (*node.decorator_list, *(owner.decorator_list if owner else ())):
        if not (
            isinstance(decorator, ast.Call)
            and dotted_name(decorator.func).endswith("parametrize")
            and len(decorator.args) >= 2
        ):
            continue
        try:
            names = ast.literal_eval(decorator.args[0])
        except ValueError:
            continue
        if isinstance(names, str):
            names = [name.strip() for name in names.split(",")]
        rows = (
            decorator.args[1].elts if isinstance(decorator.args[1], (ast.List, ast.Tuple)) else []
        )
        for position, name in enumerate(names):
            values: list[object] = []
            for row in rows:
                items = (
                    row.elts if len(names) > 1 and isinstance(row, (ast.Tuple, ast.List)) else [row]
                )
                if position < len(items):
                    try:
                        values.append(ast.literal_eval(items[position]))
                    except (ValueError, TypeError, MemoryError):
                        continue
            yield name, tuple(values)


def _expectation(assertion: Assertion, graph: Graph) -> Expectation:
    """Tells the sides apart: the one further from production is expected; then names decide,
    then the convention that the second is."""
    form, line, left_node, right_node, fixed = assertion.comparison
    left, right = assertion.left, assertion.right
    if right is None or right_node is None or fixed:
        return Expectation(
            _name(left_node, line),
            left,
            None,
            "",
            form,
            line,
            assertion.conditions,
            _is_literal(left_node),
        )
    left_rank, right_rank = graph.rank(left), graph.rank(right)
    hint = _hint(left_node) - _hint(right_node)
    both_near = min(left_rank, right_rank) >= RESULT or max(left_rank, right_rank) <= PLAIN
    if left_rank != right_rank and not (hint and both_near):
        swap = left_rank < right_rank
    else:
        swap = hint > 0
    if swap:
        left, right, left_node, right_node = right, left, right_node, left_node
    return Expectation(
        _name(right_node, line),
        right,
        left,
        ast.unparse(left_node)[:200],
        form,
        line,
        assertion.conditions,
        _is_literal(right_node),
    )


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(child, ast.Name) for child in ast.walk(node))


def _hint(node: ast.expr) -> int:
    """1 for names like `expected`, -1 for names like `actual`."""
    while isinstance(node, (ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    name = node.id if isinstance(node, ast.Name) else ""
    if isinstance(node, ast.Attribute):
        name = dotted_name(node).split(".", 1)[0] or node.attr
    return bool(_EXPECTED.search(name)) - bool(_ACTUAL.search(name))


def _name(node: ast.expr, line: int) -> str:
    return dotted_name(node) or f"expected@{line}"
