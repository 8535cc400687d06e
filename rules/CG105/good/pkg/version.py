try:
    from pkg import _build_meta
except ImportError:
    _build_meta = None

try:
    from pkg._speedups import fast
except ImportError:
    fast = None

try:
    from pkg.older import Engine
except ImportError:
    from pkg.engine import Engine
