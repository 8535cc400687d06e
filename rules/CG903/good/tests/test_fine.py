from pkg.fine import value


def test_fine():
    assert value
