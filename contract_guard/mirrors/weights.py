"""The nodes of a function or slice with their leaves, and what each weighs as evidence."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from contract_guard.mirrors.index import Rarity
from contract_guard.mirrors.model import UNRESOLVED, Const
from contract_guard.mirrors.normal_form import Node, NormalForm, leaf_text

_TEXT = 12.0  # greatest weight of one text


@dataclass(frozen=True, slots=True)
class Weighed:
    """One node with its leaves and the rarity of its operation.

    Leaves add nothing to `weight`, the pieces of a text excepted: each side chooses its own.
    `place` is what copies of one expression share: operation, line, number of operands.
    """

    index: int
    node: Node
    leaves: frozenset[str]
    children: tuple[int, ...]
    weight: float
    place: tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class Graphs:
    """Nodes of one function or slice, by operation. `routines` are those of a test that compute
    by a library's routine what production is not given."""

    form: NormalForm
    nodes: Mapping[int, Weighed]
    routines: frozenset[int] = frozenset()

    def by_operation(self) -> dict[str, list[Weighed]]:
        found: dict[str, list[Weighed]] = {}
        for weighed in self.nodes.values():
            found.setdefault(weighed.node.op, []).append(weighed)
        return found


def weigh(
    form: NormalForm,
    wanted: Iterable[int],
    rarity: Rarity | None,
    ignored: frozenset[int] = frozenset(),
    routines: frozenset[int] = frozenset(),
) -> Graphs:
    """The nodes `wanted` with their leaves, without those `ignored`. Without `rarity` they have no
    weight: only a test's count."""
    nodes: dict[int, Weighed] = {}
    for index in wanted:
        if index in ignored:
            continue
        node = form.nodes[index]
        names: set[str] = set()
        constants: set[str] = set()
        children: list[int] = []
        for operand in node.operands:
            if isinstance(operand, int):
                children.append(operand)
                names.update(form.nodes[operand].names)
                number = form.nodes[operand].number
                if number is not None:
                    constants.add(leaf_text(Const(number)))
            else:
                (names if isinstance(operand, str) else constants).update(
                    leaves_of(node.op, operand)
                )
        # A text is what it says; an operation weighs the same whatever it is applied to, since
        # names are local choices and numbers often stand for what production takes as arguments.
        texts = constants if node.op == "format" else ()
        weight = 0.0
        if rarity is not None and node.number is None:
            weight = weight_of(node.op, texts, rarity)
        leaves = names | constants
        place = (node.op, node.line, len(node.operands))
        nodes[index] = Weighed(index, node, frozenset(leaves), tuple(children), weight, place)
    return Graphs(form, nodes, routines)


def leaves_of(op: str, operand: str | Const) -> list[str]:
    """A leaf as fragments write it: an input by its last name, a constant by value and name."""
    if op == "format" and isinstance(operand, Const):
        text = operand.value
        return [f"f:{text[:60]}"] if isinstance(text, str) and len(text) >= 4 else []
    found = [leaf_text(operand).removeprefix("$")]
    if isinstance(operand, Const) and operand.symbol and operand.value is not UNRESOLVED:
        found.append(operand.symbol.rsplit(".", 1)[-1])
    return found


def weight_of(op: str, leaves: Iterable[str], rarity: Rarity) -> float:
    """The greatest rarity among the fragments of a node; the pieces of a text add up."""
    found = [rarity(_fragment(op, leaf)) for leaf in leaves]
    return min(sum(found), _TEXT) if op == "format" else max([rarity(op), *found])


def _fragment(op: str, leaf: str) -> str:
    if leaf.startswith("f:"):
        return leaf
    return f"{op}>{leaf}"
