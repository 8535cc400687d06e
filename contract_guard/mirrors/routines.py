"""Routines of libraries by which a test computes what it expects, and production does not.

An expected value that goes through one is known some other way, whatever is done to it before and
after: a confusion matrix of another library, one decomposition of all data beside a running one.
"""

from contract_guard.mirrors.graph import Graph
from contract_guard.mirrors.normal_form import NormalForm
from contract_guard.mirrors.operations import RANDOM, words
from contract_guard.mirrors.trace import Trace

# Where routines are that compute as a whole; elementary operations have no module in their name.
_COMPUTE = words(
    """linalg fft special scipy sklearn statsmodels skimage jax tensorflow torchvision networkx cv2
    sympy cupy"""
)


def own_routines(traced: Trace, form: NormalForm) -> frozenset[int]:
    """The nodes of library routines whose result a test keeps to itself: what production is
    given takes no part in any comparison of two ways."""
    graph = traced.graph
    given = set(traced.reachable(_given(graph)))
    own = {
        index
        for index, op in enumerate(graph.ops)
        if index not in given and index not in graph.produced and is_routine(op.name)
    }
    return frozenset(node for index in own if isinstance(node := form.moved[index], int))


def is_routine(name: str) -> bool:
    """True for a function of a library by its dotted name: `linalg.svd`, not `nn.Linear`."""
    root, *inner = name.split(".")
    return (
        bool(inner)
        and root in _COMPUTE
        and inner[-1] not in RANDOM
        and not any(part[:1].isupper() for part in inner)
    )


def _given(graph: Graph) -> list[int]:
    """What production is called with."""
    return [
        value
        for index in graph.produced
        for value in (
            *graph.ops[index].arguments,
            *(value for _, value in graph.ops[index].keywords),
        )
        if isinstance(value, int)
    ]
