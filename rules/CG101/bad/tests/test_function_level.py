def test_lazy():
    from pkg.constants import OFFSET  # expect: CG101 pkg.constants:OFFSET runtime-error lost=1

    assert OFFSET


def test_other():
    assert True
