"""The normal form of operations: what is equal by meaning gets one shape.

The equivalences are in `equivalences`. Whole values are compared by `digest`, parts by `key`
(operation and operands). Names of locals do not matter to a digest, constants do.
"""

import functools
import hashlib
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from contract_guard.mirrors.equivalences import (
    DE_MORGAN,
    DROPPED_KEYWORDS,
    FLAT,
    FLIPPED,
    NEGATED,
    SYMMETRIC,
    TRANSPARENT,
    Pattern,
    canonical,
    patterns,
)
from contract_guard.mirrors.model import UNRESOLVED, Const, Op, Reference

_FLATTENED = 64  # operands of one sum: `x = x + x`, again and again, doubles them


@dataclass(frozen=True, slots=True)
class Node:
    """One operation in normal form; `operands` are indices of earlier nodes or leaves.

    `names` are those that its value was bound to; `line` is where it stands. `number` is what
    arithmetic of numbers without a name gives.
    """

    op: str
    operands: tuple[Reference, ...]
    line: int
    digest: str
    names: frozenset[str] = frozenset()
    number: int | float | None = None


@dataclass(slots=True)
class NormalForm:
    """Nodes in order, each value once. `moved` maps indices of the original ops."""

    nodes: list[Node] = field(default_factory=list[Node])
    moved: dict[int, Reference] = field(default_factory=dict[int, Reference])
    _known: dict[str, int] = field(default_factory=dict[str, int])

    def digest(self, value: Reference) -> str:
        """Identity of a value. Inputs count by the last part of their name."""
        if isinstance(value, int):
            return self.nodes[value].digest
        return leaf_text(value)

    def fingerprint(self, roots: Iterable[Reference]) -> str:
        """Identity of several values together, whatever their order: 16 hex digits."""
        text = "\n".join(sorted(self.digest(root) for root in roots))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def add(self, name: str, operands: Sequence[Reference], line: int = 0) -> Reference:
        """The node of an operation on normal operands, with all equivalences applied."""
        name = canonical(name)
        if name in TRANSPARENT and operands:
            return operands[0]
        if name in FLIPPED and len(operands) == 2:
            name, operands = FLIPPED[name], operands[::-1]
        if name == "not" and len(operands) == 1:
            turned = self._negated(operands[0], line)
            if turned is not None:
                return turned
        if name == "matmul" and len(operands) >= 2:
            operands = self._untransposed(operands)
            if len(operands) == 3:
                return self.add("add", [self.add(name, operands[:2], line), operands[2]], line)
        if name == "where" and len(operands) == 3:
            operands = [self._store("if", (operands[0],), line), *operands[1:]]
        if name in ("list", "tuple", "set") and len(operands) == 1:
            return operands[0]
        if name == "getitem" and len(operands) == 2 and self._is_new_axis(operands[1]):
            name, operands = "unsqueeze", operands[:1]
        if name == "unsqueeze":
            operands = operands[:1]
        if name in FLAT:
            operands = self._flattened(name, operands)
        if name in FLAT or name in SYMMETRIC:
            operands = sorted(operands, key=self.digest)
        whole = [o.value for o in operands if isinstance(o, Const) and o.symbol is None]
        if len(whole) == len(operands) and all(type(number) is int for number in whole):
            number = folded(name, [self._number(operand) for operand in operands])
            if type(number) is int:
                return Const(number)
        return self._idiom(name, tuple(operands), line)

    def _store(self, name: str, operands: tuple[Reference, ...], line: int) -> int:
        text = f"{name}({','.join(map(self.digest, operands))})"
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        known = self._known.get(digest)
        if known is None:
            known = self._known[digest] = len(self.nodes)
            number = folded(name, [self._number(operand) for operand in operands])
            self.nodes.append(Node(name, operands, line, digest, number=number))
        return known

    def _number(self, value: Reference) -> int | float | None:
        if isinstance(value, int):
            return self.nodes[value].number
        number = value.value if isinstance(value, Const) and value.symbol is None else None
        return number if isinstance(number, (int, float)) and not isinstance(number, bool) else None

    def _idiom(self, name: str, operands: tuple[Reference, ...], line: int) -> Reference:
        for pattern, result in patterns().get(name, ()):
            for bound in self._matches(pattern, name, operands, {}):
                return self._build(result, bound, line)
        return self._store(name, operands, line)

    def _matches(
        self,
        pattern: "Pattern",
        name: str,
        operands: tuple[Reference, ...],
        bound: Mapping[str, Reference],
    ) -> Iterable[Mapping[str, Reference]]:
        if name != pattern.op or len(operands) != len(pattern.operands):
            return
        orders: Iterable[tuple[Reference, ...]] = (operands,)
        if name in FLAT or name in SYMMETRIC:
            orders = itertools.permutations(operands) if len(operands) <= 3 else ()
        for order in orders:
            found: list[Mapping[str, Reference]] = [bound]
            for part, value in zip(pattern.operands, order, strict=True):
                found = [more for known in found for more in self._bind(part, value, known)]
            yield from found

    def _bind(
        self, part: "Pattern | Const | str", value: Reference, bound: Mapping[str, Reference]
    ) -> Iterable[Mapping[str, Reference]]:
        """All ways in which a value fits a part of a pattern."""
        if isinstance(part, Const):
            # A named number (the variable of an unrolled loop) only happens to have this value.
            if isinstance(value, Const) and value.symbol is None and value.value == part.value:
                yield from [] if type(value.value) is bool else [bound]
        elif isinstance(part, Pattern):
            if isinstance(value, int):
                node = self.nodes[value]
                yield from self._matches(part, node.op, node.operands, bound)
        elif not part.startswith("K"):
            yield from self._consistent(bound, part, value)
        elif isinstance(value, Const) and type(value.value) is int:
            yield from self._consistent(bound, "K", Const(value.value + (part == "K_1")))

    def _consistent(
        self, bound: Mapping[str, Reference], name: str, value: Reference
    ) -> Iterable[Mapping[str, Reference]]:
        if name not in bound:
            yield {**bound, name: value}
        elif self.digest(bound[name]) == self.digest(value):
            yield bound

    def _build(
        self, part: "Pattern | Const | str", bound: Mapping[str, Reference], line: int
    ) -> Reference:
        if isinstance(part, Const):
            return part
        if isinstance(part, str):
            return bound[part]
        return self.add(part.op, [self._build(p, bound, line) for p in part.operands], line)

    def _negated(self, value: Reference, line: int) -> Reference | None:
        if not isinstance(value, int):
            return None
        node = self.nodes[value]
        if node.op == "not":
            return node.operands[0]
        if node.op in NEGATED:
            return self.add(NEGATED[node.op], node.operands, line)
        if node.op in ("lt", "le") and len(node.operands) == 2:
            return self.add("le" if node.op == "lt" else "lt", node.operands[::-1], line)
        if node.op in DE_MORGAN:
            parts = [self.add("not", [operand], line) for operand in node.operands]
            return self.add(DE_MORGAN[node.op], parts, line)
        return None

    def _flattened(self, name: str, operands: Sequence[Reference]) -> list[Reference]:
        flat: list[Reference] = []
        for operand in operands:
            node = self.nodes[operand] if isinstance(operand, int) else None
            joins = node is not None and node.op == name and len(node.operands) <= _FLATTENED
            flat += node.operands if node is not None and joins else [operand]
        return flat

    def _untransposed(self, operands: Sequence[Reference]) -> list[Reference]:
        plain: list[Reference] = []
        for operand in operands:
            node = self.nodes[operand] if isinstance(operand, int) else None
            transposed = node is not None and node.op in ("t", "transpose")
            plain.append(node.operands[0] if node is not None and transposed else operand)
        return plain

    def _is_new_axis(self, index: Reference) -> bool:
        """`x[:, None]`, `x[..., None]`, `x[None]`."""
        if isinstance(index, Const):
            return index.value is None
        if not isinstance(index, int) or self.nodes[index].op != "tuple":
            return False
        parts = self.nodes[index].operands
        empty = [p for p in parts if isinstance(p, int) and self.nodes[p].op == "slice"]
        whole = all(
            isinstance(o, Const) and o.value is None for p in empty for o in self.nodes[p].operands
        )
        axes = [p for p in parts if isinstance(p, Const) and p.value is None]
        dots = [p for p in parts if isinstance(p, Const) and p.value is ...]
        return bool(axes) and whole and len(axes) + len(empty) + len(dots) == len(parts)


