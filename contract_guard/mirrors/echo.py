"""Assertions that compare a call with itself: both sides are what one call gave, or two calls of
the same function on the same arguments with nothing in between; or one expected value twice.

Syntax only. Whether the function is production's, and whether the test says that repetition is
what it checks, is for the caller to tell.
"""

import ast
import copy
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from contract_guard.facts.model import Echo
from contract_guard.mirrors.assertions import Comparison, asserted
from contract_guard.mirrors.operations import RANDOM, words
from contract_guard.mirrors.scopes import FunctionNode, dotted_name, walk_function
from contract_guard.mirrors.trace import functions_of

# What a value passes through and stays what it is.
_PASSING = words(
    """clone detach cpu cuda numpy tolist item contiguous copy approx array asarray tensor
    as_tensor"""
)
_CONTAINERS = words("list tuple set dict sorted")
_EQUAL = words(
    """assertEqual assertEquals assertListEqual assertDictEqual assertTupleEqual assertSetEqual
    assertSequenceEqual assertCountEqual assertMultiLineEqual assertAlmostEqual
    assertAlmostEquals"""
)
_SEEDS = words("seed rng generator random_state key")
_HARMLESS = words("len isinstance type id print")
_MAY_CALL = (ast.Name, ast.Call, ast.Subscript, ast.Attribute, ast.Await)
_ONE_SIDE = re.compile(r"(^|_)(expect(ed)?|desired|want(ed)?|actual|result|got)(_|\d|$)")
_DEPTH = 6


class _Side(NamedTuple):
    """An expression with the statement of the block at which it is evaluated."""

    node: ast.expr
    at: int


def echoes(tree: ast.Module) -> Iterator[Echo]:
    """The echoes in the test functions of a file, in order."""
    helpers = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    for qualname, node, _ in functions_of(tree):
        if node.name.startswith("test"):
            yield from _Test(qualname, node, helpers).echoes()


