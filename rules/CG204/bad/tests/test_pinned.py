from pkg import constants
from pkg.constants import LIMIT, NAMES


def test_limit():  # expect: CG204 pkg.constants:LIMIT
    """The limit is five."""
    assert LIMIT == 5


class TestBoth:
    def test_both(self):  # expect: CG204 pkg.constants:LIMIT
        assert 5 == constants.LIMIT
        assert NAMES == ("a", "b")
