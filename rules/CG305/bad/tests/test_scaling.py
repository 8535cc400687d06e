import pytest
from numpy.testing import assert_allclose
from pkg import scaling
from pkg.scaling import Scaler, scale


def test_limit():
    assert scale([1, 2], limit=3) == scale([1, 2], limit=3)  # expect: CG305 pkg.scaling:scale


def test_factor():
    values = [1, 2]
    expected = scaling.scale(values, 3)
    result = scaling.scale(values, 3)
    assert len(result) == 2
    assert result == expected  # expect: CG305 pkg.scaling:scale


def test_approximately():
    scaler = Scaler(3)
    assert scaler.apply([1.5]) == pytest.approx(scaler.apply([1.5]))  # expect: CG305 pkg.scaling:Scaler.apply


def test_with_itself():
    result = scale([1], 2)
    expected = result.copy()
    assert result == expected  # expect: CG305 pkg.scaling:scale


def reference(values):
    return scale(values, 5)


def test_with_reference():
    assert scale([7], 5) == reference([7])  # expect: CG305 pkg.scaling:scale


def test_tripled():
    result = scale([1, 2], 3)
    expected = [3 * value for value in (1, 2)]
    assert_allclose(expected, expected)  # expect: CG305 expected
    assert len(result) == 2
