"""What production says now to what the search in a test file asked of it."""

import hashlib
from collections.abc import Iterator

import msgspec

from contract_guard.mirrors.asked import Asked, Named
from contract_guard.mirrors.search import Search
from contract_guard.mirrors.subject import FAR

_encode = msgspec.msgpack.Encoder().encode


def answers(search: Search, path: str, asked: Asked) -> bytes:
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


def _known_as(search: Search, number: int) -> tuple[str, str]:
    path, function = search.index.entries[number]
    return path, function.qualname


def _distances(search: Search, path: str, named: Named) -> Iterator[object]:
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
