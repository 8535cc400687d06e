"""What a failing name costs: the impact, the tests lost, and the words for both."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from contract_guard.detectors import conditions
from contract_guard.detectors.base import Context, Site
from contract_guard.facts.model import Fixture, ModuleFacts
from contract_guard.findings import Impact, Related, TestsLost
from contract_guard.registry import guards
from contract_guard.registry.collection import Collected, total
from contract_guard.registry.guards import Error
from contract_guard.registry.impact import Failure
from contract_guard.registry.layout import is_conftest
from contract_guard.text import plural

_CHAINS_SHOWN = 3
_SET_UPS = frozenset(
    {"setUp", "setUpClass", "setup_method", "setup_class", "tearDown", "asyncSetUp"}
)


class Cost(NamedTuple):
    """`text` continues a message after a colon."""

    impact: Impact
    lost: TestsLost | None
    related: tuple[Related, ...]
    text: str


def of_failure(context: Context, site: Site, error: Error) -> Cost:
    """What it costs that the site raises `error` where it runs."""
    if not guards.fatal_at_import(site.facts, site.scope, site.guard, error):
        return _where_it_runs(context, site, around(context, site))
    failures = context.imports.failures(site.path, error)
    lost = context.imports.lost(site.path, error)
    text = _broken_import(context, site.path, failures, lost)
    when = conditions.condition(site)
    return Cost(
        "collection-error" if lost else "runtime-error",
        lost,
        tuple(_chains(failures)),
        f"where `{when}`, {text}" if when else text,
    )


def of_patch(context: Context, site: Site, decorator: bool) -> Cost:
    """What it costs that a patch raises when it starts: for a decorator, when its test does."""
    if not decorator:
        return of_failure(context, site, "AttributeError")
    return _where_it_runs(context, site, list(_decorated(context, site)))


def of_guard(context: Context, site: Site, is_skip: bool) -> Cost:
    """What it costs that a guarded import never succeeds; `is_skip` for `importorskip`."""
    if not context.registry.layout.is_test(site.path):
        return Cost("silent", None, (), "the other side of the guard is always taken")
    if not is_skip:
        return Cost("always-skipped", None, (), "what it guards is always skipped")
    if guards.at_import(site.facts, site.scope):
        tests = context.imports.collection.tests(site.path)
        lost = total(tests)
        are = "is" if lost is not None and lost.count == 1 else "are"
        text = f"{_number(lost)} of this file {are} always skipped"
        return Cost("always-skipped", lost, (), text)
    tests = around(context, site)
    return Cost("always-skipped", total(tests), (), "what follows is always skipped")


def _number(lost: TestsLost | None) -> str:
    if lost is None:
        return "no tests"
    return f"{'' if lost.exact else 'at least '}{plural(lost.count, 'test')}"


def _where_it_runs(context: Context, site: Site, tests: list[Collected]) -> Cost:
    lost = total(tests)
    if lost is None:
        text = "this fails where it runs"
    elif site.test is not None or len(tests) == 1:
        text = "this test fails" if lost.count == 1 else f"{_number(lost)} fail here"
    else:
        text = f"{_number(lost)} fail with it"
    return Cost("runtime-error", lost, (), text)


def _broken_import(
    context: Context, path: str, failures: tuple[Failure, ...], lost: TestsLost | None
) -> str:
    are = "is" if lost is not None and lost.count == 1 else "are"
    if is_conftest(path):
        return f"no test below this conftest can be collected, {_number(lost)} {are} lost"
    if context.registry.layout.is_test_module(path):
        others = len(failures) - 1
        also = f" here and in {_files(others)} that import it" if others > 0 else ""
        return f"collecting this file fails, {_number(lost)} {are} lost{also}"
    if lost is None:
        return "importing this module fails"
    return (
        f"importing this module fails, and {_number(lost)} in {_files(len(failures))} {are} "
        "lost with it"
    )


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _chains(failures: Iterable[Failure]) -> Iterator[Related]:
    """The links from the broken module to the first test modules that it takes with it."""
    shown: set[tuple[str, int, str]] = set()
    for failure in [f for f in failures if f.chain][:_CHAINS_SHOWN]:
        for link in failure.chain:
            key = (link.path, link.line, link.symbol)
            if key in shown:
                continue
            shown.add(key)
            verb = "imports" if link.line else "is loaded after"
            yield Related(
                path=link.path,
                line=max(link.line, 1),
                end_line=max(link.end_line, 1),
                qualname="",
                message=f"{verb} `{link.symbol}`",
            )


def around(context: Context, site: Site) -> list[Collected]:
    """The tests that run the site for certain: the test that it stands in, or those that ask for
    the fixture, or share the set-up method, that it stands in."""
    tests = context.imports.collection.tests(site.path)
    node = context.registry.test_at(site.path, site.scope)
    if node is not None:
        return [test for test in tests if test.node == node]
    scope = site.scope
    while scope > 0:
        found = site.facts.scopes[scope]
        head, _, last = found.qualname.rpartition(".")
        if head and last in _SET_UPS and site.facts.scopes[found.parent].kind == "class":
            owner = f"{site.path}::{head.replace('.', '::')}::"
            return [test for test in tests if test.node.startswith(owner)]
        for fixture in site.facts.pytest.fixtures:
            if fixture.qualname == found.qualname:
                return list(_of_fixture(context, site.path, fixture))
        scope = found.parent
    return []


def _of_fixture(context: Context, path: str, fixture: Fixture) -> Iterator[Collected]:
    """Tests that ask for a fixture of the file, through other fixtures too, by name."""
    layout = context.registry.layout
    home = context.registry.tree.files.get(path)
    own = home.pytest.fixtures if isinstance(home, ModuleFacts) else ()
    for test_path, facts in context.registry.whole.facts():
        if test_path != path and path not in layout.conftests(test_path):
            continue
        known = {f.name: f.arguments for f in (*own, *facts.pytest.fixtures)}
        asking = {
            f"{test_path}::{test.qualname.replace('.', '::')}"
            for test in facts.pytest.tests
            if fixture.autouse or _asks(known, test.arguments, fixture.name)
        }
        for test in context.imports.collection.tests(test_path):
            if test.node in asking:
                yield test


def _asks(known: Mapping[str, tuple[str, ...]], arguments: Iterable[str], name: str) -> bool:
    queue, seen = list(arguments), set[str]()
    while queue:
        asked = queue.pop()
        if asked == name:
            return True
        if asked not in seen:
            seen.add(asked)
            queue += known.get(asked, ())
    return False


def _decorated(context: Context, site: Site) -> Iterator[Collected]:
    """The tests of the function or class that the decorator at the site belongs to."""
    owner = next((c for c in site.facts.classes if c.scope == site.scope), None)
    bindings = site.facts.bindings if owner is None else owner.members
    below = [
        b
        for b in bindings
        if b.kind in ("function", "class") and b.span.line > site.statement.end_line
    ]
    if not below:
        return
    name = min(below, key=lambda b: b.span.line).name
    head = f"{site.facts.scopes[owner.scope].qualname}.{name}" if owner else name
    node = f"{site.path}::{head.replace('.', '::')}"
    for test in context.imports.collection.tests(site.path):
        if test.node == node or test.node.startswith(f"{node}::"):
            yield test
