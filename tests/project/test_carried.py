"""What a change breaks of those that name the symbol through a module that no longer loads."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.project.config import Config
from contract_guard.project.diff import diff

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]
Impacts = Callable[[Mapping[str, str]], dict[str, tuple[str | None, int | None]]]

START = {
    "pkg/__init__.py": "",
    "pkg/utils/__init__.py": "from .memory import find_size\n",
    "pkg/utils/memory.py": "def find_size(n):\n    return n + 1\n",
}
TEST = "def test_a():\n    assert {}(1) == 2\n"


@pytest.fixture
def impacts(root: Path, write: Write, git: Git) -> Impacts:
    """Of the consumers that a renaming leaves behind, with the tests lost, by path."""

    def compare(files: Mapping[str, str]) -> dict[str, tuple[str | None, int | None]]:
        write({**START, **files})
        git("add", "-A")
        git("commit", "-qm", "before")
        write({"pkg/utils/memory.py": "def find_batch_size(n):\n    return n + 1\n"})
        (change,) = diff(root, Config(), "HEAD").changes
        return {
            consumer.path: (consumer.impact, consumer.tests_lost and consumer.tests_lost.count)
            for consumer in change.consumers
        }

    return compare


def test_along_the_chain(impacts: Impacts) -> None:
    files = {
        "pkg/__init__.py": "from .utils import find_size\n",
        "tests/test_a.py": "from pkg import find_size\n" + TEST.format("find_size"),
        "scripts/run.py": "from pkg.utils import find_size\nfind_size(1)\n",
    }
    assert impacts(files) == {
        "pkg/__init__.py": ("collection-error", 1),
        "pkg/utils/__init__.py": ("collection-error", 1),
        "tests/test_a.py": ("collection-error", 1),
        "scripts/run.py": ("runtime-error", None),
    }


def test_inside_of_a_function(impacts: Impacts) -> None:
    files = {
        "scripts/run.py": "def run():\n    from pkg.utils import find_size\n    find_size(1)\n"
    }
    assert impacts(files)["scripts/run.py"] == ("runtime-error", None)


def test_where_the_failure_is_caught(impacts: Impacts) -> None:
    files = {
        "scripts/run.py": "try:\n    from pkg.utils import find_size\n"
        "except ImportError:\n    find_size = None\n",
        "tests/test_a.py": "from pkg.utils.memory import find_size\n" + TEST.format("find_size"),
    }
    assert impacts(files)["scripts/run.py"][0] == "silent"
