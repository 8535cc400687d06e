"""Names that no line of the file seems to bind."""

import tests.shared


def test_injected():
    globals()["injected"] = 1
    assert injected


def test_expected():
    try:
        shared_value
    except NameError:
        shared_value = tests.shared.shared_value
    assert shared_value


def test_names_written_by_a_function_that_is_given_them():
    from tests.shared import assign

    assign("named", globals())
    assert named