class _Test:
    def __init__(
        self, qualname: str, node: FunctionNode, helpers: dict[str, ast.FunctionDef]
    ) -> None:
        self._qualname = qualname
        self._node = node
        self._helpers = helpers

    @cached_property
    def _bound(self) -> dict[str, int]:
        """How often each name is bound."""
        spec = self._node.args
        bound = {a.arg: 1 for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
        for inner in walk_function(self._node):
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
                bound[inner.id] = bound.get(inner.id, 0) + 1
        return bound

    @cached_property
    def _values(self) -> dict[str, ast.expr]:
        """What names are bound to."""
        found: dict[str, ast.expr] = {}
        for inner in walk_function(self._node):
            if isinstance(inner, ast.stmt):
                found.update(_assigned(inner))
        return found

    def echoes(self) -> Iterator[Echo]:
        """The echoes of this test."""
        blocks: list[Sequence[ast.stmt]] = [self._node.body]
        while blocks:
            block = blocks.pop()
            for at, statement in enumerate(block):
                for comparison in asserted(statement):
                    echo = self._echo(comparison, block, at)
                    if echo is not None:
                        yield echo
                        break
                for name in ("body", "orelse", "finalbody"):
                    if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
                        blocks += [inner] if (inner := getattr(statement, name, None)) else []

    def _echo(self, comparison: Comparison, block: Sequence[ast.stmt], at: int) -> Echo | None:
        if comparison.right is None or not _is_equality(comparison.form):
            return None
        if not (isinstance(comparison.left, _MAY_CALL) and isinstance(comparison.right, _MAY_CALL)):
            return None
        left = self._resolved(_Side(comparison.left, at), block, _DEPTH)
        right = self._resolved(_Side(comparison.right, at), block, _DEPTH)
        if ast.dump(left.node) != ast.dump(right.node):
            return None
        statement = block[at]
        end = statement.end_lineno or statement.lineno
        if isinstance(statement, ast.With | ast.AsyncWith):
            end = statement.lineno
        name = _one_name(comparison)
        call = _call(left.node)
        function = self._callee(call) if call is not None else ""
        if call is None or not function:
            line = statement.lineno
            return Echo(self._qualname, line, end, "", (line,), name) if name else None
        if _makes(function) or not self._is_settled(left.node):
            return None
        between = block[min(left.at, right.at) + 1 : at]
        text = ast.dump(call)
        if not all(_is_harmless(statement, text) for statement in between):
            return None
        if _is_pinned(statement):
            return None
        lines = sorted({block[side.at].lineno for side in (left, right)})
        return Echo(self._qualname, statement.lineno, end, function, tuple(lines), name)

    def _resolved(self, side: _Side, block: Sequence[ast.stmt], depth: int) -> _Side:
        """The side with names of the block replaced by what they are bound to, without what only
        passes it on, and with helpers of one expression put in place of their calls."""
        node = _unwrapped(side.node)
        if depth == 0:
            return _Side(node, side.at)
        if isinstance(node, ast.Name) and self._bound.get(node.id) == 1:
            for at in range(side.at - 1, -1, -1):
                bound = _assigned(block[at]).get(node.id)
                if bound is not None:
                    return self._resolved(_Side(bound, at), block, depth - 1)
        if isinstance(node, ast.Subscript | ast.Attribute):
            inner = self._resolved(_Side(node.value, side.at), block, depth - 1)
            if inner.at != side.at:
                changed = copy.copy(node)
                changed.value = inner.node
                return _Side(changed, inner.at)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            helper = self._helpers.get(node.func.id)
            inlined = _inlined(helper, node) if helper is not None else None
            if inlined is not None:
                return self._resolved(_Side(inlined, side.at), block, depth - 1)
        return _Side(node, side.at)

    def _callee(self, call: ast.Call) -> str:
        """The dotted name of what is called, "" where its root is not known."""
        function = call.func
        rest: list[str] = []
        while isinstance(function, ast.Attribute):
            rest.append(function.attr)
            function = function.value
        if isinstance(function, ast.Call):
            root = dotted_name(function.func)
            return ".".join([root, *reversed(rest)]) if root and rest and _makes(root) else ""
        if not isinstance(function, ast.Name) or function.id in self._helpers:
            return ""
        root = function.id
        if root in self._bound:
            value = self._values.get(root) if self._bound[root] == 1 else None
            root = dotted_name(value.func) if isinstance(value, ast.Call) else ""
            if not root or not _makes(root):
                return ""
        return ".".join([root, *reversed(rest)])

    def _is_settled(self, node: ast.expr) -> bool:
        """Whether the expression gives the same wherever in the test it stands: its names are
        bound once, and nothing in it is drawn at random or said to be."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and self._bound.get(inner.id, 0) > 1:
                return False
            if isinstance(inner, ast.Call):
                name = dotted_name(inner.func).rsplit(".", 1)[-1]
                keywords = {keyword.arg for keyword in inner.keywords}
                if name in RANDOM or name == "next" or keywords & _SEEDS:
                    return False
            if isinstance(inner, ast.Lambda | ast.Yield | ast.NamedExpr):
                return False
        return True


def _one_name(comparison: Comparison) -> str:
    """The name that an asserting function is given as both sides, if what it is called tells that
    one was to be something else (`assert x == x` may be a test of equality); "" if there is none.
    """
    left, right = comparison.left, comparison.right
    if not isinstance(left, ast.Name) or not isinstance(right, ast.Name) or left.id != right.id:
        return ""
    return left.id if " " not in comparison.form and _ONE_SIDE.search(left.id) else ""


def _is_pinned(statement: ast.stmt) -> bool:
    """Whether a chain of comparisons ends at a value that is written out."""
    test = statement.test if isinstance(statement, ast.Assert) else None
    return (
        isinstance(test, ast.Compare)
        and len(test.ops) > 1
        and any(isinstance(each, ast.Constant) for each in (test.left, *test.comparators))
    )


def _is_equality(form: str) -> bool:
    first, _, rest = form.partition(" ")
    if rest:
        return rest in ("==", "allclose", "equal", "array_equal", "array_equiv")
    return first in _EQUAL or (
        first.startswith("assert_") and first.endswith(("equal", "close", "equals", "eq"))
    )


def _unwrapped(node: ast.expr) -> ast.expr:
    while True:
        if isinstance(node, ast.Await):
            node = node.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            is_module = isinstance(node.func.value, ast.Name) and len(node.args) == 1
            if node.func.attr not in _PASSING:
                return node
            # `np.array(x)`, `pytest.approx(x)` on one side, `x.clone()` on the other.
            if is_module and node.func.attr in ("array", "asarray", "tensor", "approx"):
                node = node.args[0]
            elif not node.args:
                node = node.func.value
            else:
                return node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id not in _PASSING or len(node.args) != 1:
                return node
            node = node.args[0]
        else:
            return node


def _call(node: ast.expr) -> ast.Call | None:
    while True:
        if isinstance(node, ast.Subscript | ast.Attribute):
            node = node.value
        elif isinstance(node, ast.Call) and dotted_name(node.func) in _CONTAINERS and node.args:
            node = node.args[0]
        else:
            return node if isinstance(node, ast.Call) else None


def _makes(function: str) -> bool:
    """Whether the name is that of a class: two objects of one recipe are no echo."""
    last = function.rsplit(".", 1)[-1].lstrip("_")
    return last[:1].isupper() or last.startswith(("from_", "make_", "create_", "build_", "new_"))


def _assigned(statement: ast.stmt) -> dict[str, ast.expr]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return _targets(statement.targets[0], statement.value)
    if (
        isinstance(statement, ast.AnnAssign)
        and statement.value is not None
        and isinstance(statement.target, ast.Name)
    ):
        return {statement.target.id: statement.value}
    return {}


def _targets(target: ast.expr, value: ast.expr) -> dict[str, ast.expr]:
    if isinstance(target, ast.Name):
        return {target.id: value}
    found: dict[str, ast.expr] = {}
    if isinstance(target, ast.Tuple) and not any(
        isinstance(item, ast.Starred) for item in target.elts
    ):
        for position, item in enumerate(target.elts):
            if isinstance(item, ast.Name):
                found[item.id] = ast.Subscript(value, ast.Constant(position), ast.Load())
    return found


def _is_harmless(statement: ast.stmt, text: str) -> bool:
    """Whether a statement between two evaluations cannot change what they give: it binds names or
    asserts, and calls nothing but the expression `text` once more."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        if not all(isinstance(t, ast.Name | ast.Tuple) for t in targets):
            return False
        value = statement.value
        return value is None or _only_calls(value, text)
    if isinstance(statement, ast.Assert):
        return _only_calls(statement.test, text)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _only_calls(node: ast.expr, text: str) -> bool:
    stack: list[ast.AST] = [_unwrapped(node)]
    while stack:
        inner = stack.pop()
        if isinstance(inner, ast.expr) and ast.dump(inner) == text:
            continue
        if isinstance(inner, ast.Call):
            name = dotted_name(inner.func).rsplit(".", 1)[-1]
            if name not in _HARMLESS and name not in _PASSING:
                return False
        stack.extend(ast.iter_child_nodes(inner))
    return True


def _inlined(helper: ast.FunctionDef, call: ast.Call) -> ast.expr | None:
    """The one expression that a helper returns, with the arguments of a call in it."""
    body = [
        statement
        for statement in helper.body
        if not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
    ]
    spec = helper.args
    names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
    statement = body[0] if len(body) == 1 else None
    if (
        not isinstance(statement, ast.Return)
        or statement.value is None
        or helper.decorator_list
        or call.keywords
        or len(names) != len(call.args)
        or spec.vararg
        or spec.kwarg
        or spec.kwonlyargs
    ):
        return None
    values = dict(zip(names, call.args, strict=True))
    return _Substitution(values).visit(copy.deepcopy(statement.value))


class _Substitution(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)
