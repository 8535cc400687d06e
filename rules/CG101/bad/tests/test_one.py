helper_value = 3


def test_helper():
    assert helper_value == 3
