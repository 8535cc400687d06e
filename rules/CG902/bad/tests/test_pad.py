from pkg.constants import PAD


def test_pad():
    assert PAD
