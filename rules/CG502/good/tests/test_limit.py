from pkg.constants import LIMIT


def test_limit():
    assert LIMIT > 0
