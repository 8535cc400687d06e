import pytest

from contract_guard.project.extraction import asks_for_fragments
from contract_guard.project.rules import load_rules, may_ask_for_fragments


@pytest.mark.parametrize(
    ("select", "may"),
    [
        ((), True),
        (("CG1", "CG2"), False),
        (("CG1", "CG3"), True),
        (("CG307",), True),
        (("CG",), True),
        (("CG903",), False),
    ],
)
def test_a_selection_that_may_ask_for_fragments(select: tuple[str, ...], may: bool) -> None:
    assert may_ask_for_fragments(select) is may
    chosen = [rule for rule in load_rules() if rule.startswith(select or "CG")]
    assert asks_for_fragments(chosen) is may
