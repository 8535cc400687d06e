import pytest


@pytest.fixture
def from_plugin():
    return 1
