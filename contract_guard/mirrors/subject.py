"""What the actual side of an assertion comes from: the functions of production that it names.

A copy can only be of these, or of what they call. A neighbour of them that resembles the expected
value more (a sibling class, a sibling property) is not what the assertion checks.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import NamedTuple

from contract_guard.mirrors.graph import Graph
from contract_guard.mirrors.index import Index
from contract_guard.mirrors.model import UNRESOLVED, Const, Reference
from contract_guard.mirrors.operations import ARRAY_METHODS, words

FAR = 99  # calls away: not reached
_STEPS = 3  # calls between what an assertion names and what computes it
_MOST = 400  # functions that are followed
_OF_ARRAYS = ARRAY_METHODS | words(
    """shape dtype device data T mT real imag values iloc loc call item numpy tolist stride clone
    copy detach size ndim"""
)
_BUILT = ("__init__", "__post_init__", "__new__", "__call__", "forward")


class Name(NamedTuple):
    """A name on the way to a value; `is_call` says that it is called there."""

    text: str
    is_call: bool


Ways = tuple[tuple[Name, ...], ...]


def named(graph: Graph, actual: Reference) -> list[list[Name]]:
    """The names along each way from a value to what production made: what is read and called,
    the outermost first (`model.fit().resid` is `resid`, `fit`, `model`)."""
    found: list[list[Name]] = []
    seen: set[Reference] = set()
    stack: list[tuple[Reference, tuple[Name, ...]]] = [(actual, ())]
    while stack:
        value, names = stack.pop()
        if isinstance(value, Const):
            if value.value is UNRESOLVED and value.symbol is not None:
                dotted = value.symbol.rpartition(":")[2].split(".")
                found.append([*names, *(Name(part, False) for part in reversed(dotted))])
            continue
        if value in seen:
            continue
        seen.add(value)
        if names and not names[-1].is_call:
            found += [[Name(name, True)] for name in _done_to(value, graph)]
        if isinstance(value, str):
            dotted = value.removeprefix("$").split(".")
            found.append([*names, *(Name(part, False) for part in reversed(dotted))])
            continue
        op = graph.ops[value]
        last = op.name.rsplit(".", 1)[-1]
        if op.name == "getattr" and len(op.arguments) == 2 and isinstance(op.arguments[1], Const):
            stack.append((op.arguments[0], (*names, Name(str(op.arguments[1].value), False))))
        elif value in graph.produced:
            receiver = op.arguments[:1] if "." not in op.name else ()
            if receiver:
                stack.append((receiver[0], (*names, Name(last, True))))
            else:
                found.append([*names, Name(last, True)])
        elif op.arguments:
            stack += [(argument, names) for argument in op.arguments]
    return found


def _done_to(value: Reference, graph: Graph) -> Iterator[str]:
    """The methods called on an object for what they do to it: a field of it that is read later
    may hold what they left there."""
    for index in sorted(graph.done & graph.produced):
        op = graph.ops[index]
        if op.arguments[:1] == (value,) and "." not in op.name and op.name != "getattr":
            yield op.name


class Subjects:
    """The functions that assertions of one test name, with those that they reach.

    `calls` are the calls of the test and its helpers.
    """

    def __init__(
        self,
        index: Index,
        path: str,
        calls: Collection[str],
    ) -> None:
        self._index = index
        self._calls = calls
        self._known: dict[tuple[str, Ways], dict[int, int]] = {}
        self._near = index.reach(path, calls)
        self._classes = {name for name in calls if index.by_class.get(name)}

    def distances(
        self,
        ways: Ways,
        path: str,
        builders: Callable[[str], Collection[int]],
    ) -> Mapping[int, int]:
        """The functions of production that these names stand for, with the number of calls to
        each. Empty where none is known: then anything may be meant.

        A field that was read may be what the call before it made, so that this counts too.
        `builders` gives the functions of file `path` that set a field of a name.
        """
        key = (path, ways)
        if key not in self._known:
            self._known[key] = self._distances(ways, builders)
        return self._known[key]

    def _distances(self, ways: Ways, builders: Callable[[str], Collection[int]]) -> dict[int, int]:
        found: dict[int, int] = {}
        for names in ways:
            known = False
            for name in names:
                if known and not name.is_call:
                    continue
                resolved = list(self._resolved(name.text, builders))
                for number in resolved:
                    found.setdefault(number, 0)
                known = known or bool(resolved)
                if known and name.is_call:
                    break
        level = sorted(found)
        for step in range(1, _STEPS + 1):
            reached = {n for number in level for n in self._reached(number)}
            level = sorted(reached - found.keys())[:_MOST]
            found.update(dict.fromkeys(level, step))
        return found

    def _resolved(self, name: str, builders: Callable[[str], Collection[int]]) -> Iterator[int]:
        if name in _OF_ARRAYS:
            return
        numbers = [n for n in self._index.by_name.get(name, ()) if n in self._near]
        yield from self._of_classes(numbers)
        for number in self._index.by_class.get(name, ()):
            if self._index.lasts[number] in _BUILT:
                yield number
        if not numbers:
            yield from builders(name)

    def _of_classes(self, numbers: list[int]) -> list[int]:
        """Of methods of one name those of the classes that the test names, where it names some
        that have it; all others are of siblings."""
        own = [n for n in numbers if self._index.owners[n] in self._classes]
        return own or numbers

    def _reached(self, number: int) -> Iterator[int]:
        path, function = self._index.entries[number]
        yield from self._index.called_by(number)
        for name in function.calls:
            for target in self._index.by_class.get(name, ()):
                if self._index.lasts[target] in _BUILT:
                    yield target
            for target in self._index.by_name.get(name, ()):
                if self._index.owners[target] in self._classes:
                    yield target
        for leaf in {fragment.partition(">")[2] for fragment in function.fragments}:
            for target in self._index.by_name.get(leaf, ()):
                if self._index.entries[target].path == path:
                    yield target
