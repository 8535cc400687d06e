from pkg.constants import SENTINEL, SIZES  # expect: CG201 pkg.constants:SENTINEL; CG201 pkg.constants:SIZES
from pkg.facade import SENTINEL as again  # expect: CG201 pkg.constants:SENTINEL


def test_gate():
    assert SENTINEL in (again, *SIZES)
