import pytest

pytest_plugins = ["tests.plugin"]


@pytest.fixture
def config():
    return 1
