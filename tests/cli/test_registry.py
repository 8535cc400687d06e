"""`contract-guard registry` as its users run it."""

import json
from pathlib import Path

import pytest

FILES = {
    "gate/__init__.py": "from gate.constants import BASE\n",
    "gate/constants.py": "BASE = 7\nOTHER = BASE + 1\n\n\nclass Kind:\n    IMAGE = 'image'\n",
    "gate/router.py": "from gate import constants\n\nLIMIT = constants.BASE + 1\n",
    "tests/test_gate.py": (
        "import pytest\n"
        "from gate import BASE\n"
        "from gate.constants import Kind\n\n\n"
        "@pytest.mark.parametrize('n', [1, 2, 3])\n"
        "def test_sizes(n):\n    assert n + BASE\n\n\n"
        "def test_kind():\n    assert Kind.IMAGE\n"
    ),
    "tests/test_router.py": (
        "from gate.constants import BASE, OTHER\n\n\n"
        "def test_late(monkeypatch):\n"
        "    monkeypatch.setattr('gate.constants.BASE', 1)\n\n\n"
        "class TestIt:\n    def test_in_class(self):\n        from gate.router import LIMIT\n"
        "        assert LIMIT\n"
    ),
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "project" / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "project"


def test_who_leans_on_a_constant(run, project: Path) -> None:
    assert run("registry", "who", "BASE") == (
        0,
        "gate.constants:BASE = 7\n"
        "  defined at gate/constants.py:1\n"
        "  in tests: 3 places\n"
        "    tests/test_gate.py:2:18  import, at module level: 4 tests would vanish without it\n"
        "    tests/test_router.py:1:28  import, at module level: 2 tests would vanish without it\n"
        "    tests/test_router.py:5:25  patch: 1 test would fail without it\n"
        "  in production: 2 places\n"
        "    gate/__init__.py:1:28  import\n"
        "    gate/router.py:3:9  attribute\n",
        "",
    )


@pytest.mark.parametrize(
    "name", ["BASE", "gate.constants:BASE", "gate.constants.BASE", "gate.BASE", "constants.BASE"]
)
def test_names_that_lead_to_it(run, project: Path, name: str) -> None:
    assert run("registry", "who", name).out.startswith("gate.constants:BASE = 7\n")


def test_a_member_of_a_class(run, project: Path) -> None:
    assert run("registry", "who", "Kind.IMAGE").out == (
        "gate.constants:Kind.IMAGE = 'image'\n"
        "  defined at gate/constants.py:6\n"
        "  in tests: 1 place\n"
        "    tests/test_gate.py:12:12  attribute: 1 test would fail without it\n"
    )


def test_what_is_imported_in_a_function_costs_that_test_alone(run, project: Path) -> None:
    (symbol,) = json.loads(run("registry", "who", "LIMIT", "--format", "json").out)["symbols"]
    assert {key: symbol[key] for key in ("symbol", "path", "line", "kind", "value")} == {
        "symbol": "gate.router:LIMIT",
        "path": "gate/router.py",
        "line": 3,
        "kind": "assign",
        "value": "8",
    }
    assert symbol["consumers"] == [
        {
            "path": "tests/test_router.py",
            "line": 10,
            "column": 33,
            "form": "import",
            "in_test": True,
            "module_level": False,
            "test": "tests/test_router.py::TestIt::test_in_class",
            "tests": ["tests/test_router.py::TestIt::test_in_class"],
            "cases": 1,
            "exact": True,
        }
    ]


def test_nobody_leans_on_it(run, project: Path) -> None:
    (project / "gate" / "lone.py").write_text("LONE = (1, 2)\n")
    assert run("registry", "who", "LONE").out.endswith("  no other module names it\n")


def test_who_nobody_knows(run, project: Path) -> None:
    assert run("registry", "who", "BSAE") == (
        2,
        "",
        "contract-guard: nothing named 'BSAE' is defined in this project; did you mean 'BASE'?\n",
    )


def test_show_ranks_by_tests_at_risk(run, project: Path) -> None:
    assert run("registry", "show", "--by", "tests-at-risk") == (
        0,
        " 6 tests  2 modules   gate.constants:BASE\n"
        " 2 tests  1 module    gate.constants:OTHER\n"
        "2 test modules, 6 tests in all; 'contract-guard registry who NAME' shows the places.\n",
        "",
    )


def test_show_says_what_a_lower_bound_is(run, project: Path) -> None:
    path = project / "tests" / "test_gate.py"
    path.write_text(path.read_text().replace("[1, 2, 3]", "made()"))
    lines = run("registry", "show").out.splitlines()
    assert lines[0].startswith("4+ tests  2 modules   gate.constants:BASE")
    assert lines[2] == "+: or more, where a parametrization is not written out."


def test_show_as_json(run, project: Path) -> None:
    document = json.loads(run("registry", "show", "--format", "json").out)
    assert list(document) == ["version", "constants", "modules", "tests"]
    assert (document["modules"], document["tests"]) == (2, 6)
    assert [
        (entry["producer"]["symbol"], entry["modules"], entry["tests"], entry["exact"])
        for entry in document["constants"]
    ] == [
        ("gate.constants:BASE", ["tests/test_gate.py", "tests/test_router.py"], 6, True),
        ("gate.constants:OTHER", ["tests/test_router.py"], 2, True),
    ]


def test_show_without_any(run, project: Path) -> None:
    for path in (project / "tests").iterdir():
        path.unlink()
    assert run("registry", "show").out == (
        "No test module imports a production constant at module level.\n"
    )


def test_hostile_names_stay_on_their_line(run, project: Path) -> None:
    (project / "gate" / "odd.py").write_text("ODD = '\\x1b[31m\\n::error::'\n")
    assert run("registry", "who", "ODD").out.splitlines() == [
        r"gate.odd:ODD = '\x1b[31m\n::error::'",
        "  defined at gate/odd.py:1",
        "  no other module names it",
    ]
