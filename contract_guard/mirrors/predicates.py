"""Conditions over named constants of production, on both sides: the mask that a test rebuilds."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from contract_guard.mirrors.equivalences import FLAT, SYMMETRIC
from contract_guard.mirrors.model import UNRESOLVED, Const, Op, Reference
from contract_guard.mirrors.normal_form import NormalForm, leaf_text

_COMPARING = frozenset({"eq", "ne", "lt", "le", "in", "not_in"})
_JOINING = frozenset({"and", "or", "not"})
_MEMBERSHIP = frozenset({"in", "not_in"})
_LISTS = frozenset({"list", "tuple", "set"})


@dataclass(frozen=True, slots=True)
class NamedPredicate:
    """A condition with its subject left out: `or(eq(PAD), eq(SENTINEL))`. `names` are the
    constants in it, `line` is where it stands, `node` its index in the normal form."""

    shape: str
    names: frozenset[str]
    line: int
    node: int


def named_predicates(form: NormalForm, constants: frozenset[str]) -> Iterator[NamedPredicate]:
    """The largest conditions over at least one of `constants` (names of constants)."""
    inner: set[int] = set()
    found: dict[int, NamedPredicate] = {}
    for index, node in enumerate(form.nodes):
        if node.op not in _COMPARING and node.op not in _JOINING:
            continue
        names = frozenset(_names(form, index)) & constants
        if not names:
            continue
        inner.update(o for o in node.operands if isinstance(o, int) and node.op in _JOINING)
        found[index] = NamedPredicate(_shape(form, index), names, node.line, index)
    for index, predicate in found.items():
        if index not in inner:
            yield predicate


def masks(ops: Sequence[Op], needed: Iterable[int]) -> frozenset[int]:
    """Those of `needed` whose value is used as data: not only as the test of a branch."""
    used: set[int] = set()
    for index in needed:
        op = ops[index]
        arguments = op.arguments[1:] if op.name == "ifelse" else op.arguments
        if op.name != "if":
            used.update(a for a in arguments if isinstance(a, int))
            used.update(a for _, a in op.keywords if isinstance(a, int))
    return frozenset(used)


def production_constants(ops: Iterable[Op], packages: frozenset[str]) -> dict[str, str]:
    """Constants of production that ops name: upper-case name -> symbol."""
    found: dict[str, str] = {}
    for op in ops:
        for value in (*op.arguments, *(v for _, v in op.keywords)):
            if isinstance(value, Const) and value.value is UNRESOLVED and value.symbol:
                module, _, qualname = value.symbol.partition(":")
                name = qualname.rsplit(".", 1)[-1]
                if name.isupper() and len(name) > 2 and module.split(".", 1)[0] in packages:
                    found[name] = value.symbol
    return found


def _names(form: NormalForm, root: int) -> Iterator[str]:
    stack: list[Reference] = [root]
    while stack:
        value = stack.pop()
        if isinstance(value, Const):
            if value.symbol:
                yield _name(value)
        elif isinstance(value, int):
            node = form.nodes[value]
            if node.op in _MEMBERSHIP:
                stack += [o for o in node.operands if not _is_list(form, o)]
                stack += _members(form, node.operands[-1])
            elif value == root or node.op in _COMPARING | _JOINING | {"add", "sub"}:
                stack += node.operands


def _shape(form: NormalForm, value: Reference, *, is_set: bool = False) -> str:
    """A condition as text, `_` for the subject and everything else that is no constant. Constants
    stand by name where they have one: the other side may not know the value."""
    if isinstance(value, Const):
        return _name(value)
    if isinstance(value, str):
        return "_"
    node = form.nodes[value]
    if node.op in _LISTS and is_set:
        parts = sorted(_shape(form, operand) for operand in node.operands)
        return f"set({', '.join(parts)})"
    if node.op in _COMPARING or node.op in _JOINING or node.op in ("add", "sub"):
        within = node.op in _MEMBERSHIP
        parts = [
            _shape(form, operand, is_set=within and at == len(node.operands) - 1)
            for at, operand in enumerate(node.operands)
        ]
        if node.op in FLAT or node.op in SYMMETRIC:
            parts.sort()
        if any(part != "_" for part in parts):
            return f"{node.op}({', '.join(parts)})"
    return "_"


def _name(value: Const) -> str:
    return value.symbol.rsplit(":", 1)[-1].rsplit(".", 1)[-1] if value.symbol else leaf_text(value)


def _is_list(form: NormalForm, value: Reference) -> bool:
    return isinstance(value, int) and form.nodes[value].op in _LISTS


def _members(form: NormalForm, value: Reference) -> tuple[Reference, ...]:
    return form.nodes[value].operands if isinstance(value, int) and _is_list(form, value) else ()
