from pkg.constants import LIMIT, _helper


def test_limit():
    assert _helper() == LIMIT
