import pytest

from pkg import kinds
from pkg.kinds import Plain

CASES = [kinds.Kind.FIRST, kinds.Kind.SECOND]  # expect: CG102 pkg.kinds:Kind.SECOND collection-error lost=3


@pytest.mark.parametrize("kind", CASES)
def test_kind(kind):
    assert kind


def test_declared_alone():
    assert Plain.limit  # expect: CG102 pkg.kinds:Plain.limit runtime-error lost=1
