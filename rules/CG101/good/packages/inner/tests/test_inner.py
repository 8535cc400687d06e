"""`tests` is this folder's own package here, not the one at the root of the repository."""

from tests import FIXTURES
from tests.helpers import clear


def test_inner():
    assert FIXTURES
    clear()
