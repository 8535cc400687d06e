from pkg.loader import load


def test_load():
    assert load(2)
