def test_limit():
    assert 5 > 0  # expect: CG502 pkg.constants:LIMIT
