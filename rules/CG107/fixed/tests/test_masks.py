from pkg import masks
from pkg.masks import count

TOTAL = count([1, 2], 5)  # expect: CG107 pkg.masks:count collection-error lost=2


def test_mask():
    assert masks.image_mask([3], sentinel=3) == [True]  # expect: CG107 pkg.masks:image_mask runtime-error lost=1
    assert masks.image_mask([3], 3) == [True]


def test_total():
    assert TOTAL == 2
