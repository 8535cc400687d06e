# contract-guard: ignore-file[CG101, CG102] written for the old names
import pkg.constants
from pkg.constants import GONE


def test_gone():
    assert GONE
    assert pkg.constants.ALSO_GONE
