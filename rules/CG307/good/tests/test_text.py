from pkg.router import is_image


def test_text_is_no_image():
    assert not is_image(5)
