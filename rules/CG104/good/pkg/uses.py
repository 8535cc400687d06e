import sys

import pkg._native
from pkg._native.inner.floats import float_to_int
from pkg.third_party.attention.ops import attend

if sys.platform == "win32":
    from pkg import gemm

try:
    from . import _build_meta
except ImportError:
    _build_meta = None


def version():
    return getattr(_build_meta, "__version__", "unknown")
