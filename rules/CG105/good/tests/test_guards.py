from typing import TYPE_CHECKING

import pytest

pytest.importorskip("numpy")
engine = pytest.importorskip("pkg.engine")

try:
    from pkg.engine import Engine
except ImportError:
    from pkg.older import Engine

try:
    import outside.anything
except ImportError:
    outside = None

if TYPE_CHECKING:
    from pkg.engine import Gone


def test_engine():
    assert engine and Engine


def test_gone():
    with pytest.raises(ImportError):
        from pkg.engine import Removed
