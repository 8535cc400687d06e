import pytest


@pytest.fixture
def imported_fixture():
    return 1
