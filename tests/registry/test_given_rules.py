"""Rules over parameters, with the constants that calls give for them."""

from collections.abc import Callable

from contract_guard.registry.index import Registry
from contract_guard.registry.rules import given_rules
from contract_guard.registry.value_sets import literal

MASK = """def mask(ids, *, first, count=3):
    return (ids >= first) & (ids < first + 3)
"""


def rules(registry: Registry) -> list[tuple[str, str, list[str]]]:
    return [(r.path, literal(r.accepts), sorted(r.constants)) for r in given_rules(registry)]


def test_a_constant_is_followed_through_a_call(registry_of: Callable[..., Registry]) -> None:
    registry = registry_of(
        {
            "pkg/__init__.py": "",
            "pkg/mask.py": MASK,
            "pkg/ids.py": "FIRST = 129252\n",
            "pkg/use.py": "from pkg.mask import mask\nfrom pkg.ids import FIRST\n"
            "def f(ids, on):\n    return mask(ids, first=FIRST if on else None)\n",
        }
    )
    assert rules(registry) == [("pkg/mask.py", "{129252, 129253, 129254}", ["pkg.ids:FIRST"])]


def test_what_a_test_passes_counts(registry_of: Callable[..., Registry]) -> None:
    registry = registry_of(
        {
            "pkg/__init__.py": "",
            "pkg/mask.py": MASK.replace("*, ", ""),
            "pkg/ids.py": "FIRST = 129252\n",
            "tests/test_mask.py": "from pkg.mask import mask\nfrom pkg.ids import FIRST\n"
            "def test_mask():\n    assert mask([1], FIRST)\n",
        }
    )
    assert [constants for _, _, constants in rules(registry)] == [["pkg.ids:FIRST"]]


def test_another_function_of_that_name_is_none(registry_of: Callable[..., Registry]) -> None:
    registry = registry_of(
        {
            "pkg/__init__.py": "",
            "pkg/mask.py": MASK,
            "pkg/other.py": "FIRST = 129252\ndef mask(ids, *, first): ...\n"
            "def f(ids):\n    return mask(ids, first=FIRST)\n",
        }
    )
    assert rules(registry) == []


def test_production_alone(registry_of: Callable[..., Registry]) -> None:
    registry = registry_of(
        {
            "pkg/__init__.py": "",
            "pkg/mask.py": MASK.replace("*, ", ""),
            "pkg/ids.py": "FIRST = 129252\n",
            "tests/test_mask.py": "from pkg.mask import mask\nfrom pkg.ids import FIRST\n"
            "def test_mask():\n    assert mask([1], FIRST)\n",
        }
    )
    assert list(given_rules(registry, by_tests=False)) == []
