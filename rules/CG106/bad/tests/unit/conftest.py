import pytest


@pytest.fixture(name="only_in_unit")
def _make():
    return 1
