import sys
import types

sys.modules.setdefault("pkg.stubbed", types.ModuleType("pkg.stubbed"))

import numpy.not_a_module_we_know
import pkg.namespace.inner
import pkg.stubbed
from pkg.stubbed import anything


def test_all():
    assert pkg.namespace.inner.value and anything


def test_gone_on_purpose():
    import pytest

    with pytest.raises(ModuleNotFoundError):
        import pkg.removed_last_year
