"""Conditions on versions, folded for the versions given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.detectors.versions import Versions, parse

NEW = Versions(["vllm==0.33.0"], ["pkg.utils.vllm_version_is", "is_version"])
BOTH = Versions(["vllm==0.27.1", "vllm==0.33.0"], ["vllm_version_is"])


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ('vllm_version_is("0.33.0")', True),
        ('vllm_version_is("0.33")', True),
        ('utils.vllm_version_is("0.27.1")', False),
        ('not vllm_version_is("0.27.1")', True),
        ('is_version(">=", "0.30")', True),
        ('is_version("vllm", "<", "0.30")', False),
        ('is_version("torch", "<", "0.30")', None),
        ('vllm_version_is("0.27.1") and flag', False),
        ('vllm_version_is("0.33.0") and flag', None),
        ('vllm_version_is("0.33.0") or flag', True),
        ('vllm_version_is("0.27.1") or vllm_version_is("0.33.0")', True),
        ('Version(vllm.__version__) >= Version("0.33.0rc1")', True),
        ('version.parse(vllm.__version__) < version.parse("0.33.0rc1")', False),
        ('vllm.__version__ == "0.33.0"', True),
        ('parse(version("vllm")) > parse("0.40")', False),
        ("vllm_version_is(TARGET)", None),
        ('other_version_is("0.33.0")', None),
        ("sys.version_info >= (3, 12)", None),
        ("vllm_version_is(", None),
    ],
)
def test_one_version(condition: str, expected: bool | None) -> None:
    assert NEW.may_hold(condition) is expected
    opposite = NEW.may_hold(condition, negated=True)
    assert opposite is (None if expected is None else not expected)


def test_of_several_versions_one_is_enough() -> None:
    assert BOTH.may_hold('vllm_version_is("0.27.1")') is True
    assert BOTH.may_hold('vllm_version_is("0.27.1")', negated=True) is True
    assert BOTH.may_hold('vllm_version_is("0.30.0")') is False
    assert BOTH.may_hold('vllm_version_is("0.27.1") or vllm_version_is("0.33.0")') is True


def test_without_a_version_nothing_is_known() -> None:
    assert Versions(["/a/path"], ["vllm_version_is"]).may_hold('vllm_version_is("1.0")') is None


@given(st.lists(st.integers(0, 99), min_size=1, max_size=4), st.integers(0, 3))
def test_trailing_zeros_do_not_count(release: list[int], zeros: int) -> None:
    text = ".".join(map(str, release))
    assert parse(text) == parse(text + ".0" * zeros)


releases = st.lists(st.integers(0, 9), min_size=1, max_size=3)


@given(releases, releases)
def test_order_is_that_of_padded_releases(one: list[int], other: list[int]) -> None:
    left, right = parse(".".join(map(str, one))), parse(".".join(map(str, other)))
    assert left is not None
    assert right is not None
    padded = [(*release, 0, 0, 0)[:3] for release in (one, other)]
    assert (left < right) == (padded[0] < padded[1])
