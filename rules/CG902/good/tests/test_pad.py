from pkg.constants import GONE, PAD


def test_pad():
    assert PAD != GONE
