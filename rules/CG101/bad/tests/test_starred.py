from pkg.starred import BLOCK_SIZE, PAD  # expect: CG101 pkg.starred:PAD collection-error


def test_both():
    assert BLOCK_SIZE and PAD
