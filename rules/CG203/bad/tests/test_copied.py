from pkg.constants import is_image


def test_image():
    assert is_image(128815)  # expect: CG203 pkg.constants:IMAGE_SENTINEL


def test_template():
    text = "<|begin_of_image|>"  # expect: CG203 pkg.constants:TEMPLATE
    assert text
