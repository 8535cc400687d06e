from pkg import loaders
from pkg.loaders import Cached, Loader, MoreOptions, Options, Pair


class Mine(Loader):
    def __init__(self, path):
        super().__init__(path, workers=2)

    def twice(self):
        return self.read(count=2)


def test_constructors():
    assert Loader("a", workers=2)
    assert loaders.Cached("a", workers=2)
    assert Options(1, depth=3)
    assert MoreOptions(1, depth=3, name="b")
    assert Pair(1, 2)
    assert Loader("a", 2)


def test_methods():
    loader = Loader("a")
    assert loader.read(2) == "aa"
    assert loader.read(count=2) == "aa"
    assert Cached("a").read(count=2) == "aa"
    assert Loader.empty(workers=1)
    assert Mine("a").twice()


def test_imported_here():
    from pkg.loaders import Loader as Reader

    reader = Reader("a")
    assert reader.read(count=2)
