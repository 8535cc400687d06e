"""Which file a module's name means, and which files are tests."""

import pytest

from contract_guard.facts.extract import extract
from contract_guard.registry.layout import Layout, key_of
from contract_guard.registry.model import Tree

EMPTY = extract(b"")


def layout_of(*paths: str, **settings: object) -> Layout:
    return Layout(Tree(files=dict.fromkeys(paths, EMPTY), **settings))  # type: ignore[arg-type]


def imported(registry_of, sources: dict[str, str], importer: str, **settings: object):
    """The resolution of the last import of `importer`."""
    registry = registry_of(sources, **settings)
    facts = registry.tree.files[importer]
    return registry.resolve_import(importer, facts.imports[-1])


@pytest.mark.parametrize(
    ("paths", "path", "name"),
    [
        (["pkg/__init__.py", "pkg/a.py"], "pkg/a.py", "pkg.a"),
        (["pkg/__init__.py"], "pkg/__init__.py", "pkg"),
        (["src/pkg/__init__.py", "src/pkg/sub/__init__.py"], "src/pkg/sub/__init__.py", "pkg.sub"),
        (["libs/x/src/pkg/__init__.py", "libs/x/src/pkg/a.py"], "libs/x/src/pkg/a.py", "pkg.a"),
        (["libs/x/tests/__init__.py", "libs/x/tests/a.py"], "libs/x/tests/a.py", "tests.a"),
        (["src/space/pkg/__init__.py"], "src/space/pkg/__init__.py", "space.pkg"),
        (["tests/unit/test_a.py"], "tests/unit/test_a.py", "tests.unit.test_a"),
        (["tests/tools/__init__.py"], "tests/tools/__init__.py", "tests.tools"),
        (["libs/x/tests/unit/test_a.py"], "libs/x/tests/unit/test_a.py", "tests.unit.test_a"),
        (["my-scripts/run.py"], "my-scripts/run.py", "run"),
        (["main.py"], "main.py", "main"),
    ],
)
def test_names(paths: list[str], path: str, name: str) -> None:
    assert layout_of(*paths).name(key_of(path)) == name


def test_configured_roots_decide_names() -> None:
    layout = layout_of("code/lib/pkg/__init__.py", "code/lib/pkg/a.py", roots=("code",))
    assert layout.name("code/lib/pkg/a") == "lib.pkg.a"


@pytest.mark.parametrize(
    ("path", "is_test", "is_module"),
    [
        ("tests/test_a.py", True, True),
        ("tests/helpers.py", True, False),
        ("pkg/tests/test_a.py", True, True),
        ("pkg/tests/common.py", True, False),
        ("pkg/conftest.py", True, False),
        ("pkg/a_test.py", True, True),
        ("pkg/testing/api.py", False, False),
        ("other/testing/helpers.py", True, False),
        ("pkg/latest.py", False, False),
        ("pkg/test_data.pyi", False, False),
    ],
)
def test_what_is_test_code(path: str, is_test: bool, is_module: bool) -> None:
    layout = layout_of(path, "other/testing/test_it.py", "other/testing/helpers.py")
    assert (layout.is_test(path), layout.is_test_module(path)) == (is_test, is_module)


def test_test_patterns_are_pytests() -> None:
    layout = layout_of("checks/check_a.py", test_patterns=("check_*.py",))
    assert layout.is_test_module("checks/check_a.py")
    assert not layout.is_test_module("checks/test_a.py")


def test_conftests_outermost_first() -> None:
    layout = layout_of(
        "conftest.py", "tests/conftest.py", "tests/a/conftest.py", "tests/a/test_x.py"
    )
    expected = ["conftest.py", "tests/conftest.py", "tests/a/conftest.py"]
    assert layout.conftests("tests/a/test_x.py") == expected
    assert layout.conftests("tests/a/conftest.py") == expected[:2]


