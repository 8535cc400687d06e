"""`--contract-guard-lazy`: imports of production names that could wait for the tests that need
them, so that a name that goes takes those tests with it and not the whole module."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from contract_guard.errors import UserError
from contract_guard.facts.model import ModuleFacts
from contract_guard.plugin.project import CollectedFiles, project_of
from contract_guard.project.cache import default_directory
from contract_guard.project.snapshot import load
from contract_guard.registry.guards import fatal_at_import
from contract_guard.registry.index import Registry, build
from contract_guard.text import line_start, plural, printable

_MOST_USERS = 5


class LazyImport(NamedTuple):
    """An import at module level that only functions make use of: `users`, by qualified name. All
    `tests` of the module are lost when it fails, a lower bound unless `exact`."""

    path: str
    line: int
    symbol: str
    users: tuple[str, ...]
    tests: int
    exact: bool


def lazy_imports(registry: Registry, paths: Iterable[str]) -> Iterator[LazyImport]:
    """Those of the test modules at `paths`, in the order of the text."""
    for path in paths:
        module = registry.modules.at(path)
        if module.facts is None or not registry.layout.is_test_module(path):
            continue
        facts = module.facts
        tests = facts.pytest.tests
        for index, imp in enumerate(facts.imports):
            if imp.name in (None, "*") or not fatal_at_import(facts, imp.scope, imp.guard):
                continue
            producer = registry.resolve_import(path, imp).producer
            if producer is None or registry.layout.is_test(producer.path):
                continue
            users = _functions_that_use(facts, index)
            if users:
                yield LazyImport(
                    path,
                    imp.span.line,
                    producer.symbol,
                    users,
                    sum(test.cases for test in tests),
                    all(test.exact for test in tests),
                )


def _functions_that_use(facts: ModuleFacts, imported: int) -> tuple[str, ...]:
    """Outermost functions that name an import; () where the module's own code does, too."""
    users: dict[str, None] = {}
    for use in (*facts.loads, *facts.uses):
        if imported in use.imported:
            function = _function_around(facts, use.scope)
            if function is None:
                return ()
            users[function] = None
    return tuple(users)


def _function_around(facts: ModuleFacts, scope: int) -> str | None:
    found = None
    while scope > 0:
        record = facts.scopes[scope]
        if record.kind == "function":
            found = record.qualname
        scope = record.parent
    return found


class LazyImports(CollectedFiles):
    """Reads the collected files when the tests are done."""

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("contract guard: imports that could be lazy")
        try:
            found = self._found()
        except UserError as error:
            terminalreporter.write_line(f"could not check: {error}")
            return
        for each in found:
            place = line_start(f"{each.path}:{each.line}")
            users = ", ".join(each.users[:_MOST_USERS])
            more = ", ..." if len(each.users) > _MOST_USERS else ""
            at_least = "" if each.exact else "at least "
            terminalreporter.write_line(
                f"{place}: {printable(each.symbol)} is used in {printable(users)}{more} alone; when"
                f" it goes, {at_least}{plural(each.tests, 'test')} of the file are lost"
            )
        terminalreporter.write_line(
            "Import these where they are used, or take them from the fixture"
            ' contract_guard_symbol: contract_guard_symbol("package.module:NAME").'
            if found
            else "none"
        )

    def _found(self) -> list[LazyImport]:
        root, config = project_of(self.config)
        paths = [path.relative_to(root).as_posix() for path in self.files_below(root)]
        snapshot = load(root, config, cache_dir=default_directory())
        known = [path for path in paths if path in snapshot.tree.files]
        return list(lazy_imports(build(snapshot.tree), known))
