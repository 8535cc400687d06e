"""CG203 of a change: tests that still write a text that production had."""

from collections.abc import Callable
from pathlib import Path

import pytest

from contract_guard.detectors.base import Context
from contract_guard.detectors.former_texts import former_texts
from contract_guard.project.config import read_config
from contract_guard.project.snapshot import load
from contract_guard.registry.index import build

PRODUCTION = """import os


def convert(config):
    if config.get("version") == 2:
        raise ValueError("the configuration alredy has version 2")
    return os.environ.get("USE_SHARDS", "0")
"""
TEST = """import pytest
from pkg.convert import convert


def test_convert(monkeypatch):
    # "the configuration alredy has version 2"
    monkeypatch.setenv("USE_SHARDS", "1")
    with pytest.raises(ValueError, match="the configuration alredy has version 2"):
        convert({"version": 2})
"""
MENDED = ("alredy", "already")
PREFIXED = ('"USE_SHARDS"', '"PKG_USE_SHARDS"')

Found = Callable[..., list[tuple[str, int, str]]]


def context(root: Path, files: dict[str, str]) -> Context:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    snapshot = load(root, read_config(root))
    return Context(build(snapshot.tree), snapshot.read, snapshot.unreadable)


@pytest.fixture
def found(tmp_path: Path) -> Found:
    """Path, line and symbol of the findings after replacing texts in production."""

    def find(*replacements: tuple[str, str], test: str = TEST, more: str = "") -> list:
        after = PRODUCTION
        for old, new in replacements:
            after = after.replace(old, new)
        fixed = {"pkg/__init__.py": "", "pkg/more.py": more, "tests/test_convert.py": test}
        before = context(tmp_path / "before", {**fixed, "pkg/convert.py": PRODUCTION})
        now = context(tmp_path / "after", {**fixed, "pkg/convert.py": after})
        return [(f.path, f.line, f.symbol) for f in former_texts(now, before, ())]

    return find


def test_a_message_that_was_mended(found: Found) -> None:
    assert found(MENDED) == [("tests/test_convert.py", 8, "pkg.convert:convert")]


def test_a_key_with_a_prefix(found: Found) -> None:
    assert found(PREFIXED) == [("tests/test_convert.py", 7, "pkg.convert:convert")]


def test_a_test_that_follows(found: Found) -> None:
    assert found(MENDED, PREFIXED, test=TEST.replace(*MENDED).replace(*PREFIXED)) == []


def test_what_another_file_still_has(found: Found) -> None:
    assert found(PREFIXED, more='KEY = "USE_SHARDS"\n') == []


@pytest.mark.parametrize("other", ['"SHARDS_ARE_NEVER_USED"', "KEY", '"shards"'])
def test_what_nothing_alike_took_the_place_of(found: Found, other: str) -> None:
    assert found((PREFIXED[0], other)) == []


def test_lines_that_only_moved(found: Found) -> None:
    assert found(("import os\n", "import os\nimport re\n")) == []
