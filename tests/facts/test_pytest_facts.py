"""Tests, fixtures and parametrization, against pytest itself where it can be asked."""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from contract_guard.facts.model import ModuleFacts

FactsOf = Callable[[str], ModuleFacts]

SAMPLE = Path(__file__).with_name("collected_sample.py.txt")


def collected(directory: Path) -> dict[str, list[str]]:
    """Bracket ids by qualified name, as pytest collects the sample."""
    (directory / "test_sample.py").write_text(SAMPLE.read_text("utf-8"), "utf-8")
    (directory / "pytest.ini").write_text("[pytest]\n", "utf-8")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-W", "ignore", "test_sample.py"],
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, list[str]] = {}
    for line in run.stdout.splitlines():
        match = re.fullmatch(r"test_sample\.py::([\w:]+)(?:\[(.*)\])?", line)
        if match:
            ids = found.setdefault(match[1].replace("::", "."), [])
            ids.append(match[2] if match[2] is not None else "")
    return found


def test_tests_cases_and_ids_are_those_of_pytest(tmp_path: Path, facts_of: FactsOf) -> None:
    expected = collected(tmp_path)
    facts = facts_of(SAMPLE.read_text("utf-8"))
    fixtures = {fixture.name: fixture.cases for fixture in facts.pytest.fixtures}
    tests = {test.qualname: test for test in facts.pytest.tests}
    assert tests.keys() == expected.keys()
    for name, test in tests.items():
        assert test.exact, name
        cases = test.cases
        for argument in test.arguments:
            cases *= fixtures.get(argument, 1)
        assert cases == len(expected[name]), name
        if test.ids:
            assert list(test.ids) == expected[name], name
    with_ids = {name for name, test in tests.items() if test.ids}
    assert {"test_two", "test_pairs", "test_param", "test_range", "TestA.test_k"} <= with_ids


@pytest.mark.parametrize(
    "values",
    ["compute()", "[x for x in y]", "[*unknown]", "UNKNOWN", "[a for a in range(3) if a]"],
)
def test_what_does_not_fold_is_a_lower_bound(facts_of: FactsOf, values: str) -> None:
    facts = facts_of(f"@pytest.mark.parametrize('x', {values})\ndef test_a(x): pass\n")
    (test,) = facts.pytest.tests
    assert (test.cases, test.exact) == (1, False)


def test_marks_and_arguments(facts_of: FactsOf) -> None:
    facts = facts_of("""
        pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("module_wide")]
        @pytest.mark.slow
        class TestA:
            pytestmark = pytest.mark.nightly
            @pytest.mark.skipif(x, reason="")
            @pytest.mark.usefixtures("used")
            @pytest.mark.parametrize("x", [1])
            def test_a(self, x, fixture, default=1): pass
    """)
    (test,) = facts.pytest.tests
    assert facts.pytest.marks == ("gpu", "usefixtures")
    assert test.arguments == ("fixture", "used")
    assert set(test.marks) == {"slow", "nightly", "skipif", "usefixtures", "parametrize"}
    assert facts.scopes[test.scope].qualname == test.qualname == "TestA.test_a"


def test_fixtures(facts_of: FactsOf) -> None:
    facts = facts_of("""
        @pytest.fixture
        def plain(request, other): pass
        @pytest.fixture(name="named", params=[1, 2], autouse=True)
        async def _impl(): pass
        class TestA:
            @pytest_asyncio.fixture(scope="class", params=values())
            def method(self, plain): pass
        def not_one(): pass
    """)
    assert [
        (f.name, f.qualname, f.arguments, f.autouse, f.class_name, f.cases, f.exact)
        for f in facts.pytest.fixtures
    ] == [
        ("plain", "plain", ("request", "other"), False, None, 1, True),
        ("named", "_impl", (), True, None, 2, True),
        ("method", "TestA.method", ("plain",), False, "TestA", 1, False),
    ]


@pytest.mark.parametrize(
    ("source", "skip"),
    [
        (
            "pytest.skip('no', allow_module_level=True)",
            "pytest.skip('no', allow_module_level=True)",
        ),
        ("if x:\n    pytest.skip('no', allow_module_level=True)", None),
        ("def f():\n    pytest.skip('no')", None),
    ],
)
def test_module_skip(facts_of: FactsOf, source: str, skip: str | None) -> None:
    assert facts_of(source).pytest.module_skip == skip


@pytest.mark.parametrize(
    ("source", "plugins"),
    [
        ("pytest_plugins = ['a.b', 'c']", ("a.b", "c")),
        ("pytest_plugins = 'a.b'", ("a.b",)),
        ("pytest_plugins = find()", ()),
    ],
)
def test_plugins(facts_of: FactsOf, source: str, plugins: tuple[str, ...]) -> None:
    assert facts_of(source).pytest.plugins == plugins


def test_hooks(facts_of: FactsOf) -> None:
    facts = facts_of("def pytest_configure(config): pass\ndef other(): pass\n")
    assert facts.pytest.hooks == ("pytest_configure",)


def test_endless_parametrization_is_bounded(facts_of: FactsOf) -> None:
    decorator = "@pytest.mark.parametrize('x{}', itertools.product(range(9999), repeat=20))\n"
    source = "".join(decorator.format(n) for n in range(9)) + "def test_a(): pass\n"
    (test,) = facts_of(source).pytest.tests
    assert (test.cases, test.exact) == (10**9, False)
