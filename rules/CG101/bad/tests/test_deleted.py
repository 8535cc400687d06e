from pkg.constants import retired  # expect: CG101 pkg.constants:retired collection-error


def test_retired():
    assert retired
