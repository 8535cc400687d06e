"""`diff --format nodeids`."""

from contract_guard.findings import TestsLost
from contract_guard.registry.model import Change, Consumer, Place
from contract_guard.report.affected_tests import render


def change(*consumers: Consumer, kind: str = "removed") -> Change:
    place = Place("gate/constants.py", 1, "8")
    return Change(symbol="gate.constants:PAD", kind=kind, old=place, new=None, consumers=consumers)


def test_broken_silent_and_updated_places_name_their_tests() -> None:
    lost = TestsLost(2, True, ("tests/test_a.py::test_x", "tests/test_a.py::test_y"))
    found = render(
        [
            change(
                Consumer(
                    path="tests/test_a.py",
                    line=1,
                    form="import",
                    tests_lost=lost,
                    impact="collection-error",
                ),
                Consumer(
                    path="tests/test_b.py",
                    line=9,
                    form="attribute",
                    test="tests/test_b.py::test_z",
                    impact="runtime-error",
                ),
                Consumer(path="tests/test_c.py", line=1, form="import", impact="silent"),
                Consumer(path="tests/test_d.py", line=1, form="import", updated=True),
                Consumer(path="tests/test_e.py", line=1, form="import"),
                Consumer(path="gate/router.py", line=1, form="import", impact="silent"),
                Consumer(path="README.md", line=1, form="document", impact="silent"),
            )
        ],
        (),
    )
    assert found.splitlines() == [
        "tests/test_a.py::test_x",
        "tests/test_a.py::test_y",
        "tests/test_b.py::test_z",
        "tests/test_c.py",
        "tests/test_d.py",
    ]


def test_a_file_stands_for_all_of_its_tests() -> None:
    inside = Consumer(
        path="tests/test_a.py", line=9, form="attribute", test="tests/test_a.py::test_x",
        impact="silent",
    )  # fmt: skip
    whole = Consumer(path="tests/test_a.py", line=1, form="import", impact="silent")
    assert render([change(inside, whole)], ()) == "tests/test_a.py\n"


def test_what_is_only_added_affects_nothing() -> None:
    consumer = Consumer(path="tests/test_a.py", line=1, form="import", impact="silent")
    assert render([change(consumer, kind="added")], ()) == ""


def test_a_path_cannot_begin_a_command() -> None:
    consumer = Consumer(path="::error/test_a.py", line=1, form="import", impact="silent")
    assert render([change(consumer)], ()) == "./::error/test_a.py\n"
