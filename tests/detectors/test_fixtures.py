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


def test_a_test_that_names_itself_is_none_that_the_file_runs() -> None:
    files = {"tests/other/test_b.py": OTHER}

    def of(source: str) -> list[tuple[str, str]]:
        return found({**files, "tests/a/test_a.py": source})

    own = "def test_it(factory):\n    assert factory.name == test_it.__name__\n"
    assert of(own) == [("CG106", "test_a.py")]
    inner = "def test_it(factory):\n    again = lambda: test_it\n    test_it(factory())\n"
    assert of(inner) == [("CG106", "test_a.py")]
    assert of(TEST + "for value in (1, 2):\n    test_it(value)\n") == []
    assert of(TEST + "checks = [test_it]\n") == []
    method = (
        "class TestIt:\n    def test_a(self, factory): ...\n    def test_b(self): self.test_a(1)\n"
    )
    assert of(method) == []
    assert of(method.replace("self.test_a(1)", "self.other(1)")) == [("CG106", "test_a.py")]


def test_a_fixture_that_the_body_looks_up_by_a_literal_name() -> None:
    files = {"tests/other/test_b.py": OTHER}

    def of(body: str) -> list[tuple[str, str]]:
        return found({**files, "tests/a/test_a.py": f"def test_it(request):\n    {body}\n"})

    assert of('request.getfixturevalue("factory")') == [("CG106", "test_a.py")]
    assert of('request.getfixturevalue("tmp_path")') == []
    assert of("request.getfixturevalue(name())") == []
    assert of('other.getfixturevalue("factory")') == []
    tried = 'try:\n        request.getfixturevalue("factory")\n    except Exception: ...'
    assert of(tried) == []
    inside = 'def inner(): request.getfixturevalue("factory")'
    assert of(inside) == []
