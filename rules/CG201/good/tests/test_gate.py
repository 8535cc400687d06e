import pkg.constants
from pkg.constants import LOUD, UPPER, logger
from tests.helpers import SIZE


def test_gate():
    assert pkg.constants.SENTINEL and LOUD and UPPER and logger and SIZE


def test_late():
    from pkg.constants import SENTINEL

    assert SENTINEL
