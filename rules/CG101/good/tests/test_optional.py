"""The file is skipped, not broken, where the module is not installed."""

import pytest

pytest.importorskip("fast_transfer")

from fast_transfer import Engine


def test_engine():
    assert Engine
