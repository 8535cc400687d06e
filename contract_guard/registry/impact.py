"""What fails when the import of a module fails: the import graph at import time.

A failure is carried by imports that run while the importer is imported and whose error nothing
catches, from a package to the modules in it, from a conftest.py to the tests below it, and from
a plugin to the files that name it in `pytest_plugins`.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from contract_guard.facts.model import Import, ModuleFacts
from contract_guard.findings import TestsLost
from contract_guard.registry import guards
from contract_guard.registry.collection import Collection
from contract_guard.registry.guards import ERRORS, Error
from contract_guard.registry.index import Registry
from contract_guard.registry.layout import is_below, is_conftest, key_of, parent
from contract_guard.registry.module import Module


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
    errors: tuple[Error, ...] = ERRORS  # those that pass


def import_graph(registry: Registry) -> "ImportGraph":
    """The graph of a registry, made once for it and all parts of it."""
    found = registry.kept.get(ImportGraph)
    if not isinstance(found, ImportGraph):
        found = registry.kept[ImportGraph] = ImportGraph(registry.whole)
    return found


class ImportGraph:
    """Which files cannot be imported when one cannot. Answers are kept; only files that may import
    the one that is asked for are looked at."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._mentions: _Mentions | None = None
        self._importers: dict[str, list[_Edge]] = {}
        self._leading: dict[str, list[tuple[str, _Edge]]] = {}
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

    def reached(self, path: str, error: Error = "ImportError") -> Set[str]:
        """The files that cannot be imported if importing the file raises `error`, with itself."""
        return self._came_by(path, error).keys()

    def _spread(self, path: str, error: Error) -> Iterator[Failure]:
        came_by = self._came_by(path, error)
        for reached in sorted(came_by):
            if self._registry.layout.is_test_module(reached):
                yield Failure(reached, _chain(came_by, reached))

    def _came_by(self, path: str, error: Error) -> dict[str, tuple[str, Link] | None]:
        """Each file that fails with one, with the file that it fails by and the link to it."""
        came_by: dict[str, tuple[str, Link] | None] = {path: None}
        queue = deque([path])
        while queue:
            here = queue.popleft()
            for link, errors in self.importers(here):
                if link.path not in came_by and error in errors:
                    came_by[link.path] = (here, link)
                    queue.append(link.path)
        return came_by

    def importers(self, path: str) -> Sequence["_Edge"]:
        """The places that fail with the file, in the order of paths and lines."""
        found = self._importers.get(path)
        if found is None:
            if self._mentions is None:
                self._mentions = _Mentions(self._registry)
            found = self._importers[path] = [
                edge
                for other in self._mentions.of(self._registry.module(path))
                for source, edge in self._edges(other)
                if source == path and edge.link.path != path
            ]
        return found

    def _edges(self, path: str) -> list[tuple[str, "_Edge"]]:
        """What the file fails with, each with the file that fails first."""
        found = self._leading.get(path)
        if found is None:
            facts = self._registry.tree.files[path]
            assert isinstance(facts, ModuleFacts)
            module = self._registry.module(path)
            found = self._leading[path] = [
                *(edge for imp in facts.imports for edge in self._by_import(module, facts, imp)),
                *self._by_package(module),
                *self._by_pytest(path, facts),
            ]
        return found

    def _by_import(
        self, module: Module, facts: ModuleFacts, imp: Import
    ) -> Iterator[tuple[str, "_Edge"]]:
        errors = _passing(facts, imp)
        if not errors:
            return
        span = imp.statement
        for loaded in self._loaded(module, imp):
            if loaded.tree == 0 and loaded.path:
                link = Link(module.path, span.line, max(span.end_line, span.line), loaded.name)
                yield loaded.path, _Edge(link, errors)

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

    def _by_package(self, module: Module) -> Iterator[tuple[str, "_Edge"]]:
        """Importing a module runs the packages above it first."""
        if not module.key or not module.path:
            return
        above = self._registry.modules.get(0, parent(module.key))
        if above is not None and above.kind == "package" and above.path != module.path:
            yield above.path, _Edge(Link(module.path, 0, 0, above.name))

    def _by_pytest(self, path: str, facts: ModuleFacts) -> Iterator[tuple[str, "_Edge"]]:
        registry = self._registry
        if registry.layout.is_test_module(path) or is_conftest(path):
            for conftest in registry.layout.conftests(path):
                yield conftest, _Edge(Link(path, 0, 0, registry.module(conftest).name))
        for plugin in facts.pytest.plugins:
            located = registry.modules.locate(registry.module(path), plugin)
            for module in located.modules[:1]:
                if module.tree == 0 and module.path:
                    yield module.path, _Edge(Link(path, 0, 0, module.name))


class _Mentions:
    """The files that may import a module, told by its name: all others certainly do not."""

    def __init__(self, registry: Registry) -> None:
        self._by_name: dict[str, list[int]] = {}
        # `from . import a` and `from a import *` load modules that they do not name.
        self._unnamed: list[int] = []
        self._below: dict[str, list[int]] = {}
        self._paths: list[str] = []
        for number, (path, facts) in enumerate(registry.whole.facts()):
            self._paths.append(path)
            names = {imp.module.rpartition(".")[2] for imp in facts.imports}
            names.update(imp.name for imp in facts.imports if imp.name is not None)
            if facts.pytest.plugins or not names.isdisjoint(("", "*", "__init__")):
                self._unnamed.append(number)
            for name in names:
                self._by_name.setdefault(name, []).append(number)
            self._below.setdefault(parent(key_of(path)), []).append(number)

    def of(self, module: Module) -> Iterator[str]:
        """Paths in order."""
        found = {*self._unnamed, *self._by_name.get(module.key.rpartition("/")[2], ())}
        if is_conftest(module.path):
            directory = parent(module.path)
            found.update(n for n, path in enumerate(self._paths) if is_below(path, directory))
        elif module.kind == "package":
            found.update(self._below.get(module.key, ()))
        return (self._paths[number] for number in sorted(found))


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


def _chain(came_by: Mapping[str, tuple[str, Link] | None], path: str) -> tuple[Link, ...]:
    links: list[Link] = []
    step = came_by[path]
    while step is not None:
        links.append(step[1])
        step = came_by[step[0]]
    return tuple(reversed(links))
