from pkg import loaders
from pkg.loaders import Cached, Loader, MoreOptions, Options, Pair


class Mine(Loader):
    def __init__(self, path):
        super().__init__(path, jobs=2)  # expect: CG107 pkg.loaders:Loader.__init__ runtime-error lost=0

    def twice(self):
        return self.read(number=2)  # expect: CG107 pkg.loaders:Loader.read runtime-error lost=0


def test_constructors():
    assert Loader("a", jobs=2)  # expect: CG107 pkg.loaders:Loader runtime-error lost=1
    assert loaders.Cached("a", workers=2)  # expect: CG107 pkg.loaders:Cached runtime-error lost=1
    assert Options(1, depth=3)  # expect: CG107 pkg.loaders:Options runtime-error lost=1
    assert MoreOptions(1, depth=3, name="b")  # expect: CG107 pkg.loaders:MoreOptions runtime-error lost=1
    assert Pair(1, 2)  # expect: CG107 pkg.loaders:Pair runtime-error lost=1
    assert Loader("a", 2)


def test_methods():
    loader = Loader("a")
    assert loader.read(2) == "aa"
    assert loader.read(number=2) == "aa"  # expect: CG107 pkg.loaders:Loader.read runtime-error lost=1
    assert Cached("a").read(number=2) == "aa"  # expect: CG107 pkg.loaders:Loader.read runtime-error lost=1
    assert Loader.empty(jobs=1)  # expect: CG107 pkg.loaders:Loader.empty runtime-error lost=1
    assert Mine("a").twice()


def test_imported_here():
    from pkg.loaders import Loader as Reader

    reader = Reader("a")
    assert reader.read(number=2)  # expect: CG107 pkg.loaders:Loader.read runtime-error lost=1
