"""CG106 beside the rules on imports."""

from pathlib import Path

from contract_guard.detectors.run import run
from contract_guard.facts.extract import extract
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

TEST = "def test_it(factory): ...\n"
OTHER = "import pytest\n@pytest.fixture\ndef factory(): ...\n"


def found(files: dict[str, str]) -> list[tuple[str, str]]:
    sources = {path: text.encode() for path, text in files.items()}
    registry = build(Tree(files={path: extract(source) for path, source in sources.items()}))
    reported = run(registry, sources.__getitem__, select=("CG1",))
    return [(finding.rule, Path(finding.path).name) for finding in reported]


def test_a_test_that_is_not_collected_is_not_told_of_twice() -> None:
    files = {"pkg/__init__.py": "", "tests/other/test_b.py": OTHER + TEST}
    assert found({**files, "tests/a/test_a.py": TEST}) == [("CG106", "test_a.py")]
    broken = "from pkg import gone\n"
    assert found({**files, "tests/a/test_a.py": broken + TEST}) == [("CG101", "test_a.py")]
    beside = {**files, "tests/a/test_a.py": TEST, "tests/a/conftest.py": broken}
    assert found(beside) == [("CG101", "conftest.py")]
    guarded = "try:\n    from pkg import gone\nexcept ImportError:\n    gone = None\n"
    assert ("CG106", "test_a.py") in found({**files, "tests/a/test_a.py": guarded + TEST})
