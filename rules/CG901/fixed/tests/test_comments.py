from pkg.constants import SENTINEL  # expect: CG901 CG101
from pkg.constants import PAD  # contract-guard: ignore[CG101] known  # expect: CG901 CG103
value = 1  # expect: CG901 CG199
other = 2  # contract-guard: ignore  # expect: CG901 ignore
third = 3  # contract-guard: ignores[CG101]  # expect: CG901 ignores
# expect: CG901 CG101


def test_nothing():
    assert PAD
