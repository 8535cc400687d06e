"""Equivalences of the normal form, a row a test; and both front ends."""

import ast
import inspect
import textwrap
from collections.abc import Callable

import libcst as cst
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.mirrors import fragments, index, match, normal_form, slice, trace
from contract_guard.mirrors.concrete import function_graph
from contract_guard.mirrors.equivalences import IDIOMS
from contract_guard.mirrors.model import Const, Op, Reference
from contract_guard.mirrors.normal_form import NormalForm, leaf_text
from contract_guard.mirrors.normal_form import normal_form as to_normal_form
from contract_guard.mirrors.operations import BINARY, UNARY
from contract_guard.mirrors.scopes import module_of
from contract_guard.mirrors.trace import trace_function

IMPORTS = """\
import math
import os
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
"""


def form_of(body: str) -> tuple[NormalForm, str]:
    """The normal form of a function body, and the digest of what it returns."""
    if "return" not in body:
        body = f"return {body}"
    source = f"{IMPORTS}def f(a, b, c, m, x, w, n):\n{textwrap.indent(body, '    ')}\n"
    tree = ast.parse(source)
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    function.body[-1] = ast.copy_location(
        ast.Assign([ast.Name("out", ast.Store())], returned.value, lineno=returned.lineno), returned
    )
    ast.fix_missing_locations(tree)
    graph = trace_function(module_of(tree), function)
    form = to_normal_form(graph.ops, graph.aliases)
    last = [i for i, names in graph.aliases.items() if "out" in names]
    if last:
        return form, form.digest(form.moved[last[-1]])
    return form, "leaf"


