import pytest


@pytest.fixture
def only_below(config):
    return config
