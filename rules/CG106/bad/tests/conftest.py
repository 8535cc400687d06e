import pytest


@pytest.fixture
def gate_weights():
    return [1, 2]
