from pkg.table import KINDS


def test_kinds():
    assert KINDS
