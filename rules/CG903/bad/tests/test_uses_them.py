from pkg.broken import anything
from pkg.python2 import something


def test_them():
    assert anything and something
