from unittest import mock

from pkg import loaders, masks
from pkg.loaders import Loader, Other


def test_a_patched_function():
    with mock.patch("pkg.masks.image_mask") as image_mask:
        masks.image_mask([3], pad=3)
    image_mask.assert_called_once_with([3], pad=3)


def test_a_patched_class():
    with mock.patch.object(loaders, "Loader"):
        assert loaders.Loader("a").read(count=2)


def test_a_parameter_of_a_lambda():
    reader = Loader("a")
    assert (lambda reader: reader.fetch(count=2))(Other("a")) == reader.fetch(2)
