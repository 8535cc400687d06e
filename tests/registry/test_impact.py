"""Which test modules fail to collect, and how many tests that costs."""

import pytest

from contract_guard.registry.impact import ImportGraph

TESTS = (
    "import pytest\n{}\ndef test_one(): ...\n"
    "@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n): ...\n"
)
TREE = {
    "pkg/__init__.py": "",
    "pkg/broken.py": "from pkg import nothing",
    "pkg/carrier.py": "import pkg.broken",
    "pkg/careful.py": "try:\n    from pkg.broken import x\nexcept ImportError:\n    x = None\n",
    "pkg/late.py": "def f():\n    import pkg.broken\n",
    "pkg/typed.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import pkg.broken\n",
    "pkg/main.py": "if __name__ == '__main__':\n    import pkg.broken\n",
    "pkg/sub/__init__.py": "from pkg import carrier",
    "pkg/sub/leaf.py": "",
    "pkg/unused.py": "",
    "pkg/plugin.py": "import pkg.broken",
    "tests/direct/test_a.py": TESTS.format("from pkg.broken import x"),
    "tests/direct/test_b.py": TESTS.format("import pkg.carrier"),
    "tests/direct/test_leaf.py": TESTS.format("from pkg.sub import leaf"),
    "tests/direct/test_class.py": TESTS.format("class A:\n    import pkg.broken"),
    "tests/quiet/test_careful.py": TESTS.format(
        "import pkg.careful, pkg.late, pkg.typed, pkg.main"
    ),
    "tests/quiet/test_late.py": TESTS.format("def f():\n    import pkg.broken"),
    "tests/quiet/test_skip.py": TESTS.format("pytest.importorskip('pkg.broken')"),
    "tests/by_conftest/conftest.py": "from tests.helpers import h\n",
    "tests/by_conftest/deep/test_c.py": TESTS.format(""),
    "tests/by_plugin/conftest.py": "pytest_plugins = ['pkg.plugin']\n",
    "tests/by_plugin/test_d.py": TESTS.format(""),
    "tests/helpers.py": "import pkg.broken\nh = 1\n",
}


def test_failures_spread_along_what_runs_at_import(registry_of) -> None:
    graph = ImportGraph(registry_of(TREE))
    assert [failure.path for failure in graph.failures("pkg/broken.py")] == [
        "tests/by_conftest/deep/test_c.py",
        "tests/by_plugin/test_d.py",
        "tests/direct/test_a.py",
        "tests/direct/test_b.py",
        "tests/direct/test_class.py",
        "tests/direct/test_leaf.py",
    ]


def test_the_chain_says_how_a_failure_came(registry_of) -> None:
    graph = ImportGraph(registry_of(TREE))
    chains = {f.path: f.chain for f in graph.failures("pkg/broken.py")}
    assert [(link.path, link.line) for link in chains["tests/direct/test_leaf.py"]] == [
        ("pkg/carrier.py", 1),
        ("pkg/sub/__init__.py", 1),
        ("tests/direct/test_leaf.py", 2),
    ]
    assert [(link.path, link.line) for link in chains["tests/by_conftest/deep/test_c.py"]] == [
        ("tests/helpers.py", 1),
        ("tests/by_conftest/conftest.py", 1),
        ("tests/by_conftest/deep/test_c.py", 0),
    ]


def test_a_broken_test_module_fails_alone(registry_of) -> None:
    graph = ImportGraph(registry_of(TREE))
    (failure,) = graph.failures("tests/direct/test_a.py")
    assert (failure.path, failure.chain) == ("tests/direct/test_a.py", ())


def test_an_attribute_error_passes_a_handler_for_import_errors(registry_of) -> None:
    graph = ImportGraph(registry_of(TREE))
    paths = {failure.path for failure in graph.failures("pkg/broken.py", "AttributeError")}
    assert {"tests/quiet/test_careful.py", "tests/quiet/test_skip.py"} <= paths
    assert "tests/quiet/test_late.py" not in paths


def test_tests_lost(registry_of) -> None:
    graph = ImportGraph(registry_of(TREE))
    lost = graph.lost("tests/direct/test_a.py")
    assert lost is not None
    assert (lost.count, lost.exact) == (3, True)
    assert lost.ids == (
        "tests/direct/test_a.py::test_one",
        "tests/direct/test_a.py::test_n[1]",
        "tests/direct/test_a.py::test_n[2]",
    )
    assert graph.lost("pkg/unused.py") is None


def test_cycles_end(registry_of) -> None:
    tree = {"a.py": "import b", "b.py": "import a", "test_x.py": "import a\ndef test(): ...\n"}
    assert [f.path for f in ImportGraph(registry_of(tree)).failures("b.py")] == ["test_x.py"]


@pytest.mark.parametrize(
    ("class_line", "count", "exact"),
    [
        ("class TestIt(Shared):", 2, False),
        ("class TestIt(Shared):\n    def test_b(self): ...\n    x = 1", 2, True),
        ("class TestIt(TestShared):", 3, True),
        ("class CheckIt(Shared):", 0, True),
        ("class CheckIt(Case):", 1, True),
        ("class TestIt(Unknown):", 0, True),
    ],
)
def test_inherited_tests_count(registry_of, class_line: str, count: int, exact: bool) -> None:
    methods = (
        "    def test_a(self): ...\n"
        "    @pytest.mark.parametrize('n', [1, 2])\n    def test_b(self, n): ...\n"
    )
    tree = {
        "tests/base.py": f"import unittest, pytest\nclass Shared:\n{methods}"
        f"class TestShared:\n{methods}"
        "class Case(unittest.TestCase):\n    def test_c(self): ...\n",
        "tests/test_x.py": "from tests.base import Shared, Case\nfrom tests import base\n"
        f"TestShared = base.TestShared\n{class_line}\n    pass\n",
    }
    lost = ImportGraph(registry_of(tree)).lost("tests/test_x.py")
    assert (lost.count if lost else 0, lost.exact if lost else True) == (count, exact)
