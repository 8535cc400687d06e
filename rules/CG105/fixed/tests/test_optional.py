import contextlib

import pytest

Compiled = None

with contextlib.suppress(ImportError):
    from pkg.gone import thing  # expect: CG105 pkg.gone always-skipped


@pytest.mark.skipif(Compiled is None, reason="not compiled")
def test_compiled():
    assert Compiled


def test_in_function():
    kernels = pytest.importorskip("pkg.kernels")  # expect: CG105 pkg.kernels always-skipped lost=1
    assert kernels
