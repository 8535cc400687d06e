from unittest.mock import patch

from pkg.constants import IMAGE_SENTINEL, is_image


def test_image():
    assert is_image(IMAGE_SENTINEL)
    assert not is_image(45123)
    assert not is_image(16)


@patch("pkg.constants.PATCHED", 32768)
def test_patched():
    assert not is_image(32768)


def test_the_value_itself_is_the_contract():
    assert IMAGE_SENTINEL == 128815
