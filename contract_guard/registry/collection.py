"""What pytest collects from a file, with the test methods that classes inherit from elsewhere."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contract_guard.facts.model import ClassFacts, ModuleFacts
from contract_guard.findings import TestsLost
from contract_guard.registry.index import Registry
from contract_guard.registry.module import Module

_MAX_BASES = 50


class Collected(NamedTuple):
    """A test function: its node id without brackets, how many tests it is, and whether that
    number is exact or a lower bound. `ids` are node ids with brackets, where they are certain."""

    node: str
    cases: int
    exact: bool
    ids: tuple[str, ...] = ()


def total(tests: Iterable[Collected]) -> TestsLost | None:
    """All of the tests together, None for none."""
    tests = list(tests)
    if not tests:
        return None
    return TestsLost(
        count=sum(test.cases for test in tests),
        exact=all(test.exact for test in tests),
        ids=tuple(node for test in tests for node in (test.ids or (test.node,))),
    )


class Collection:
    """Tests by file, memoised."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._tests: dict[str, tuple[Collected, ...]] = {}
        # Most findings of a broken project lose the same tests: one value for all of them.
        self._lost: dict[tuple[str, ...], TestsLost | None] = {}

    def tests(self, path: str) -> tuple[Collected, ...]:
        """The tests of a test module; none for any other file."""
        found = self._tests.get(path)
        if found is None:
            facts = self._registry.tree.files.get(path)
            if isinstance(facts, ModuleFacts) and self._registry.layout.is_test_module(path):
                found = tuple(self._collect(path, facts))
            else:
                found = ()
            self._tests[path] = found
        return found

    def lost(self, paths: Iterable[str]) -> TestsLost | None:
        """All tests of these files together, None where there are none."""
        files = tuple(paths)
        if files not in self._lost:
            self._lost[files] = total(test for path in files for test in self.tests(path))
        return self._lost[files]

    def _collect(self, path: str, facts: ModuleFacts) -> Iterator[Collected]:
        own: set[str] = set()
        for test in facts.pytest.tests:
            own.add(test.qualname)
            node = f"{path}::{test.qualname.replace('.', '::')}"
            ids = tuple(f"{node}[{case}]" for case in test.ids)
            yield Collected(node, test.cases, test.exact, ids)
        module = self._registry.module(path)
        for found in facts.classes:
            if found.bases and facts.scopes[found.scope].parent == 0:
                yield from self._inherited(path, module, found, own)

    def _inherited(
        self, path: str, module: Module, found: ClassFacts, own: set[str]
    ) -> Iterator[Collected]:
        lineage = list(self._lineage(module, found))
        if all(base_module is module for base_module, _ in lineage):
            return
        is_unittest = any(
            b.rpartition(".")[2].endswith("TestCase") for _, c in lineage for b in c.bases
        )
        if not is_unittest and not found.name.startswith("Test"):
            return
        seen: set[str] = set()
        for base_module, base in lineage:
            for member in base.members:
                if member.name in seen:
                    continue
                seen.add(member.name)
                qualname = f"{found.name}.{member.name}"
                if (
                    member.kind == "function"
                    and member.name.startswith("test")
                    and qualname not in own
                ):
                    cases, exact = _size(base_module, base, member.name, member.decorators)
                    yield Collected(f"{path}::{found.name}::{member.name}", cases, exact)

    def _lineage(self, module: Module, found: ClassFacts) -> Iterator[tuple[Module, ClassFacts]]:
        """The class and its known bases, in an order close to that of Python's lookup."""
        members = self._registry.members
        queue: list[tuple[Module, ClassFacts]] = [(module, found)]
        seen: set[int] = set()
        while queue and len(seen) < _MAX_BASES:
            here, facts = queue.pop(0)
            if id(facts) in seen:
                continue
            seen.add(id(facts))
            yield here, facts
            for base in facts.bases:
                chain = members.resolve(here, base) if base else None
                if chain is None or chain.depth != base.count(".") + 1:
                    continue
                for target in chain.found.targets[:1]:
                    queue.extend((t.module, c) for t, c in members.classes(target))


def _size(
    module: Module, base: ClassFacts, method: str, decorators: tuple[str, ...]
) -> tuple[int, bool]:
    """How many tests an inherited method is, and whether that is exact."""
    for test in module.facts.pytest.tests if module.facts else ():
        if test.qualname == f"{base.name}.{method}":
            return test.cases, test.exact
    return 1, not any(decorator.endswith("parametrize") for decorator in decorators)