def test_own_test_root_comes_first(registry_of) -> None:
    sources = {
        "tests/__init__.py": "",
        "tests/helpers.py": "OUTER = 1",
        "packages/a/tests/__init__.py": "",
        "packages/a/tests/helpers.py": "INNER = 1",
        "packages/a/tests/test_a.py": "from tests.helpers import INNER",
        "tests/test_b.py": "from tests.helpers import OUTER",
    }
    inner = imported(registry_of, sources, "packages/a/tests/test_a.py")
    assert inner.producer.path == "packages/a/tests/helpers.py"
    outer = imported(registry_of, sources, "tests/test_b.py")
    assert outer.producer.path == "tests/helpers.py"


def test_missing_only_if_missing_under_every_root(registry_of) -> None:
    sources = {
        "tests/__init__.py": "",
        "tests/helpers.py": "OUTER = 1",
        "packages/a/tests/__init__.py": "",
        "packages/a/tests/helpers.py": "INNER = 1",
        "packages/a/tests/test_a.py": "from tests.helpers import OUTER",
        "packages/a/tests/test_b.py": "from tests.helpers import NOWHERE",
    }
    assert imported(registry_of, sources, "packages/a/tests/test_a.py").status != "missing"
    gone = imported(registry_of, sources, "packages/a/tests/test_b.py")
    assert (gone.status, gone.symbol) == ("missing", "tests.helpers:NOWHERE")


@pytest.mark.parametrize(
    ("sources", "importer", "expected"),
    [
        # The standard library's and other people's packages are not the directories of that name.
        (
            {
                "pkg/__init__.py": "",
                "pkg/platform.py": "",
                "pkg/a.py": "from platform import machine",
            },
            "pkg/a.py",
            "external",
        ),
        (
            {"datasets/prepare.py": "", "train.py": "from datasets import load_dataset"},
            "train.py",
            "another-root",
        ),
        (
            {"bench/torchao/run.py": "from torchao.float8 import convert"},
            "bench/torchao/run.py",
            "another-root",
        ),
        (
            {
                "tests/evals/oss/__init__.py": "",
                "tests/evals/oss/run.py": "from oss.evals import main",
            },
            "tests/evals/oss/run.py",
            "another-root",
        ),
        (
            {
                "examples/x/utils.py": "",
                "pkg/__init__.py": "",
                "pkg/a.py": "from utils import thing",
            },
            "pkg/a.py",
            "another-root",
        ),
        (
            {
                "tests/pytest/__init__.py": "",
                "tests/__init__.py": "",
                "tests/conftest.py": "from pytest import fixture",
            },
            "tests/conftest.py",
            "another-root",
        ),
        (
            {
                "space/ours/__init__.py": "",
                "tests/test_a.py": "from space.theirs import x",
                "tests/test_b.py": "import space.ours",
            },
            "tests/test_a.py",
            "another-root",
        ),
        ({"a.py": "import requests.sessions"}, "a.py", "external"),
        ({"pkg/__init__.py": "", "pkg/a.py": "from ...... import x"}, "pkg/a.py", "outside-root"),
    ],
)
def test_names_that_may_be_anothers_are_unknown(registry_of, sources, importer, expected) -> None:
    found = imported(registry_of, sources, importer)
    assert found.status == "unknown"
    assert found.reason in (expected, "external")


