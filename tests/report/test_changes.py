"""Values that changed, in the words of `diff`."""

import pytest

from contract_guard.registry.model import Change, Place
from contract_guard.report.changes import headline

MANY = [f"name_{n}" for n in range(60)]


def changed(old: object, new: object) -> str:
    was, now = (Place("pkg/__init__.py", 3, repr(value)) for value in (old, new))
    return headline(Change(symbol="pkg:__all__", kind="value-changed", old=was, new=now))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (3, 4, "3 -> 4"),
        (["a"], ["b"], "['a'] -> ['b']"),
        (MANY, [*MANY[1:], "more"], "- 'name_0', + 'more'"),
        (MANY, [], "- 'name_0', - 'name_1', - 'name_2', - 'name_3', - 'name_4' and 55 more"),
        ("a" * 90, "b", f"'{'a' * 78}… -> 'b'"),
    ],
)
def test_long_values_are_not_printed_whole(old: object, new: object, said: str) -> None:
    assert changed(old, new) == f"value-changed pkg:__all__: {said} (pkg/__init__.py:3)"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("(a, b=1)", "(a, *, c)", "(a, b=1) -> (a, *, c)"),
        (f"(first, {MANY[0]}=1, *rest)", f"({', '.join(MANY[:9])}, *, first)",
         f"- {MANY[0]}=1, - *rest, {', '.join(f'+ {name}' for name in MANY[:3])} and 6 more"),
    ],
)  # fmt: skip
def test_signatures(old: str, new: str, said: str) -> None:
    was, now = Place("pkg/m.py", 3, old), Place("pkg/m.py", 4, new)
    change = Change(symbol="pkg.m:f", kind="signature-changed", old=was, new=now)
    assert headline(change) == f"signature-changed pkg.m:f: {said} (pkg/m.py:4)"


def test_a_change_within_a_function_has_no_values() -> None:
    place = Place("pkg/m.py", 3)
    change = Change(symbol="pkg.m:f", kind="value-changed", old=place, new=place)
    assert headline(change) == "value-changed pkg.m:f (pkg/m.py:3)"


def test_a_constant_that_changed_before() -> None:
    place = Place("pkg/m.py", 3, "4")
    change = Change(symbol="pkg.m:PAD", kind="value-changed", old=place, new=place)
    assert headline(change) == "a former value of pkg.m:PAD, now 4 (pkg/m.py:3)"
