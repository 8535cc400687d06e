import pytest

pytest.importorskip("pkg.kernels")  # expect: CG105 pkg.kernels always-skipped lost=2


def test_one():
    assert True


def test_two():
    assert True