@pytest.mark.parametrize(
    ("sources", "importer", "symbol"),
    [
        (
            {"src/pkg/__init__.py": "", "tests/test_a.py": "import pkg.gone"},
            "tests/test_a.py",
            "pkg.gone",
        ),
        (
            {"python/pkg/__init__.py": "", "python/tests/test_a.py": "from pkg import N"},
            "python/tests/test_a.py",
            "pkg:N",
        ),
        (
            {"tests/utils.py": "", "tests/test_a.py": "from utils import gone"},
            "tests/test_a.py",
            "tests.utils:gone",
        ),
        (
            {"bench/common.py": "", "bench/one.py": "import common.sub"},
            "bench/one.py",
            "common.sub",
        ),
        (
            {"tests/tools/__init__.py": "", "tests/a/test_a.py": "from tests.tools import gone"},
            "tests/a/test_a.py",
            "tests.tools:gone",
        ),
        (
            {"pkg/__init__.py": "", "pkg/sub/a.py": "", "pkg/b.py": "from pkg.sub.c import x"},
            "pkg/b.py",
            "pkg.sub.c",
        ),
        (
            {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": "import pkg.a.deeper"},
            "pkg/b.py",
            "pkg.a.deeper",
        ),
        (
            {
                "bench/parts/one.py": "",
                "bench/main.py": "import parts.two",
                "bench/other.py": "import parts.one",
            },
            "bench/main.py",
            "parts.two",
        ),
        ({"lib/h.py": "", "tests/test_a.py": "from h import gone"}, "tests/test_a.py", "h:gone"),
    ],
)
def test_missing_under_the_importers_roots(registry_of, sources, importer, symbol) -> None:
    found = imported(registry_of, sources, importer, pythonpath=("lib",))
    assert (found.status, found.symbol) == ("missing", symbol)


def test_what_the_project_is_checked_against(registry_of) -> None:
    upstream = {"up/__init__.py": "A = 1", "tests/__init__.py": "", "tests/util.py": "B = 1"}
    registry = registry_of(
        {"pkg/__init__.py": "", "pkg/a.py": "from up import A, GONE\nfrom tests.util import B"},
        upstream,
    )
    facts = registry.tree.files["pkg/a.py"]
    there, gone, tests = [registry.resolve_import("pkg/a.py", imp) for imp in facts.imports]
    assert there.producer.origin == "other==0"
    assert (gone.status, gone.symbol) == ("missing", "up:GONE")
    assert tests.status == "unknown"


STRAY = {
    "src/__init__.py": "",
    "src/pkg/__init__.py": "",
    "src/pkg/ids.py": "PAD = 1\n",
    "tests/__init__.py": "",
    "tests/test_a.py": "from pkg.ids import PAD, GONE\n",
}


def _first_name(registry) -> tuple[str, str]:
    facts = registry.tree.files["tests/test_a.py"]
    found = [registry.resolve_import("tests/test_a.py", imp) for imp in facts.imports]
    return found[0].symbol, found[1].status


@pytest.mark.parametrize("roots", [(), ("src",)])
def test_a_stray_init_file_in_the_source_directory(registry_of, roots: tuple[str, ...]) -> None:
    registry = registry_of(STRAY, roots=roots)
    assert _first_name(registry) == ("pkg.ids:PAD", "missing")
    assert registry.module("src/pkg/ids.py").name == "pkg.ids"


def test_a_package_that_is_called_src(registry_of) -> None:
    sources = {**STRAY, "tests/test_a.py": "from src.pkg.ids import PAD, GONE\n"}
    assert _first_name(registry_of(sources)) == ("src.pkg.ids:PAD", "missing")


def test_a_namespace_of_the_tests_gives_way_to_the_package(registry_of) -> None:
    """`tests/pkg` mirrors `src/pkg`, and the root is on the path for tests.helpers."""
    sources = {
        "src/pkg/__init__.py": "",
        "src/pkg/data.py": "LIMIT = 1\n",
        "tests/pkg/data/test_data.py": "from pkg.data import LIMIT\n",
    }
    importer = "tests/pkg/data/test_data.py"
    registry = registry_of(sources, pythonpath=("",))
    (found,) = registry.modules.at(importer).facts.imports
    resolution = registry.resolve_import(importer, found)
    assert (resolution.status, resolution.symbol) == ("exists", "pkg.data:LIMIT")


def test_a_namespace_that_hides_nothing_is_found(registry_of) -> None:
    sources = {"lib/pkg/data.py": "LIMIT = 1\n", "lib/test_it.py": "from pkg.data import LIMIT\n"}
    registry = registry_of(sources)
    (found,) = registry.modules.at("lib/test_it.py").facts.imports
    assert registry.resolve_import("lib/test_it.py", found).status == "exists"
