from pkg.constants import LIMIT, clamp


def test_clamp():
    assert clamp(9) == LIMIT
    assert LIMIT == 5


def test_between():
    assert LIMIT < 10


def test_made(values=(1, 2)):
    largest = max(values)
    assert LIMIT == largest
