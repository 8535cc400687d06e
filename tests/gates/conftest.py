"""The example gate of the benchmarks, with its planted faults."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

PLANTED = Path(__file__).parents[2] / "benchmarks" / "planted.py"


@pytest.fixture(scope="session")
def planted() -> ModuleType:
    spec = importlib.util.spec_from_file_location("planted", PLANTED)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