def normal_form(
    ops: Sequence[Op], aliases: Mapping[int, Iterable[str]] | None = None
) -> NormalForm:
    """The normal form of a program. `aliases` are names of locals by index of the op."""
    form = NormalForm()
    names: dict[int, set[str]] = {}
    for index, op in enumerate(ops):
        value = _converted(form, op)
        if isinstance(value, Const) and value.symbol is None and aliases and aliases.get(index):
            value = Const(value.value, min(aliases[index]))
        form.moved[index] = value
        if isinstance(value, int) and aliases and index in aliases:
            names.setdefault(value, set()).update(aliases[index])
    for index, bound in names.items():
        node = form.nodes[index]
        form.nodes[index] = Node(
            node.op, node.operands, node.line, node.digest, frozenset(bound), node.number
        )
    return form


_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": operator.mod,
}


def folded(name: str, numbers: Sequence[int | float | None]) -> int | float | None:
    """What an operation on numbers alone gives, None if it is not of these or not known.

    Bounded: a number of more than 15 digits is not known, so nothing grows without limit.
    """
    known = [number for number in numbers if number is not None]
    if not known or len(known) < len(numbers):
        return None
    if name == "neg" and len(known) == 1:
        return -known[0]
    if name == "reciprocal" and len(known) == 1:
        name, known = "div", [1, *known]
    if name == "lshift" and len(known) == 2:
        name, known = "mul", [known[0], _power(2, known[1])]
    elif name == "pow" and len(known) == 2:
        name, known = "mul", [1, _power(*known)]
    function = _ARITHMETIC.get(name)
    if function is None or len(known) < 2:
        return None
    try:
        result = functools.reduce(function, known)
    except (ArithmeticError, TypeError):
        return None
    return result if abs(result) < 1e15 else None


