"""Facts of dedented source."""

from collections.abc import Callable
from textwrap import dedent

import pytest

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts


def facts_of(source: str) -> ModuleFacts:
    facts = extract(dedent(source).encode())
    assert isinstance(facts, ModuleFacts), facts
    return facts


@pytest.fixture(name="facts_of")
def _facts_of() -> Callable[[str], ModuleFacts]:
    return facts_of