SAME = [
    ("a + b + c", "c + (b + a)"),
    ("a * b * c", "(c * a) * b"),
    ("(a & b) & c", "torch.logical_and(c, torch.logical_and(b, a))"),
    ("a > b", "b < a"),
    ("a >= b", "torch.le(b, a)"),
    ("not a == b", "a != b"),
    ("not (a < b)", "b <= a"),
    ("~((a == b) & (b < c))", "(a != b) | (c <= b)"),
    ("x.softmax(-1)", "F.softmax(x, dim=-1)"),
    ("x.sum(1)", "np.sum(x, axis=1)"),
    ("torch.add(a, b)", "b + a"),
    ("x.clamp(min=a)", "torch.clamp_min(x, a)"),
    ("x.clip(a, b)", "torch.clamp(x, min=a, max=b)"),
    ("x.amax(-1)", "torch.max(x, dim=-1)"),
    ("torch.maximum(a, b)", "max(b, a)"),
    ("torch.where(m, a, b)", "a if m else b"),
    ("y = b\nif m:\n    y = a\nreturn y + 1", "(a if m else b) + 1"),
    ("x.float() * 2", "2.0 * x.to(torch.float32)"),
    ("torch.tensor([a, b]) + 1", "1 + [a, b]"),
    ("F.linear(x, w)", "x @ w.t()"),
    ("torch.mm(x, w.T)", "F.linear(x, w)"),
    ("m[:, None] * a", "m.unsqueeze(-1) * a"),
    ("m.view(-1, 2)", "m.reshape(-1, 2)"),
    ("(a + b - 1) // b", "-(-a // b)"),
    ("(a + 127) // 128", "math.ceil(a / 128)"),
    ("(a + n - 1) // n * n", "-(-a // n) * n"),
    ("a - a % b", "a // b * b"),
    ("1 / torch.sqrt(x)", "x.rsqrt()"),
    ("x ** 0.5", "torch.sqrt(x)"),
    ("x * torch.sigmoid(x)", "F.silu(x)"),
    ("torch.log(1 + torch.exp(x))", "F.softplus(x)"),
    ("max(x, 0)", "F.relu(x)"),
    ("a + -b", "a - b"),
    ("a / 'name'", "os.path.join(a, 'name')"),
    ("f'{a} of {b}'", "'%s of %s' % (a, b)"),
    ("f'{a} of {b}'", "'{} of {}'.format(a, b)"),
    ("x.shape[0] + 1", "1 + x.size(0)"),
    ("_, i = x.topk(2)\nreturn i + 1", "x.topk(2).indices + 1"),
    ("y = a\ny += b\nreturn y * c", "(a + b) * c"),
    ("y = a + b\ny.mul_(c)\nreturn y + 1", "c * (a + b) + 1"),
    ("out = []\nfor v in x:\n    out.append(v + 1)\nreturn out", "[v + 1 for v in x]"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_same(left: str, right: str) -> None:
    assert form_of(left)[1] == form_of(right)[1]


DIFFERENT = [
    ("a - b", "b - a"),
    ("a / b", "b / a"),
    ("a < b", "a <= b"),
    ("3000 * 3.0 + a", "9000 + a"),
    ("x.view(torch.int16) + 1", "x + 1"),
    ("x.softmax(-1)", "x.softmax(0)"),
    ("(a == b) | (a == c)", "(a == b) & (a == c)"),
    ("f'{a:>4} of {b}'", "f'{a} of {b}'"),
    ("(a + b) // b", "(a + b - 1) // b"),
    ("torch.where(m, a, b)", "torch.where(m, b, a)"),
]


@pytest.mark.parametrize(("left", "right"), DIFFERENT)
def test_different(left: str, right: str) -> None:
    assert form_of(left)[1] != form_of(right)[1]


def value_of(form: NormalForm, node: ast.expr) -> Reference:
    """A row of `IDIOMS` as a value: its variables are inputs, K is 16."""
    if isinstance(node, ast.Name):
        return {"K": Const(16), "K_1": Const(15)}.get(node.id, f"${node.id}")
    if isinstance(node, ast.Constant):
        return Const(node.value)
    if isinstance(node, ast.BinOp):
        operands = [value_of(form, node.left), value_of(form, node.right)]
        return form.add(BINARY[type(node.op)], operands)
    if isinstance(node, ast.UnaryOp):
        if isinstance(node.operand, ast.Constant):
            return Const(-ast.literal_eval(node.operand))
        return form.add(UNARY[type(node.op)], [value_of(form, node.operand)])
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return form.add(node.func.id.rstrip("_"), [value_of(form, a) for a in node.args])


@pytest.mark.parametrize(("left", "right"), IDIOMS)
def test_every_idiom_is_rewritten(left: str, right: str) -> None:
    form = NormalForm()
    one, other = (value_of(form, ast.parse(side, mode="eval").body) for side in (left, right))
    assert one == other


def test_constants_by_value_and_name() -> None:
    form, _ = form_of("x * 2.0")
    node = next(n for n in form.nodes if n.op == "mul")
    assert {leaf_text(o) for o in node.operands if not isinstance(o, int)} == {"$x", "2"}


EXPRESSIONS = st.recursive(
    st.sampled_from(["a", "b", "x", "2", "0.5", "'text'", "None", "x.shape[0]", "self.w"]),
    lambda inner: st.one_of(
        st.tuples(
            inner, st.sampled_from(["+", "-", "*", "/", "//", "%", "@", "&", "|"]), inner
        ).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["==", "<", ">=", "in", "is not"]), inner).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(st.sampled_from(["torch.exp", "F.silu", "len", "self.norm"]), inner).map(
            lambda t: f"{t[0]}({t[1]})"
        ),
        st.tuples(inner, st.sampled_from([".sum(-1)", ".float()", "[0]", "[:, None]"])).map(
            lambda t: f"({t[0]}){t[1]}"
        ),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} if {t[1]} else {t[2]})"),
        inner.map(lambda t: "f'{" + t.replace("'", '"') + "}'" if '"' not in t else t),
        st.lists(inner, min_size=1, max_size=3).map(lambda t: f"[{', '.join(t)}]"),
    ),
    max_leaves=8,
)


def ops_by_both(source: str, name: str) -> tuple[list[Op], list[Op]]:
    tree = ast.parse(source)
    node = next(n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == name)
    module = cst.parse_module(source)
    found: list[cst.FunctionDef] = []

    class Finder(cst.CSTVisitor):
        def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
            if node.name.value == name:
                found.append(node)

    module.visit(Finder())
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return trace_function(module_of(tree), node).ops, function_graph(module, found[0], first).ops


@given(st.lists(EXPRESSIONS, min_size=1, max_size=4))
def test_both_front_ends_give_the_same_graph(values: list[str]) -> None:
    lines = "\n".join(f"    v{i} = {value}" for i, value in enumerate(values))
    one, other = ops_by_both(f"{IMPORTS}\n\ndef f(self, a, b, x):\n{lines}\n    return v0\n", "f")
    assert one == other


REAL: list[Callable[..., object]] = [
    fragments.file_fragments,
    index.Index.nominate,
    index.Index.reach,
    match.Matcher.match,
    match.weigh,
    normal_form.canonical,
    normal_form.NormalForm.add,
    slice.oracle_slice,
    trace.trace_all,
]


@pytest.mark.parametrize("function", REAL, ids=lambda f: f.__qualname__)
def test_both_front_ends_on_real_functions(function: Callable[..., object]) -> None:
    source = inspect.getsource(inspect.getmodule(function))  # type: ignore[arg-type]
    one, other = ops_by_both(source, function.__name__)
    assert one == other
    assert len(one) > 5
