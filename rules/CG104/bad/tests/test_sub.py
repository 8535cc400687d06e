from pkg.sub import kept


def test_kept():
    assert kept.value
