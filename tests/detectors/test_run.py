"""`run`: selection, levels, suppression comments, order, and what findings say they cost."""

from collections.abc import Mapping

import msgspec
import pytest

from contract_guard.detectors.run import run
from contract_guard.facts.extract import extract
from contract_guard.findings import Finding
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

SOURCES = {
    "pkg/__init__.py": "",
    "pkg/constants.py": "SENTINEL = 128815\n",
    "pkg/loader.py": "from pkg.constants import PAGE\n",
    "pkg/middle.py": "import pkg.loader\n",
    "tests/test_a.py": "from pkg.constants import PAD\n\n\ndef test_one():\n    assert PAD\n",
    "tests/test_b.py": "from pkg import middle\n\n\ndef test_two():\n    assert middle\n",
    "tests/test_c.py": "import pkg\n\n\ndef test_three():\n    assert pkg.gone\n",
}


def tree(sources: Mapping[str, str]) -> Tree:
    return Tree(files={path: extract(text.encode()) for path, text in sources.items()})


def findings(sources: Mapping[str, str], *others: Tree, **options: object) -> list[Finding]:
    registry = build(tree(sources), *others)
    return run(registry, lambda path: sources[path].encode(), **options)  # type: ignore[arg-type]


def places(found: list[Finding]) -> list[tuple[str, int, str]]:
    return [(finding.path, finding.line, finding.rule) for finding in found]


def test_all_rules_in_the_order_of_the_files() -> None:
    assert places(findings(SOURCES)) == [
        ("pkg/loader.py", 1, "CG101"),
        ("tests/test_a.py", 1, "CG101"),
        ("tests/test_c.py", 5, "CG102"),
    ]


def test_the_order_of_the_files_does_not_matter() -> None:
    turned = dict(reversed(SOURCES.items()))
    assert findings(turned) == findings(SOURCES)


@pytest.mark.parametrize(
    ("options", "rules"),
    [
        ({"select": ("CG102",)}, ["CG102"]),
        ({"select": ("CG1",), "ignore": ("CG101",)}, ["CG102"]),
        ({"select": ("CG101",), "ignore": ("CG1",)}, ["CG101", "CG101"]),
        ({"ignore": ("CG",)}, []),
        ({"per_file_ignores": {"tests/": ("CG1",)}}, ["CG101"]),
        ({"per_file_ignores": {"test_a.py": ("CG102",)}}, ["CG101", "CG101", "CG102"]),
        ({"severity": {"CG101": "off"}}, ["CG102"]),
    ],
)
def test_selection(options: dict[str, object], rules: list[str]) -> None:
    assert [finding.rule for finding in findings(SOURCES, **options)] == rules


def test_levels() -> None:
    found = findings(SOURCES, severity={"CG101": "note"})
    assert [f.severity for f in found] == ["note", "note", "error"]


def test_a_comment_suppresses_its_statement_and_is_unused_elsewhere() -> None:
    source = (
        "from pkg.constants import PAD  # contract-guard: ignore[CG101] known\n"
        "from pkg.constants import SENTINEL  # contract-guard: ignore[CG101] not needed\n"
    )
    found = findings({**SOURCES, "tests/test_a.py": source}, select=("CG1", "CG9"))
    assert places(found) == [
        ("pkg/loader.py", 1, "CG101"),
        ("tests/test_a.py", 2, "CG901"),
        ("tests/test_c.py", 5, "CG102"),
    ]


def test_comments_for_rules_that_did_not_run_are_left_alone() -> None:
    source = "import pkg  # contract-guard: ignore[CG101] kept for the full run\n"
    sources = {**SOURCES, "tests/test_a.py": source}
    assert findings(sources, select=("CG102", "CG901"))[:-1] == []
    assert findings(sources, select=("CG9",), known={"CG101"}) == []


def test_what_a_broken_module_costs() -> None:
    (found,) = findings(SOURCES, select=("CG101",), per_file_ignores={"tests/": ("CG",)})
    assert found.impact == "collection-error"
    assert found.tests_lost is not None
    assert found.tests_lost.ids == ("tests/test_b.py::test_two",)
    assert [(r.path, r.line, r.message) for r in found.related] == [
        ("pkg/middle.py", 1, "imports `pkg.loader`"),
        ("tests/test_b.py", 1, "imports `pkg.middle`"),
    ]
    assert found.message == (
        "`pkg.constants` has no name `PAGE`: importing this module fails, and 1 test in 1 file "
        "is lost with it"
    )


def test_the_fingerprint_survives_unrelated_edits() -> None:
    before = findings(SOURCES, select=("CG102",))
    moved = SOURCES["tests/test_c.py"].replace("import pkg\n", "import os\nimport pkg\n\n")
    moved = moved.replace("assert pkg.gone", "assert   pkg.gone  # still")
    after = findings({**SOURCES, "tests/test_c.py": moved}, select=("CG102",))
    assert [f.fingerprint for f in before] == [f.fingerprint for f in after]
    assert before[0].line != after[0].line


HOST = {"host/__init__.py": "", "host/api.py": "new = 1\n"}
PLUGIN = {
    "plugin/__init__.py": "",
    "plugin/utils.py": "def host_is(version): ...\n",
    "plugin/use.py": (
        "from plugin.utils import host_is\n"
        'if host_is("2.0"):\n    from host.api import old\n'
        "else:\n    from host.api import new, newest\n"
    ),
}


@pytest.mark.parametrize(
    ("origins", "symbols"),
    [
        (("host==1.0",), ["host.api:newest"]),
        (("host==2.0",), ["host.api:old"]),
        (("host==2.0", "host==1.0"), ["host.api:old", "host.api:newest"]),
        (("/some/path",), []),
    ],
)
def test_a_branch_that_is_dead_for_the_version_is_left_alone(
    origins: tuple[str, ...], symbols: list[str]
) -> None:
    hosts = [msgspec.structs.replace(tree(HOST), origin=origin) for origin in origins]
    found = findings(PLUGIN, *hosts, version_predicates=("plugin.utils.host_is",))
    assert [finding.symbol for finding in found] == symbols


def test_without_the_other_package_nothing_is_known() -> None:
    assert findings(PLUGIN) == []
