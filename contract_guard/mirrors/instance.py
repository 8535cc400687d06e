"""Whether an expected value is, operation by operation, an expression of production.

The value is taken as a pattern: its inputs stand for anything, each for the same thing throughout.
"""

from collections.abc import Iterator, Mapping
from itertools import permutations

from contract_guard.mirrors.equivalences import FLAT, SYMMETRIC
from contract_guard.mirrors.model import Const, Reference
from contract_guard.mirrors.normal_form import NormalForm
from contract_guard.mirrors.operations import COMPOSITE, COMPUTING, words
from contract_guard.mirrors.weights import Graphs, leaves_of

_LAYOUT = words("reshape unsqueeze squeeze flatten ravel transpose t expand broadcast_to slice")
_COUNTED = COMPUTING | words("and or xor")
_ORDERED = 4  # operands of a commutative operation that are tried in every order
_TRIED = 2000  # pairs of values that are compared for one expected value
_NUMBER = "#"  # begins what is bound for a number; inputs and digests begin otherwise
_Bound = Mapping[str, str]


def operations_of_instance(test: Graphs, root: Reference, production: Graphs) -> int:
    """How many operations the value `root` of a test has, if all of it is an expression of
    production; 0 if it is not. A number may stand where production computes or is given one, for
    every second operation at most: `2 * a + 1` is no copy of `x * y + z`."""
    comparison = _Comparison(test, production)
    root = comparison.bare(root, test.form)
    if not isinstance(root, int) or root not in test.nodes:
        return 0
    op = test.form.nodes[root].op
    count = comparison.count(root)
    for index, node in enumerate(production.form.nodes):
        if node.op == op and any(
            2 * sum(name.startswith(_NUMBER) for name in bound) <= count
            for bound in comparison.same(root, index, {})
        ):
            return count
    return 0


class _Comparison:
    def __init__(self, test: Graphs, production: Graphs) -> None:
        self._test = test
        self._production = production.form
        self._left = _TRIED

    def same(self, value: Reference, other: Reference, bound: _Bound) -> Iterator[_Bound]:
        """The ways in which a test's value is one of production."""
        self._left -= 1
        if self._left < 0:
            return
        form, there = self._test.form, self._production
        value, other = self.bare(value, form), self.bare(other, there)
        if isinstance(value, Const) or (
            isinstance(value, int) and form.nodes[value].number is not None
        ):
            known = self._is_number_of(value, other)
            if known is not None:
                yield bound if known else {**bound, f"{_NUMBER}{len(bound)}": ""}
        elif isinstance(value, str) or value not in self._test.nodes:
            # An input of the test, or what production gave it.
            name, what = form.digest(value), there.digest(other)
            if not isinstance(other, Const) and bound.get(name, what) == what:
                yield {**bound, name: what}
        elif isinstance(other, int):
            here, node = form.nodes[value], there.nodes[other]
            if here.op == node.op and len(here.operands) == len(node.operands):
                is_free = here.op in FLAT or here.op in SYMMETRIC
                orders = [node.operands]
                if is_free and len(node.operands) <= _ORDERED:
                    orders = list(permutations(node.operands))
                for order in orders:
                    yield from self._all(here.operands, order, bound)

    def _all(
        self, values: tuple[Reference, ...], others: tuple[Reference, ...], bound: _Bound
    ) -> Iterator[_Bound]:
        if not values:
            yield bound
            return
        for known in self.same(values[0], others[0], bound):
            yield from self._all(values[1:], others[1:], known)

    def _is_number_of(self, value: Const | int, other: Reference) -> bool | None:
        """True for the same constant, False for a number where production computes or is given
        one, None for anything else."""
        form, there = self._test.form, self._production
        number = value if isinstance(value, Const) else Const(form.nodes[value].number)
        if isinstance(other, str):
            return False
        if isinstance(other, int):
            known = there.nodes[other].number
            return False if known is None else True if known == number.value else None
        shared = set(leaves_of("", number)).intersection(leaves_of("", other))
        return True if shared else None

    def bare(self, value: Reference, form: NormalForm) -> Reference:
        """A value without what only lays it out anew."""
        while isinstance(value, int) and form.nodes[value].op in _LAYOUT:
            operands = form.nodes[value].operands
            if not operands:
                break
            value = operands[0]
        return value

    def count(self, root: int) -> int:
        """The operations that compute below a value; a sum of three counts as two."""
        nodes = self._test.form.nodes
        seen: set[int] = set()
        stack: list[Reference] = [root]
        found = 0
        while stack:
            value = stack.pop()
            if not isinstance(value, int) or value in seen or value not in self._test.nodes:
                continue
            seen.add(value)
            node = nodes[value]
            if node.number is not None:
                continue
            if node.op in COMPOSITE:
                found += 2
            elif node.op in _COUNTED:
                found += len(node.operands) - 1 if node.op in FLAT else 1
            elif node.op == "format":
                found += sum(not isinstance(operand, Const) for operand in node.operands)
            stack += node.operands
        return found
