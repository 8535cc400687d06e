"""What fails when the import of a module fails: the import graph at import time.

A failure is carried by imports that run while the importer is imported and whose error nothing
catches, from a package to the modules in it, from a conftest.py to the tests below it, and from
a plugin to the files that name it in `pytest_plugins`.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from contract_guard.facts.model import Import, ModuleFacts
from contract_guard.findings import TestsLost
from contract_guard.registry import guards
from contract_guard.registry.collection import Collection
from contract_guard.registry.guards import ERRORS, Error
from contract_guard.registry.index import Registry
from contract_guard.registry.layout import parent
from contract_guard.registry.modules import Module


class Link(NamedTuple):
    """A place that carries a failure on: the import on `line` of `path`, of module `symbol`.

    `line` is 0 where no statement does: a package above a module, a conftest above a test.
    """

    path: str
    line: int
    end_line: int
    symbol: str


class Failure(NamedTuple):
    """A test module that cannot be collected, with the links from the broken file to it; none
    where the test module itself is the broken one."""

    path: str
    chain: tuple[Link, ...]


class _Edge(NamedTuple):
    link: Link
    errors: tuple[Error, ...]  # those that pass


def import_graph(registry: Registry) -> "ImportGraph":
    """The graph of a registry, made once for it and all parts of it."""
    found = registry.kept.get(ImportGraph)
    if not isinstance(found, ImportGraph):
        found = registry.kept[ImportGraph] = ImportGraph(registry.whole)
    return found


class ImportGraph:
    """Which files cannot be imported when one cannot. Built on first use, answers are kept."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._importers: dict[str, list[_Edge]] | None = None
        self._failures: dict[tuple[str, Error], tuple[Failure, ...]] = {}
        self.collection = Collection(registry)

    def failures(self, path: str, error: Error = "ImportError") -> tuple[Failure, ...]:
        """Test modules that cannot be collected if importing the file raises `error`, sorted by
        path, each with a shortest chain of imports that leads to it."""
        key = (path, error)
        found = self._failures.get(key)
        if found is None:
            found = self._failures[key] = tuple(self._spread(path, error))
        return found

    def lost(self, path: str, error: Error = "ImportError") -> TestsLost | None:
        """The tests that vanish if importing the file raises `error`; None where none do."""
        return self.collection.lost(failure.path for failure in self.failures(path, error))

    def _spread(self, path: str, error: Error) -> Iterator[Failure]:
        importers = self._edges()
        came_by: dict[str, tuple[str, Link] | None] = {path: None}
        queue = deque([path])
        while queue:
            here = queue.popleft()
            for link, errors in importers.get(here, ()):
                if link.path not in came_by and error in errors:
                    came_by[link.path] = (here, link)
                    queue.append(link.path)
        for reached in sorted(came_by):
            if self._registry.layout.is_test_module(reached):
                yield Failure(reached, _chain(came_by, reached))

    def _edges(self) -> dict[str, list[_Edge]]:
        if self._importers is None:
            self._importers = {}
            for path, facts in self._registry.whole.facts():
                module = self._registry.module(path)
                for imp in facts.imports:
                    self._add_import(module, facts, imp)
                self._add_package(module)
                self._add_pytest(path, facts)
        return self._importers

    def _add(self, source: str, link: Link, errors: tuple[Error, ...] = ERRORS) -> None:
        if self._importers is not None and source != link.path:
            self._importers.setdefault(source, []).append(_Edge(link, errors))

    def _add_import(self, module: Module, facts: ModuleFacts, imp: Import) -> None:
        errors = _passing(facts, imp)
        if not errors:
            return
        span = imp.statement
        for loaded in self._loaded(module, imp):
            if loaded.tree == 0 and loaded.path:
                link = Link(module.path, span.line, max(span.end_line, span.line), loaded.name)
                self._add(loaded.path, link, errors)

    def _loaded(self, module: Module, imp: Import) -> Iterator[Module]:
        """The modules that an import statement loads, without the packages above them."""
        modules = self._registry.modules
        for source in modules.locate_import(module, imp).modules[:1]:
            yield source
            names: Iterable[str] = ()
            if imp.name == "*":
                names = (source.facts.exports or ()) if source.facts else ()
            elif imp.name is not None:
                names = (imp.name,)
            for name in names:
                child = modules.child(source, name)
                if child is not None and any(
                    target.module is child and target.binding is None
                    for target in self._registry.names.find(source, name).targets
                ):
                    yield child

    def _add_package(self, module: Module) -> None:
        """Importing a module runs the packages above it first."""
        if not module.key or not module.path:
            return
        above = self._registry.modules.get(0, parent(module.key))
        if above is not None and above.kind == "package" and above.path != module.path:
            self._add(above.path, Link(module.path, 0, 0, above.name))

    def _add_pytest(self, path: str, facts: ModuleFacts) -> None:
        registry = self._registry
        if registry.layout.is_test_module(path) or path.rpartition("/")[2] == "conftest.py":
            for conftest in registry.layout.conftests(path):
                self._add(conftest, Link(path, 0, 0, registry.module(conftest).name))
        for plugin in facts.pytest.plugins:
            located = registry.modules.locate(registry.module(path), plugin)
            for module in located.modules[:1]:
                if module.tree == 0 and module.path:
                    self._add(module.path, Link(path, 0, 0, module.name))


def _passing(facts: ModuleFacts, imp: Import) -> tuple[Error, ...]:
    """The errors of the imported module that make the importer fail too."""
    if not guards.runs_at_import(facts, imp.scope, imp.guard):
        return ()
    if imp.form == "importorskip":
        passing: tuple[Error, ...] = ("AttributeError", "TypeError")  # it skips on the others
        return tuple(error for error in passing if not guards.caught(facts, imp.guard, error))
    if imp.guard < 0:
        return ERRORS
    return tuple(error for error in ERRORS if not guards.caught(facts, imp.guard, error))


def _chain(came_by: dict[str, tuple[str, Link] | None], path: str) -> tuple[Link, ...]:
    links: list[Link] = []
    step = came_by[path]
    while step is not None:
        links.append(step[1])
        step = came_by[step[0]]
    return tuple(reversed(links))
