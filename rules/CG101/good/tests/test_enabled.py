from lazy_package import enable_halving
from lazy_package.selection import Halving


def test_enabled():
    assert Halving and enable_halving
