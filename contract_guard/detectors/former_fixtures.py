"""CG106 where a fixture is gone: whoever asked for it at the older revision, and still does."""

from collections.abc import Iterable

from contract_guard.detectors import cost
from contract_guard.detectors.base import Context, Site
from contract_guard.detectors.fixtures import (
    FROM_PLUGINS,
    tests_lacking,
    visible_fixtures,
)
from contract_guard.findings import Finding
from contract_guard.registry.collection import total
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change


def gone_fixtures(old: Registry, new: Registry) -> dict[str, str]:
    """Fixtures that a file of `old` has and no longer has in `new`: symbols by name."""
    gone: dict[str, str] = {}
    for path, facts in old.facts():
        now = new.tree.files.get(path)
        if not facts.pytest.fixtures or now is facts:
            continue
        kept = getattr(now, "pytest", None)
        names = {fixture.name for fixture in kept.fixtures} if kept is not None else set[str]()
        for fixture in facts.pytest.fixtures:
            if fixture.name not in names | FROM_PLUGINS:
                gone[fixture.name] = f"{old.module(path).name}:{fixture.qualname}"
    return gone


def former_fixtures(context: Context, old: Context, changes: Iterable[Change]) -> Iterable[Finding]:
    """Tests that ask for a fixture which they saw at the older revision, and see no more. What is
    known of the older tells that it was the project's own, so it is an error."""
    gone = gone_fixtures(old.registry, context.registry)
    if not gone:
        return
    replaced = {change.symbol: change.replacement for change in changes if change.replacement}
    for path, facts, test, visible in tests_lacking(context, gone.__contains__):
        lost = [name for name in test.arguments if name in gone and name not in visible]
        if not lost or not _were_visible(old.registry, path, lost):
            continue
        site = Site(path, facts, test.span, test.span, test.scope, -1)
        for name in lost:
            other = replaced.get(gone[name], "").rpartition(":")[2]
            yield context.finding(
                "CG106",
                "error",
                site,
                gone[name],
                f"the fixture `{name}` is gone: this test fails when it is set up",
                f"renamed to `{other}`?" if other else "give the test what the fixture gave it",
                impact="runtime-error",
                lost=total(cost.around(context, site)),
                identity=name,
            )


def _were_visible(old: Registry, path: str, names: Iterable[str]) -> bool:
    """At the older revision; a test that is new there would have seen what its folder has."""
    if path not in old.tree.files:
        visible = [visible_fixtures(old, conftest) for conftest in old.layout.conftests(path)]
        seen = set[str]().union(*(names or () for names in visible))
    else:
        seen = visible_fixtures(old, path) or set[str]()
    return seen.issuperset(names)