def _power(base: float, exponent: float) -> float:
    """A whole power of a small number, infinity for others."""
    if type(exponent) is int and 0 <= exponent <= 64 and abs(base) <= 1024:
        return base**exponent
    return math.inf


def leaf_text(value: str | Const) -> str:
    """A leaf as text: `$weight` for `$moe.gate.weight`, a constant by name if it has one and no
    known value, else by value."""
    if isinstance(value, str):
        return "$" + value[1:].rsplit(".", 1)[-1]
    if value.value is UNRESOLVED:
        return str(value.symbol).rsplit(":", 1)[-1].rsplit(".", 1)[-1]
    number = value.value
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    return repr(number)


def _converted(form: NormalForm, op: Op) -> Reference:
    operands: list[Reference] = [_moved(form, a) for a in op.arguments]
    name = op.name
    if name in ("reshape", "view") and any(
        isinstance(o, Const) and o.symbol and o.symbol.startswith("torch:") for o in operands[1:]
    ):
        name = "bitcast"
    if name == "div" and any(_is_path(form, operand) for operand in operands):
        name = "os.path.join"
    skeleton = _skeleton(form, name, operands)
    if skeleton is not None:
        return form.add("format", skeleton, op.line)
    for key, value in op.keywords:
        if key not in DROPPED_KEYWORDS:
            moved = _moved(form, value)
            operands.append(form.add(f"{key}=", [moved], op.line))
    if name == "getattr" and operands[1:] and isinstance(operands[1], Const):
        attribute = operands[1].value
        if attribute == "shape":
            return form.add("shape", operands[:1], op.line)
        if attribute in ("T", "mT"):
            return form.add("t", operands[:1], op.line)
    if name == "getitem" and len(operands) == 2 and isinstance(operands[0], int):
        base = form.nodes[operands[0]]
        if base.op == "shape" and len(base.operands) == 1:
            return form.add("shape", [*base.operands, operands[1]], op.line)
    return form.add(name, operands, op.line)


_PATH = re.compile(r"(^|_)(path|dir|directory|file|filename|folder|root|tmpdir)$", re.IGNORECASE)


def _is_path(form: NormalForm, operand: Reference) -> bool:
    """True for text, and for what is joined or named as paths are."""
    if isinstance(operand, Const) and isinstance(operand.value, str):
        return True
    if isinstance(operand, int):
        return form.nodes[operand].op in ("os.path.join", "format", "Path")
    return bool(_PATH.search(leaf_text(operand)))


def _moved(form: NormalForm, value: Reference) -> Reference:
    return form.moved[value] if isinstance(value, int) else value


def _skeleton(form: NormalForm, name: str, operands: list[Reference]) -> list[Reference] | None:
    """f-string, `%`, `.format` and `+` with text as one list of literal and filled parts."""
    if name == "format" and operands and isinstance(operands[0], Const):
        first = operands[0].value
        if isinstance(first, str) and "{" in first and len(operands) > 1:
            return _filled(re.split(r"\{[^{}]*\}", first), operands[1:])
    if name == "mod" and isinstance(operands[0], Const) and isinstance(operands[0].value, str):
        values: list[Reference] = [operands[1]]
        if isinstance(operands[1], int) and form.nodes[operands[1]].op == "tuple":
            values = list(form.nodes[operands[1]].operands)
        return _filled(re.split(r"%[-#0-9.]*[a-zA-Z]", operands[0].value), values)
    if name == "add" and any(isinstance(o, Const) and isinstance(o.value, str) for o in operands):
        parts: list[Reference] = []
        for operand in operands:
            node = form.nodes[operand] if isinstance(operand, int) else None
            parts += node.operands if node is not None and node.op == "format" else [operand]
        return parts
    return None


def _filled(texts: list[str], values: list[Reference]) -> list[Reference]:
    parts: list[Reference] = []
    for text, value in itertools.zip_longest(texts, values):
        if text:
            parts.append(Const(text))
        if value is not None:
            parts.append(value)
    return parts
