"""The table of gates in docs/gates.md is what the script makes."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from contract_guard.gates.adapters.transformers.classes import version

DOCS = Path(__file__).resolve().parents[2] / "docs"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("gate_table", DOCS / "gate_table.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_documented_table_is_true() -> None:
    text = (DOCS / "gates.md").read_text(encoding="utf-8")
    if f"transformers {version()}:" not in text:
        pytest.skip(f"the table is not of transformers {version()}")
    tool = script()
    assert tool.replaced(text, tool.table()) == text
