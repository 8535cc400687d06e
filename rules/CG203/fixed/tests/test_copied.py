from pkg.constants import IMAGE_SENTINEL, TEMPLATE, is_image


def test_image():
    assert is_image(IMAGE_SENTINEL)  # expect: CG203 pkg.constants:IMAGE_SENTINEL


def test_template():
    text = TEMPLATE  # expect: CG203 pkg.constants:TEMPLATE
    assert text
