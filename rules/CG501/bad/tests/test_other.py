from pkg.constants import LIMIT  # expect: CG501 pkg.constants:LIMIT


def test_other():
    assert LIMIT < 9
