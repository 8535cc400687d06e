"""CG106 missing fixtures, where the project itself explains what happened to the name."""

from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches

from contract_guard.detectors import cost
from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import ModuleFacts, Test
from contract_guard.findings import Finding
from contract_guard.registry import guards
from contract_guard.registry.collection import total
from contract_guard.registry.index import Registry

_KNOWN_DECORATORS = frozenset(
    {"staticmethod", "classmethod", "patch", "object", "multiple", "dict"}
)
_CLOSE = 0.85
# Fixtures of pytest itself and of plugins that many projects install.
FROM_PLUGINS = frozenset(
    """
    cache capfd capfdbinary caplog capsys capsysbinary capteesys doctest_namespace monkeypatch
    pytestconfig record_property record_testsuite_property record_xml_attribute recwarn request
    subtests testdir pytester tmp_path tmp_path_factory tmpdir tmpdir_factory
    mocker class_mocker module_mocker package_mocker session_mocker benchmark event_loop
    event_loop_policy unused_tcp_port unused_tcp_port_factory anyio_backend nursery freezer
    worker_id testrun_uid faker snapshot datadir shared_datadir httpserver httpx_mock respx_mock
    requests_mock responses aiohttp_client aioresponses client async_client admin_client
    admin_user rf db transactional_db django_user_model settings live_server mailoutbox
    celery_app celery_worker qtbot qapp page browser context cov no_cover loop app
    """.split()  # noqa: SIM905 - one name a line would be longer than the rest of the file
)


def missing_fixtures(context: Context) -> Iterable[Finding]:
    """CG106. A fixture that the project does not know at all may come from an installed plugin,
    and is not reported."""
    everywhere: dict[str, list[str]] = {}
    for path, facts in context.registry.whole.facts():
        for fixture in facts.pytest.fixtures:
            everywhere.setdefault(fixture.name, []).append(path)
    for path, facts, test, visible in tests_lacking(context, lambda n: n not in FROM_PLUGINS):
        yield from _of_test(context, path, facts, test, visible, everywhere)


def tests_lacking(
    context: Context, is_sought: Callable[[str], bool]
) -> Iterator[tuple[str, ModuleFacts, Test, set[str]]]:
    """The tests that ask for a fixture that is sought and that they do not see, of those of which
    pytest alone decides what they are given; with the names of all fixtures of the project that
    they see."""
    registry = context.registry
    for path, facts in registry.facts():
        asking = [test for test in facts.pytest.tests if any(map(is_sought, test.arguments))]
        if not asking or not registry.layout.is_test_module(path):
            continue
        visible = visible_fixtures(context.registry, path)
        if visible is None:
            continue
        lacking = [
            test
            for test in asking
            if any(is_sought(n) and n not in visible for n in test.arguments)
        ]
        if not lacking or _cannot_be_collected(registry, path, facts):
            continue
        decorators = _decorators(facts)
        for test in lacking:
            if test.is_named:
                continue  # a function that the file's own code runs, whatever its name says
            if all(_is_known(d) for d in decorators.get(test.qualname, ("?",))):
                yield path, facts, test, visible


def close_fixture(registry: Registry, path: str, name: str) -> str | None:
    """The fixture that a file sees and that has nearly the name; None where there is none, or one
    of the name stands elsewhere."""
    if any(f.name == name for _, facts in registry.whole.facts() for f in facts.pytest.fixtures):
        return None
    return _close(name, visible_fixtures(registry, path) or ())


def _close(name: str, visible: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(name, visible, n=1, cutoff=_CLOSE)), None)


def _cannot_be_collected(registry: Registry, path: str, facts: ModuleFacts) -> bool:
    """Whether an import of the file or of a conftest above it fails (CG101, CG104): the loss of
    its tests is told there."""
    own = [(path, facts)]
    for conftest in registry.layout.conftests(path):
        found = registry.tree.files.get(conftest)
        if isinstance(found, ModuleFacts):
            own.append((conftest, found))
    return any(
        guards.fatal_at_import(each, imp.scope, imp.guard)
        and registry.resolve_import(where, imp).status == "missing"
        for where, each in own
        for imp in each.imports
    )


def _of_test(
    context: Context,
    path: str,
    facts: ModuleFacts,
    test: Test,
    visible: set[str],
    everywhere: dict[str, list[str]],
) -> Iterator[Finding]:
    for name in test.arguments:
        if name in visible or name in FROM_PLUGINS:
            continue
        close = _close(name, visible)
        if name in everywhere:
            help_ = f"`{name}` is a fixture of {everywhere[name][0]}, which this test does not see"
        elif close:
            help_ = f"renamed to `{close}`?"
        else:
            continue
        site = Site(path, facts, test.span, test.span, test.scope, -1)
        yield context.finding(
            "CG106",
            "warning",
            site,
            name,
            f"no fixture `{name}` is visible here: this test fails when it is set up",
            help_,
            impact="runtime-error",
            lost=total(cost.around(context, site)),
            identity=name,
        )


def visible_fixtures(registry: Registry, path: str) -> set[str] | None:
    """Names of the project's fixtures that tests of the file see; None where that is not known."""
    names: set[str] = set()
    queue = [path, *registry.layout.conftests(path)]
    seen = set(queue)
    while queue:
        facts = registry.tree.files.get(queue.pop())
        if not isinstance(facts, ModuleFacts) or facts.dynamic or facts.getattr_open:
            return None
        if "pytest_generate_tests" in facts.pytest.hooks or any(
            i.name == "*" for i in facts.imports
        ):
            return None
        names |= {fixture.name for fixture in facts.pytest.fixtures}
        # A fixture may be imported, or be made by a call: any name of the module counts.
        names |= {binding.name for binding in facts.bindings}
        for plugin in facts.pytest.plugins:
            found = registry.resolve_dotted(plugin, path)
            if found.producer is None or found.producer.kind != "module" or found.producer.origin:
                return None
            if found.producer.path not in seen:
                seen.add(found.producer.path)
                queue.append(found.producer.path)
    return names


def _decorators(facts: ModuleFacts) -> dict[str, tuple[str, ...]]:
    """Decorators of each function that may be a test, with those of its class; "?" for a class
    whose bases may bring fixtures."""
    found = {b.name: b.decorators for b in facts.bindings if b.kind == "function"}
    for owner in facts.classes:
        qualname = facts.scopes[owner.scope].qualname
        unknown = ("?",) * any(base != "object" for base in owner.bases)
        for member in owner.members:
            decorators = (*member.decorators, *owner.decorators, *unknown)
            found[f"{qualname}.{member.name}"] = decorators
    return found


def _is_known(decorator: str) -> bool:
    *heads, last = decorator.split(".")
    return "mark" in heads or last in _KNOWN_DECORATORS
