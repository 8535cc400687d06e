from unittest import mock

import pytest

from pkg import loaders
from pkg.loaders import Colour, Empty, Handed, Loader, Made, Options, Wrapped


class Mine(Loader):
    def read_again(self):
        return self.read(count=2)  # another class has a method of that name


def test_by_position():
    assert Loader("a", 2).read(2) == "aa"
    assert Options(1, 2)


def test_bound_more_than_once(other):
    loader = Loader("a")
    if other:
        loader = other
    assert loader.read(count=2)


def test_replaced():
    loader = Loader("a")
    loader.read = lambda count: count
    assert loader.read(count=2)
    again = Loader("a")
    with mock.patch.object(again, "follow"):
        assert again.follow(count=2)


def test_expected():
    loader = Loader("a")
    with pytest.raises(TypeError):
        loader.read(count=2)
    with pytest.raises(TypeError):
        Loader("a", workers=2)


def test_of_which_little_is_known():
    assert Wrapped("a", workers=2)
    assert Made(path="a")
    assert Colour(1)
    assert Empty()


def test_arguments_that_cannot_be_counted():
    options = {"workers": 2}
    assert Loader("a", **options)


def test_another_class():
    class Loader:
        def read(self, count):
            return count

    assert Loader().read(count=2) == 2


def test_a_parameter(loader):
    assert loader.read(count=2)


def test_stored():
    loaders.Handed = lambda workers: workers
    assert Handed
    assert loaders.Handed(workers=2)
