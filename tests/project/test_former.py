"""Values that constants had before BASE: told by the history of their files."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.project.config import Config
from contract_guard.project.diff import Diffed, diff

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

DIGEST = "b4374f857c3066089c4ec6b5e79e785559fa2c05ce2623710b0b04bf86414a48"
START = {
    "pkg/__init__.py": "",
    "pkg/ids.py": f'PAD = 129264\n\n\nclass Hash:\n    KERNELS = "{DIGEST}"\n',
    "tests/test_a.py": "def test_a(): ...\n",
}
NOW = {"pkg/ids.py": 'PAD = 129280\n\n\nclass Hash:\n    KERNELS = "f161"\n'}


@pytest.fixture
def commit(write: Write, git: Git) -> Callable[[Mapping[str, str]], str]:
    def make(files: Mapping[str, str]) -> str:
        write(files)
        git("add", "-A")
        git("commit", "-qm", "x", "--allow-empty")
        return git("rev-parse", "HEAD").strip()

    return make


def told(diffed: Diffed) -> list[tuple[str, str, str, int, str]]:
    return [(f.rule, f.severity, f.path, f.line, f.symbol) for f in diffed.findings]


def test_a_new_literal_that_a_constant_had_once(root: Path, commit) -> None:
    commit(START)
    changed = commit(NOW)
    base = commit({"pkg/other.py": ""})
    test = f'from pkg.ids import PAD\n\n\ndef test_b():\n    assert PAD, ["{DIGEST}", 129264]\n'
    head = commit({"tests/test_b.py": test})
    found = diff(root, Config(), base, head)
    assert told(found) == [
        ("CG203", "warning", "tests/test_b.py", 5, "pkg.ids:Hash.KERNELS"),
        ("CG203", "warning", "tests/test_b.py", 5, "pkg.ids:PAD"),
    ]
    assert found.findings[1].message.startswith(
        f"129264 is what `pkg.ids:PAD` was before {changed[:10]} ("
    )
    again = commit({"tests/test_b.py": f"{test}\n\ndef test_c(): ...\n"})
    assert told(diff(root, Config(), head, again)) == []


@pytest.mark.parametrize(
    "test",
    [
        "def test_b():\n    assert 129264\n",  # leans on nothing
        "from pkg import other\ndef test_b():\n    assert other, 129264\n",  # on another module
        "from pkg.ids import PAD\ndef test_b():\n    assert PAD, 129265\n",  # never was a value
        "from pkg.ids import PAD\ndef test_b():\n    assert PAD, 129280\n",  # is the value now
        "from pkg.ids import PAD\ndef test_b():\n    assert PAD, 1234\n",  # anyone writes that
    ],
)
def test_literals_that_are_not_told(root: Path, commit, test: str) -> None:
    commit(START | {"pkg/other.py": "", "pkg/ids.py": START["pkg/ids.py"] + "SHORT = 1234\n"})
    base = commit(NOW)
    head = commit({"tests/test_b.py": test})
    assert told(diff(root, Config(), base, head)) == []


def test_a_value_that_came_back(root: Path, commit) -> None:
    commit(START)
    commit(NOW)
    base = commit(START)
    head = commit(
        {"tests/test_b.py": "from pkg.ids import PAD\ndef test_b():\n    PAD == 129264\n"}
    )
    assert told(diff(root, Config(), base, head)) == []


def test_the_working_tree(root: Path, commit, write: Write) -> None:
    commit(START)
    commit(NOW)
    write({"tests/test_b.py": "from pkg.ids import PAD\ndef test_b():\n    assert PAD, 129264\n"})
    assert [line[4] for line in told(diff(root, Config(), "HEAD"))] == ["pkg.ids:PAD"]
