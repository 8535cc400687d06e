"""Which expressions an assertion compares. Syntax only; nothing is evaluated."""

import ast
import copy
import re
from collections.abc import Iterator
from typing import NamedTuple

from contract_guard.mirrors.scopes import dotted_name

# Calls that compare their first two arguments, by the last part of their name.
_COMPARING = re.compile(
    r"""assert_(close|allclose|equal|array_equal|array_almost_equal|almost_equal|approx_equal|
        allclose_with_tol|equals|frame_equal|series_equal|index_equal|tensors_equal|list_equal|
        array_less|close_with_dtype|all_close|similar|same|eq)$
    |assert(Equal|Equals|AlmostEqual|AlmostEquals|ListEqual|DictEqual|TupleEqual|SetEqual|
        SequenceEqual|CountEqual|MultiLineEqual|Is|In|Greater|GreaterEqual|Less|LessEqual|
        AllClose|TensorEqual|TensorsEqual|NotEqual|NotIn|IsNot|DictContainsSubset)$
    |(check|compare|verify|validate)_(equal|close|allclose|accuracy|tensors?|outputs?|results?)$
    |assert_\w*(equal|close|allclose)\w*$""",
    re.VERBOSE,
)
_PREDICATES = frozenset({"allclose", "equal", "array_equal", "isclose", "is_close", "array_equiv"})
_MOCK = frozenset(
    {
        "assert_called_with",
        "assert_called_once_with",
        "assert_any_call",
        "assert_awaited_with",
        "assert_awaited_once_with",
        "assert_has_calls",
    }
)
_PATH = frozenset({"exists", "isfile", "isdir", "is_file", "is_dir", "lexists"})
_TRUTH = frozenset({"assertTrue", "assertFalse", "assert_", "assert_true"})
_RAISES = frozenset({"raises", "warns", "assertRaisesRegex", "assertWarnsRegex", "deprecated_call"})


class Comparison(NamedTuple):
    """Two compared expressions. `right` is None where the other side is not in the source.

    `fixed` is true where `left` is the expected side by form (`raises(match=...)`, `m.assert_
    called_with(x)`); otherwise the values decide, and `right` is expected if they do not.
    """

    form: str
    line: int
    left: ast.expr
    right: ast.expr | None
    fixed: bool = False


def asserted(node: ast.stmt) -> Iterator[Comparison]:
    """The comparisons that a statement asserts (not those of statements inside it)."""
    if isinstance(node, ast.Assert):
        yield from _truth(node.test, "assert")
    elif isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Call):
            yield from _call(value)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        for item in node.items:
            if isinstance(item.context_expr, ast.Call):
                yield from _raises(item.context_expr)


def is_asserting_name(name: str) -> bool:
    """True for names of functions that check what they are given."""
    last = name.rsplit(".", 1)[-1].lstrip("_")
    return last.startswith(("assert", "check_", "verify_", "compare_", "validate_")) or last in (
        _MOCK | _PREDICATES
    )


def _call(node: ast.Call) -> Iterator[Comparison]:
    dotted = _last_name(node.func)
    arguments = [a for a in node.args if not isinstance(a, ast.Starred)]
    keywords = {k.arg: k.value for k in node.keywords if k.arg}
    if dotted in _MOCK:
        for value in (*arguments, *keywords.values()):
            yield Comparison(dotted, node.lineno, value, None, fixed=True)
    elif dotted in _TRUTH and arguments:
        yield from _truth(arguments[0], dotted)
    elif dotted in _RAISES:
        yield from _raises(node)
    elif _COMPARING.match(dotted):
        for key in ("actual", "first", "x", "got", "expected", "desired", "second", "y", "want"):
            if len(arguments) < 2 and key in keywords:
                arguments.append(keywords[key])
        if len(arguments) >= 2:
            yield from _pair(dotted, node.lineno, arguments[0], arguments[1])


def _truth(node: ast.expr, form: str) -> Iterator[Comparison]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _truth(value, form)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield from _truth(node.operand, f"{form} not")
    elif isinstance(node, ast.Compare):
        left = node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            yield from _pair(f"{form} {_SIGNS[type(op)]}", node.lineno, left, right)
            left = right
    elif isinstance(node, ast.Call):
        last = _last_name(node.func)
        arguments = list(node.args)
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if last in ("all", "any", "bool", "item") and (arguments or receiver is not None):
            inner = receiver if receiver is not None and not arguments else None
            if inner is None and arguments:
                inner = arguments[0]
            if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
                yield from _elementwise(inner, form)
            elif inner is not None:
                yield from _truth(inner, form)
        elif last in _PREDICATES:
            if len(arguments) >= 2 and not (receiver is not None and not _module(receiver)):
                yield from _pair(f"{form} {last}", node.lineno, arguments[0], arguments[1])
            elif receiver is not None and arguments:
                yield from _pair(f"{form} {last}", node.lineno, receiver, arguments[0])
        elif last in _PATH:
            target = arguments[0] if arguments else receiver
            if target is not None:
                yield Comparison(f"{form} {last}", node.lineno, target, None, fixed=True)
        elif last in ("startswith", "endswith") and arguments and receiver is not None:
            yield Comparison(f"{form} {last}", node.lineno, receiver, arguments[0])


def _pair(form: str, line: int, left: ast.expr, right: ast.expr) -> Iterator[Comparison]:
    if (
        isinstance(left, ast.Tuple)
        and isinstance(right, ast.Tuple)
        and len(left.elts) == len(right.elts)
    ):
        for a, b in zip(left.elts, right.elts, strict=True):
            yield Comparison(form, line, a, b)
    else:
        yield Comparison(form, line, left, right)


def _elementwise(node: ast.GeneratorExp | ast.ListComp, form: str) -> Iterator[Comparison]:
    """`all(x == y for x, y in zip(a, b))` compares a with b, `all(x == y for x in a)` an element
    of a with y."""
    generator = node.generators[0]
    source = generator.iter
    if (
        isinstance(source, ast.Call)
        and dotted_name(source.func) == "zip"
        and len(source.args) == 2
        and isinstance(generator.target, ast.Tuple)
    ):
        yield Comparison(f"{form} all", node.lineno, source.args[0], source.args[1])
    else:
        element = node.elt
        if isinstance(generator.target, ast.Name) and dotted_name(source):
            element = _Element(generator.target.id, source).visit(copy.deepcopy(element))
        yield from _truth(element, form)


class _Element(ast.NodeTransformer):
    """Puts an element of `source` in place of the name that stands for each."""

    def __init__(self, name: str, source: ast.expr) -> None:
        self._name = name
        self._source = source

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id != self._name:
            return node
        first = ast.Subscript(self._source, ast.Constant(0), ast.Load())
        return ast.fix_missing_locations(ast.copy_location(first, node))


def _raises(node: ast.Call) -> Iterator[Comparison]:
    last = _last_name(node.func)
    if last not in _RAISES:
        return
    pattern = next((k.value for k in node.keywords if k.arg in ("match", "expected_regex")), None)
    if pattern is None and last.startswith("assert") and len(node.args) > 1:
        pattern = node.args[1]
    if pattern is not None:
        if isinstance(pattern, ast.Call) and dotted_name(pattern.func) == "re.escape":
            pattern = pattern.args[0] if pattern.args else pattern
        yield Comparison(f"{last} match", node.lineno, pattern, None, fixed=True)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _module(node: ast.expr) -> bool:
    return dotted_name(node) in {"torch", "np", "numpy", "math", "jnp", "cp", "mx"}


_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Is: "is",
    ast.IsNot: "is not",
}
