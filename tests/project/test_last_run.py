"""A run that takes over what the last one found says what a run without any cache says."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_guard.project import last_run
from contract_guard.project.check import check
from contract_guard.project.config import Config
from contract_guard.project.last_run import Reuse

Write = Callable[[Mapping[str, str | bytes]], Path]

TREE = {
    "pkg/__init__.py": "",
    "pkg/ids.py": "SENTINEL_ID = 128256\nLOW = 128000\nclass Kind:\n    RED = 1\n",
    "pkg/use.py": "from pkg.ids import SENTINEL_ID, LOW\ndef use():\n    return LOW\n",
    "pkg/broken.py": "from pkg.ids import GONE\n",
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef thing(): ...\n",
    "tests/helper.py": "from pkg import ids\nTHREE = 3\n",
    "tests/test_a.py": "from pkg.ids import SENTINEL_ID\ndef test_a(thing): assert SENTINEL_ID\n",
    "tests/test_b.py": "from unittest import mock\n"
    "@mock.patch('pkg.use.SENTINEL_ID', 1)\ndef test_b(m): ...\n",
    "tests/test_c.py": "import pkg.broken\ndef test_c(): ...\ndef test_more(): ...\n",
    "tests/test_d.py": "from pkg import ids\ndef test_d(other): ids.NONE\n",
    "tests/test_e.py": "from tests.test_a import test_a as again\n"
    "def guarded():\n    from pkg.ids import LATER\n"
    "def test_e():\n    try:\n        guarded()\n    except ImportError:\n        pass\n",
    "tests/test_f.py": "def test_f():\n    assert 128256 > 3\n",
}

# What a test file may come to hold: each touches another way in which files lean on each other.
LINES = (
    "def test_one(): ...",
    "def test_two(other): ...",
    "from pkg.ids import SENTINEL_ID",
    "from pkg.ids import MISSING",
    "from pkg import ids\nids.NONE = 1",
    "from pkg import use\ndef test_use(): assert use.SENTINEL_ID",
    "from unittest import mock\n@mock.patch('pkg.ids.NONE', 1, create=True)\ndef test_m(m): ...",
    "import pytest\n@pytest.fixture\ndef other(): ...",
    "import pkg.broken\ndef test_lost(): ...\ndef test_lost_too(): ...",
    "from tests.test_e import guarded",
    "from tests.test_b import *",
    "from tests import test_c",
    "from tests import helper\nhelper.THREE",
    "def test_value():\n    assert 128256 in [1]",
    "import torch\ndef test_t(a, b):\n    torch.allclose(a, b)",
    "from pkg.ids import GONE  # contract-guard: ignore[CG101] on purpose",
    "x = 1  # contract-guard: ignore[CG102] nothing here",
    "import sys\nsys.modules['pkg.late'] = object()",
    "import pkg.late",
    "pytest_plugins = ['tests.test_f']",
    "from pkg.ids import Kind\nKind.BLUE",
    "from pkg.ids import Kind\nKind.BLUE = 2",
    "def (",
)
TESTS = [path for path in TREE if "/test_" in path]


def agree(root: Path, cache_dir: Path) -> None:
    kept = check(root, Config(), cache_dir=cache_dir, jobs=1)
    fresh = check(root, Config(), jobs=1)
    assert kept.findings == fresh.findings
    assert (kept.tests, kept.modules, kept.constants, kept.tests_at_risk) == (
        fresh.tests,
        fresh.modules,
        fresh.constants,
        fresh.tests_at_risk,
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    edits=st.lists(
        st.dictionaries(st.sampled_from(TESTS), st.lists(st.sampled_from(LINES)), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_edits_of_tests(
    edits: list[dict[str, list[str]]], write: Write, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cache_dir = tmp_path_factory.mktemp("cache")
    agree(write(TREE), cache_dir)
    for edit in edits:
        agree(write({path: "\n".join([*lines, ""]) for path, lines in edit.items()}), cache_dir)


@pytest.mark.parametrize(
    "change",
    [
        {"pkg/ids.py": "LOW = 1\n"},
        {"pkg/broken.py": "\n\n\nfrom pkg.ids import GONE\n"},
        {"tests/helper.py": "FOUR = 4\n"},
        {"tests/conftest.py": "\n"},
        {"tests/test_new.py": "from pkg.ids import NONE\n"},
        {"tests/test_a.py": "def (\n"},
        {"tests/test_a.py": b"\xff\n"},
        {"pyproject.toml": '[tool.pytest.ini_options]\npython_files = "check_*.py"\n'},
        {"setup.py": "Extension('pkg.ids', [])"},
    ],
    ids=str,
)
def test_other_changes(change: dict[str, str | bytes], write: Write, tmp_path: Path) -> None:
    agree(write(TREE), tmp_path / "cache")
    agree(write(change), tmp_path / "cache")


@pytest.mark.parametrize(
    ("files", "edit"),
    [
        (
            # What fails in a function that is called under a guard alone, until another imports it.
            {
                "pkg/late.py": "def late():\n    from pkg.ids import GONE\n"
                "try:\n    late()\nexcept ImportError:\n    pass\n",
                "pkg/other.py": "def late(): ...\n",
            },
            "from pkg.other import late\n",
        ),
        (
            # A conftest.py that cannot be imported, until a test makes the name that it lacks.
            {
                "tests/unit/conftest.py": "from pkg.ids import NONE\n",
                "tests/unit/test_u.py": "def test_u(far): ...\n",
                "tests/far/conftest.py": "import pytest\n@pytest.fixture\ndef far(): ...\n",
            },
            "from pkg import ids\nids.NONE = 1\n",
        ),
    ],
    ids=["excused", "conftest"],
)
def test_what_a_test_changes_far_away(
    files: dict[str, str], edit: str, write: Write, tmp_path: Path
) -> None:
    agree(write({**TREE, **files}), tmp_path / "cache")
    agree(write({"tests/test_f.py": edit}), tmp_path / "cache")
    agree(write({"tests/test_f.py": "x = 1\n"}), tmp_path / "cache")


def test_a_file_that_is_gone(write: Write, tmp_path: Path) -> None:
    root = write(TREE)
    agree(root, tmp_path / "cache")
    (root / "pkg/use.py").unlink()
    agree(root, tmp_path / "cache")


@pytest.fixture
def reused(monkeypatch: pytest.MonkeyPatch) -> list[Reuse]:
    """What each run takes over, as it happens."""
    seen: list[Reuse] = []
    whole = last_run.reuse

    def reuse(*arguments: object) -> Reuse:
        seen.append(whole(*arguments))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(last_run, "reuse", reuse)
    return seen


def test_only_what_a_test_can_touch_is_asked_again(
    write: Write, tmp_path: Path, reused: list[Reuse]
) -> None:
    root = write(TREE)
    check(root, Config(), cache_dir=tmp_path / "cache", jobs=1)
    write({"tests/test_f.py": "def test_f():\n    assert 128256 > 4\n"})
    check(root, Config(), cache_dir=tmp_path / "cache", jobs=1)
    assert reused[0].again == TREE.keys()
    # The test itself, and the files in which something does not run: what it costs may change.
    broken = {"pkg/broken.py", "tests/test_b.py", "tests/test_d.py"}
    assert reused[1].again == {"tests/test_f.py", *broken}
    assert [finding.rule for finding in reused[1].found] == ["CG201"]


def test_a_test_that_another_imports_is_no_end(
    write: Write, tmp_path: Path, reused: list[Reuse]
) -> None:
    root = write(TREE)
    check(root, Config(), cache_dir=tmp_path / "cache", jobs=1)
    write({"tests/test_a.py": "def test_b(): ...\n"})
    check(root, Config(), cache_dir=tmp_path / "cache", jobs=1)
    assert reused[1] == Reuse(frozenset(TREE))
