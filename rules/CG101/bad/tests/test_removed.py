import pytest

from pkg.constants import PAD, SENTINEL  # expect: CG101 pkg.constants:PAD collection-error lost=4


@pytest.mark.parametrize("token", [42, SENTINEL, PAD])
def test_mask(token):
    assert (token == SENTINEL) in (True, False)


def test_one():
    assert SENTINEL
