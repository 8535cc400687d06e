from pkg.defaults import DEFAULT


def test_default():
    assert DEFAULT
