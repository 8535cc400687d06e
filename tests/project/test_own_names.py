"""What a module itself still uses of what it no longer defines."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.project.config import Config
from contract_guard.project.diff import diff

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]
Broken = Callable[[str, str], list[tuple[str, str, int, str, str | None]]]

OLD = "def find_size(n=None):\n    return find_size if n is None else n\n"


@pytest.fixture
def broken(root: Path, write: Write, git: Git) -> Broken:
    """The broken consumers of `pkg/memory.py`, once with the one text and then with the other."""

    def compare(before: str, after: str) -> list[tuple[str, str, int, str, str | None]]:
        write({"pkg/__init__.py": "", "pkg/other.py": "", "pkg/memory.py": before})
        git("add", "-A")
        git("commit", "-qm", "before")
        write({"pkg/memory.py": after})
        return [
            (change.symbol, change.kind, consumer.line, consumer.form, consumer.impact)
            for change in diff(root, Config(), "HEAD").changes
            for consumer in change.consumers
        ]

    return compare


def test_a_function_that_names_itself(broken: Broken) -> None:
    new = OLD.replace("def find_size", "def find_batch_size")
    assert broken(OLD, new) == [
        ("pkg.memory:find_size", "renamed", 2, "attribute", "runtime-error")
    ]


def test_a_constant_that_went(broken: Broken) -> None:
    text = "def size():\n    return SIZE\n"
    assert broken("SIZE = 1\n\n\n" + text, text) == [
        ("pkg.memory:SIZE", "removed", 2, "attribute", "runtime-error")
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(OLD, OLD.replace("find_size", "find_batch_size"), id="all renamed"),
        pytest.param(
            "SIZE = 1\ndef size():\n    return SIZE\n",
            "from pkg.other import *\ndef size():\n    return SIZE\n",
            id="a star may bind it",
        ),
        pytest.param(
            "SIZE = 1\ndef size():\n    return SIZE\n",
            "def size():\n    try:\n        return SIZE\n    except NameError:\n        return 0\n",
            id="expected",
        ),
        pytest.param(
            "def size():\n    return SIZE\n",
            "def size():\n    return SIZE + 1\n",
            id="never defined here",
        ),
    ],
)
def test_what_is_not_broken(broken: Broken, before: str, after: str) -> None:
    assert broken(before, after) == []


def test_the_message(root: Path, broken: Broken) -> None:
    assert broken(OLD, OLD.replace("def find_size", "def find_batch_size"))
    (finding,) = diff(root, Config(), "HEAD").findings
    assert (finding.rule, finding.path, finding.line) == ("CG101", "pkg/memory.py", 2)
    assert finding.message.startswith("this file no longer defines `find_size`, and uses it")
    assert finding.help == "`pkg.memory.find_size` was renamed to `pkg.memory.find_batch_size`"
