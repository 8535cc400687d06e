"""What is equal by meaning, as data: the equivalences that the normal form applies."""

import ast
import functools
from dataclasses import dataclass

from contract_guard.mirrors.model import Const
from contract_guard.mirrors.operations import BINARY, UNARY, words

# Values pass through unchanged: casts, copies, placement, containers around data.
TRANSPARENT = words(
    """to clone contiguous detach cpu cuda numpy item tolist tensor as_tensor asarray array Size
    from_numpy copy pos builtins.int builtins.float builtins.bool builtins.list builtins.tuple
    builtins.str builtins.iter type_as npu requires_grad"""
)

# One name for operations that differ in the kind of value alone.
RENAMED = {
    "amax": "max",
    "amin": "min",
    "maximum": "max",
    "minimum": "min",
    "fmax": "max",
    "fmin": "min",
    "builtins.max": "max",
    "builtins.min": "min",
    "builtins.sum": "sum",
    "builtins.abs": "abs",
    "builtins.pow": "pow",
    "builtins.all": "all",
    "builtins.any": "any",
    "builtins.len": "len",
    "builtins.round": "round",
    "builtins.sorted": "sort",
    "builtins.range": "arange",
    "builtins.getattr": "getattr",
    "ifelse": "where",
    "bitand": "and",
    "logical_and": "and",
    "bitor": "or",
    "logical_or": "or",
    "invert": "not",
    "logical_not": "not",
    "bitxor": "xor",
    "logical_xor": "xor",
    "mm": "matmul",
    "bmm": "matmul",
    "mv": "matmul",
    "dot": "matmul",
    "linear": "matmul",
    "view": "reshape",
    "isin": "in",
    "is": "eq",
    "is_not": "ne",
    "take_along_axis": "gather",
    "size": "shape",
    "range": "arange",
    "join": "os.path.join",
    "joinpath": "os.path.join",
    "triton.cdiv": "ceil_div",
    "set_comprehension": "list_comprehension",
}

# Functions known by their own name wherever they come from.
NAMED = {
    "cdiv": "ceil_div",
    "ceil_div": "ceil_div",
    "ceildiv": "ceil_div",
    "div_up": "ceil_div",
    "round_up": "round_up",
    "roundup": "round_up",
    "align_up": "round_up",
    "pad_up": "round_up",
    "ceil": "ceil",
    "floor": "floor",
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "log",
    "log2": "log2",
    "prod": "prod",
}

FLAT = frozenset({"add", "mul", "and", "or", "max", "min"})
SYMMETRIC = frozenset({"eq", "ne", "xor"})
FLIPPED = {"gt": "lt", "ge": "le"}
NEGATED = {"eq": "ne", "ne": "eq", "in": "not_in", "not_in": "in"}
DE_MORGAN = {"and": "or", "or": "and"}

# Say how or where, not what.
DROPPED_KEYWORDS = words(
    "dtype device keepdim out_dtype requires_grad non_blocking out layout pin_memory sorted copy"
)

# Written out in Python's own operators: left is rewritten to right. `K` is any constant, and
# `K_1` the constant one below it. The first that fits wins: special ones stand before general.
IDIOMS = (
    ("(a + b - 1) // b", "ceil_div(a, b)"),
    ("(a - 1) // b + 1", "ceil_div(a, b)"),
    ("(a + K_1) // K", "ceil_div(a, K)"),
    ("-(-a // b)", "ceil_div(a, b)"),
    ("ceil(a / b)", "ceil_div(a, b)"),
    ("ceil_div(a, b) * b", "round_up(a, b)"),
    ("a // b * b", "round_down(a, b)"),
    ("a - a % b", "round_down(a, b)"),
    ("floor(a / b)", "a // b"),
    ("1 / sqrt(a)", "rsqrt(a)"),
    ("a ** 0.5", "sqrt(a)"),
    ("square(a)", "a ** 2"),
    ("a * sigmoid(a)", "silu(a)"),
    ("a / (1 + exp(-a))", "silu(a)"),
    ("1 / (1 + exp(-a))", "sigmoid(a)"),
    ("log(1 + exp(a))", "softplus(a)"),
    ("1 / a", "reciprocal(a)"),
    ("max(a, 0)", "relu(a)"),
    ("a + -b", "a - b"),
    ("a * -1", "-a"),
    ("not_(not_(a))", "a"),
)


@functools.cache
def canonical(name: str) -> str:
    """The name of an operation in normal form."""
    renamed = RENAMED.get(name)
    if renamed is not None:
        return renamed
    if "." in name:
        last = name.rsplit(".", 1)[-1]
        return NAMED.get(last, name if name.startswith(("builtins.", "os.")) else last)
    return NAMED.get(name, name)


@dataclass(frozen=True, slots=True)
class Pattern:
    """The left side of an idiom, or a part of either side: an operation on names and numbers."""

    op: str
    operands: tuple["Pattern | Const | str", ...]


@functools.cache
def patterns() -> dict[str, list[tuple[Pattern, "Pattern | Const | str"]]]:
    """The idioms, each with what it becomes, by the operation on their left side."""
    found: dict[str, list[tuple[Pattern, Pattern | Const | str]]] = {}
    for left, right in IDIOMS:
        pattern = _parsed(ast.parse(left, mode="eval").body)
        assert isinstance(pattern, Pattern)
        result = _parsed(ast.parse(right, mode="eval").body)
        found.setdefault(pattern.op, []).append((pattern, result))
    return found


def _parsed(node: ast.expr) -> "Pattern | Const | str":
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Constant):
        return Const(node.value)
    if isinstance(node, ast.UnaryOp):
        operand = _parsed(node.operand)
        if isinstance(operand, Const) and isinstance(operand.value, int):
            return Const(-operand.value)
        return Pattern(UNARY[type(node.op)], (operand,))
    if isinstance(node, ast.BinOp):
        name = BINARY[type(node.op)]
        parts: list[Pattern | Const | str] = []
        for part in (_parsed(node.left), _parsed(node.right)):
            same = isinstance(part, Pattern) and part.op == name and name in FLAT
            parts += part.operands if isinstance(part, Pattern) and same else [part]
        return Pattern(name, tuple(parts))
    assert isinstance(node, ast.Call)
    assert isinstance(node.func, ast.Name)
    return Pattern(node.func.id.rstrip("_"), tuple(_parsed(a) for a in node.args))
