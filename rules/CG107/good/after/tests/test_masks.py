import pytest

from pkg import masks
from pkg.masks import decorated, followed, guarded, image_mask, wider


def test_by_position():
    assert image_mask([3], 3) == [True]


def test_arguments_that_cannot_be_counted():
    arguments = {"pad": 3}
    assert image_mask([3], **arguments) == [True]


def test_more_is_possible():
    assert wider([3], pad=3) == [3]


def test_unknown_decorator():
    assert decorated([3], 3) == [3]


def test_expected():
    with pytest.raises(TypeError):
        guarded([3], 3)


def test_followed():
    assert followed([3], sentinel=3) == [3]


def test_bound_anew():
    masks = make()
    assert masks.guarded([3], 3) == [3]


def make():
    class Masks:
        def guarded(self, ids, pad):
            return ids

    return Masks()


def test_wrong_before():
    assert masks.guarded(pad=3) == [3]
