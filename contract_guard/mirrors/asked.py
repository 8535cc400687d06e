"""What the search in one test file asked of production: its result holds as long as the answers do.

Everything that the search takes from outside the test file goes through `Search` and is noted
here, or is among what `answers` gives for every file.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from contract_guard.mirrors.subject import FAR, Ways

if TYPE_CHECKING:
    from contract_guard.mirrors.search import Search

_encode = msgspec.msgpack.Encoder().encode
Function = tuple[str, int]  # qualified name and first line


@dataclass(frozen=True, slots=True)
class Named:
    """Which functions the names in assertions of `test` stand for was asked, and how far from
    these `entries` of file `path` are; for "" which are the nearest.

    `builders` are the functions of that file that set a field, by its name: they follow from its
    bytes.
    """

    test: Function
    path: str
    ways: Ways
    builders: dict[str, list[Function]] = field(default_factory=dict[str, list[Function]])
    entries: set[Function] = field(default_factory=set[Function])


@dataclass(frozen=True, slots=True)
class Asked:
    """`opened` are files of production of which functions were read, `weights` the fragments whose
    weight counted, `constants` the names of which the functions that compare them were asked."""

    opened: set[str] = field(default_factory=set[str])
    weights: set[str] = field(default_factory=set[str])
    constants: set[str] = field(default_factory=set[str])
    named: list[Named] = field(default_factory=list[Named])

    def of(self, test: Function, path: str, ways: Ways) -> Named:
        """The entry of this question, a new one if it was not asked before."""
        for known in reversed(self.named):
            if known.test != test:
                break
            if known.path == path and known.ways == ways:
                return known
        new = Named(test, path, ways)
        self.named.append(new)
        return new


def answers(search: "Search", path: str, asked: Asked) -> bytes:
    """What production says to all that was asked for a test file, as a digest: for as long as the
    test file and those that were opened are the same."""
    index = search.index
    given = hashlib.sha256()

    def put(value: object) -> None:
        given.update(_encode(value))

    put(sorted(search.packages))
    put((bool(index.leads(path)[0]), index.imports_kernel(path)))
    put([index.rarity(fragment) for fragment in sorted(asked.weights)])
    leaves = {
        fragment.partition(">")[2] for test in search.tests_of(path) for fragment in test.fragments
    }
    put(sorted(leaves & search.compared_constants.keys()))
    for name in sorted(asked.constants):
        put([_known_as(search, number) for number in search.compared_constants.get(name, ())])
    for test in search.tests_of(path):
        put([(*_known_as(search, c.entry), c[1:]) for c in search.candidates(path, test)])
    for named in asked.named:
        for answer in _distances(search, path, named):
            put(answer)
    return given.digest()


def _known_as(search: "Search", number: int) -> tuple[str, str]:
    path, function = search.index.entries[number]
    return path, function.qualname


def _distances(search: "Search", path: str, named: Named) -> Iterator[object]:
    index = search.index
    functions = search.files[path].functions
    test = next(each for each in functions if (each.qualname, each.start) == named.test)
    if not named.path:
        for candidate in search.nearest(path, test, named.ways):
            yield (*_known_as(search, candidate.entry), candidate.reach)
        return

    def setting(field_name: str) -> list[int]:
        return [index.number(named.path, *each) for each in named.builders.get(field_name, ())]

    found = search.distances(path, test, named.ways, named.path, setting)
    yield bool(found)
    for function in sorted(named.entries):
        yield found.get(index.number(named.path, *function), FAR)
