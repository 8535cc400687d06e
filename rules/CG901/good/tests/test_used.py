from pkg.constants import PAD  # noqa: F401  # contract-guard: ignore[CG101] goes with the next release
from pkg.constants import (
    SENTINEL,
    OTHER,
)  # contract-guard: ignore[CG101] the comment may stand on any line of the statement

TEXT = "# contract-guard: ignore[CG101] this is a string"


def test_text():
    """# contract-guard: ignore[CG101] and so is this"""
    assert TEXT and SENTINEL and OTHER
