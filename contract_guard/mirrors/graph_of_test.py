"""What a test computes, as the search compares it with production."""

from collections.abc import Iterable
from dataclasses import dataclass

from contract_guard.mirrors.evidence import Compared
from contract_guard.mirrors.expected import form_of, is_expected
from contract_guard.mirrors.index import Rarity
from contract_guard.mirrors.model import Reference
from contract_guard.mirrors.normal_form import NormalForm, normal_form
from contract_guard.mirrors.operations import ACCESS, COMPUTING, words
from contract_guard.mirrors.routines import own_routines
from contract_guard.mirrors.slice import is_literal
from contract_guard.mirrors.trace import Trace
from contract_guard.mirrors.weights import Graphs, weigh

_LAYOUT = words("reshape view expand broadcast_to")
_MOVING = words("permute transpose movedim t")


@dataclass(frozen=True, slots=True)
class TestGraph:
    """What a test computes: its trace, in normal form, and the nodes of each compared value.

    `groups` pairs the form of the assertion with the nodes. Where the test never calls
    production, the other side of each assertion is a group too: it can only be a copy. `actuals`
    are the other sides and `lines` the places of the assertions, one for each group.
    """

    __test__ = False

    trace: Trace
    form: NormalForm
    graphs: Graphs
    groups: tuple[tuple[str, frozenset[int]], ...]
    calls_production: bool
    actuals: tuple[Reference | None, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def values(self) -> list[Compared]:
        """The nodes of each compared value, and where it is compared."""
        groups = zip(self.groups, self.lines, strict=True)
        return [Compared(nodes, line) for (_, nodes), line in groups]

    def has_library_function(self, name: str) -> bool:
        """True if a library's function of that name takes part in what is expected: an oracle."""
        graph = self.trace.graph
        return any(
            op.name.rsplit(".", 1)[-1] == name and index not in graph.produced
            for index, op in enumerate(graph.ops)
        )


def graph_of(traced: Trace, rarity: Rarity) -> TestGraph | None:
    """The graph of a test that was run, None if it compares nothing but literals."""
    graph = traced.graph
    calls_production = bool(graph.produced)
    form = normal_form(graph.ops, graph.aliases)
    computed = [e for e in traced.expectations if not is_literal(e, traced)]
    compared = [e for e in computed if is_expected(e, graph, calls_production=calls_production)]
    groups = [(form_of(e, graph), _reachable(form, e.value)) for e in compared]
    actuals = [e.actual for e in compared]
    lines = [e.line for e in compared]
    if not calls_production:
        both = [e for e in traced.expectations if isinstance(e.actual, int)]
        groups += [(e.form, _reachable(form, e.actual)) for e in both if e.actual is not None]
        actuals += [e.value for e in both]
        lines += [e.line for e in both]
    if not groups and not computed:
        return None
    wanted = sorted(frozenset[int]().union(*(nodes for _, nodes in groups)))
    produced = _from_production(form, traced)
    graphs = weigh(form, wanted, rarity, produced, own_routines(traced, form))
    return TestGraph(
        traced, form, graphs, tuple(groups), calls_production, tuple(actuals), tuple(lines)
    )


def _from_production(form: NormalForm, traced: Trace) -> frozenset[int]:
    """Nodes that production computed, and what is only read out of these: the name of a call, or
    of a field of its result, is no sign of a copy."""
    graph = traced.graph
    given = set(graph.produced)
    for index, op in enumerate(graph.ops):
        if op.name in ACCESS and op.arguments and op.arguments[0] in given:
            given.add(index)
    moved = (form.moved[index] for index in given)
    return frozenset(node for node in moved if isinstance(node, int))


def _reachable(form: NormalForm, root: Reference) -> frozenset[int]:
    """The nodes of a value. Where nothing is computed but the sizes that it is laid out by, these
    are no part of it, unless its elements are moved: then the sizes say where each one goes."""
    within = _below(form, root, laid_out=True)
    ops = [form.nodes[index].op for index in sorted(within)]
    if _is_shuffled(ops) or any(op in COMPUTING for op in ops):
        return _below(form, root, laid_out=False)
    return within


def _is_shuffled(ops: Iterable[str]) -> bool:
    """True where axes change places between two layouts: splitting into patches and the like.
    `ops` are in the order of computation."""
    steps = iter(ops)
    return all(any(op in kind for op in steps) for kind in (_LAYOUT, _MOVING, _LAYOUT))


def _below(form: NormalForm, root: Reference, *, laid_out: bool) -> frozenset[int]:
    found: set[int] = set()
    stack = [form.moved[root] if isinstance(root, int) else root]
    while stack:
        value = stack.pop()
        if isinstance(value, int) and value not in found:
            found.add(value)
            node = form.nodes[value]
            stack += node.operands[:1] if laid_out and node.op in _LAYOUT else node.operands
    return frozenset(found)
