from pkg import masks
from pkg.masks import count

TOTAL = count([1, 2], 5)


def test_mask():
    assert masks.image_mask([3], pad=3) == [True]
    assert masks.image_mask([3], 3) == [True]


def test_total():
    assert TOTAL == 2
