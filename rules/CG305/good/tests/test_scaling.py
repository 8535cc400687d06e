import copy

from numpy.testing import assert_allclose
from pkg import scaling
from pkg.scaling import Scaler, scale


def test_is_deterministic():
    assert scale([1, 2], 3) == scale([1, 2], 3)


def test_scale():
    # A second call must not see what the first one left.
    assert scale([1, 2], 3) == scale([1, 2], 3)


def test_values():
    assert scale([1, 2], 3) == [3, 6]
    assert scale([1, 2], 3) != scale([1, 2], 4)


def test_two_instances():
    one, other = Scaler(2), Scaler(2)
    assert one.apply([1]) == other.apply([1])


def test_after_reset():
    before = scale([1], 2)
    scaling.reset()
    assert scale([1], 2) == before


def test_copied():
    scaler = Scaler(2)
    assert scaler.apply([1]) == copy.copy(scaler).apply([1])


def test_argument_changes():
    values = [1]
    before = scale(values, 2)
    values[0] = -1
    assert scale(values, 2) != before
    values = [1]
    assert scale(values, 2) == before


def test_with_another_backend(monkeypatch):
    expected = scale([1], 2)
    with monkeypatch.context() as patched:
        patched.setattr(scaling, "CALLS", [])
        assert scale([1], 2) == expected


def own(values):
    return sum(values)


def test_helper():
    assert own([1]) == own([1])


def test_comes_sorted():
    result = scale([1, 2], 3)
    assert result == sorted(result)


def test_chain_ends_at_a_value():
    assert sum(scale([0])) == sum(scale([0])) == 0


def test_expected():
    result = scale([1, 2], 3)
    expected = [3 * value for value in (1, 2)]
    assert_allclose(result, expected)


def test_equality_holds_for_the_same():
    expected = [3, 6]
    assert_allclose(expected, expected)
