from unittest.mock import patch

import pytest

from decorators import gives_arguments
from tests.shared import imported_fixture


@pytest.fixture
def local(config, request, tmp_path):
    return 1


def test_visible(local, config, from_plugin, imported_fixture):
    assert local


def test_of_installed_plugins(mocker, benchmark, httpx_mock, tmp_path, monkeypatch):
    assert mocker


@pytest.mark.parametrize("only_below", [1])
@pytest.mark.parametrize(("left", "right"), [(1, 2)])
def test_parametrized(only_below, left, right):
    assert left


@patch("os.getcwd")
def test_patched(configs):
    assert configs


@gives_arguments
def test_unknown_decorator(only_below):
    assert only_below


def test_default(only_below=1):
    assert only_below


class TestOwn:
    @pytest.fixture
    def own(self):
        return 1

    def test_own(self, own):
        assert own


def test_called_by_the_script(only_below):
    assert only_below


if __name__ == "__main__":
    test_called_by_the_script(1)
