from pkg.constants import BLOCK_SIZE  # expect: CG101 pkg.masks:BLOCK_SIZE collection-error lost=1


def test_block():
    assert BLOCK_SIZE == 16
