"""Which tests hold a contract. Loaded with every pytest run: it imports nothing but pytest."""

from typing import Final

import pytest

MARKER: Final = "contract_guard"
GATE_FIXTURE: Final = "contract_guard_gate"
# The property of a report, and of JUnit's <testcase>, that tells whether the contract was checked.
PROPERTY: Final = "contract_guard"


def holds_contract(item: pytest.Item) -> bool:
    """Whether a test is marked as holding a contract, or runs a gate."""
    return item.get_closest_marker(MARKER) is not None or GATE_FIXTURE in getattr(
        item, "fixturenames", ()
    )


def is_unverified(report: pytest.TestReport | pytest.CollectReport) -> bool:
    """A report on collection, as of a module that skips itself, is of no test."""
    return (PROPERTY, "unverified") in getattr(report, "user_properties", ())
