from pkg.constants import _LIMIT  # expect: CG202 pkg.constants:_LIMIT


def test_limit():
    assert _LIMIT > 4
