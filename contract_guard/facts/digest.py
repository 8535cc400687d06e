"""A hash of code that does not change with layout, comments or the version of Python."""

import ast
import hashlib
from collections.abc import Sequence

ARITY = tuple(f"({count}" for count in range(64))
OPERATORS = {
    kind: f"op:{kind.__name__}"
    for base in (ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for kind in base.__subclasses__()
}
# No token of the syntax can be taken for a name of the program.
TYPES = {
    kind: f":{kind.__name__}"
    for base in (ast.stmt, ast.expr, ast.pattern)
    for kind in base.__subclasses__()
}


def arity(count: int) -> str:
    return ARITY[count] if count < 64 else f"({count}"


def constant_token(value: object) -> str:
    """Text that differs for constants of different type or value."""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"#{value:x}"
    if isinstance(value, bytes):
        return f"b{value.hex()}"
    return repr(value)


def digest(tokens: Sequence[str], name: str) -> int:
    """A non-zero hash of 63 bits, the same for what calls itself by another name."""
    if name in tokens:
        tokens = [":self" if token == name else token for token in tokens]
    text = "\0".join(tokens).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") >> 1 or 1
