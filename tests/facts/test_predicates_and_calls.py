"""Conditions over named values, calls that pass constants, distinctive literals."""

from collections.abc import Callable

import pytest

from contract_guard.facts.model import ModuleFacts, Predicate

FactsOf = Callable[[str], ModuleFacts]

HEAD = """\
import torch
from m import PAD, LO, Color
HI = 9
IDS = (PAD, HI)
"""


def shown(item: Predicate | str) -> str:
    if isinstance(item, str):
        return item
    return f"{item.op}({', '.join(map(shown, item.operands))})"


@pytest.mark.parametrize(
    ("condition", "expected", "subject", "names"),
    [
        ("ids == PAD", "==(ids, PAD)", "ids", ("PAD",)),
        ("PAD == ids", "==(ids, PAD)", "ids", ("PAD",)),
        ("ids != Color.RED", "!=(ids, Color.RED)", "ids", ("Color.RED",)),
        ("ids > HI", "<(HI, ids)", "ids", ("HI",)),
        ("ids >= HI", "<=(HI, ids)", "ids", ("HI",)),
        ("ids in IDS", "in(ids, IDS)", "ids", ("IDS",)),
        ("ids not in (PAD, 3)", "not in(ids, (PAD, 3))", "ids", ("PAD",)),
        ("LO <= ids < LO + 5", "and(<=(LO, ids), <(ids, LO + 5))", "ids", ("LO",)),
        (
            "(ids >= LO) & (ids < HI)",
            "and(<=(LO, ids), <(ids, HI))",
            "ids",
            ("LO", "HI"),
        ),
        ("ids >= 0 and ids < HI", "and(<=(0, ids), <(ids, HI))", "ids", ("HI",)),
        (
            "(ids == PAD) | (ids == LO) | (ids == 3)",
            "or(==(ids, PAD), ==(ids, LO), ==(ids, 3))",
            "ids",
            ("PAD", "LO"),
        ),
        ("~(ids == PAD)", "==(ids, PAD)", "ids", ("PAD",)),
        (
            "torch.logical_or(ids == PAD, ids.eq(LO))",
            "or(==(ids, PAD), ==(ids, LO))",
            "ids",
            ("PAD", "LO"),
        ),
        ("torch.isin(ids, IDS)", "isin(ids, IDS)", "ids", ("IDS",)),
        ("torch.eq(ids, PAD)", "==(ids, PAD)", "ids", ("PAD",)),
        (
            "ids[..., 0].long() == PAD",
            "==(ids[..., 0].long(), PAD)",
            "ids[..., 0].long()",
            ("PAD",),
        ),
        ("flag and ids == PAD", "==(ids, PAD)", "ids", ("PAD",)),
        ("ids == pad_id", "==(ids, pad_id)", "ids", ("pad_id",)),
        (
            "(ids >= pad_id) & (ids < pad_id + 5)",
            "and(<=(pad_id, ids), <(ids, pad_id + 5))",
            "ids",
            ("pad_id",),
        ),
    ],
)
def test_predicates(
    facts_of: FactsOf, condition: str, expected: str, subject: str, names: tuple[str, ...]
) -> None:
    facts = facts_of(f"{HEAD}def f(ids, pad_id, flag):\n    return {condition}\n")
    (found,) = facts.predicates
    assert (shown(found), found.subject, found.names) == (expected, subject, names)
    assert facts.scopes[found.scope].qualname == "f"


@pytest.mark.parametrize(
    "condition",
    [
        "ids == 3",
        "ids is PAD",
        "PAD == HI",
        "ids == make()",
        "ids == local",
        "x | y",
        "ids and PAD",
    ],
)
def test_conditions_that_name_nothing(facts_of: FactsOf, condition: str) -> None:
    facts = facts_of(f"{HEAD}def f(ids, x, y):\n    local = 1\n    return {condition}\n")
    assert facts.predicates == ()


def test_conditions_on_different_subjects_part(facts_of: FactsOf) -> None:
    facts = facts_of(f"{HEAD}def f(a, b):\n    return a == PAD and b < HI and a != LO\n")
    assert [shown(p) for p in facts.predicates] == [
        "and(==(a, PAD), !=(a, LO))",
        "<(b, HI)",
    ]


def test_a_shadowed_constant_is_none(facts_of: FactsOf) -> None:
    facts = facts_of(f"{HEAD}def f(ids):\n    PAD = 1\n    return ids == PAD\n")
    assert facts.predicates == ()


def test_calls_list_the_constants_they_pass(facts_of: FactsOf) -> None:
    facts = facts_of(f"""{HEAD}
def f(x):
    mask(x, PAD, pad=Color.RED, size=128257)
    mask(x, 1024, y=x)
    mask(x, PAD if x else None, pad=None if x else HI, size=PAD if x else HI)
    self.gate(*x, PAD, k=HI)
    make()(PAD)
    PAD = 1
    return g(PAD)
""")
    found = [
        (call.function, [(a.position, a.keyword, a.value) for a in call.arguments])
        for call in facts.calls
    ]
    assert found == [
        ("mask", [(-1, "pad", "Color.RED"), (-1, "size", "128257")]),
        ("mask", [(-1, "pad", "HI")]),
        ("self.gate", [(-1, "k", "HI")]),
    ]


def test_distinctive_literals(facts_of: FactsOf) -> None:
    facts = facts_of("""
        '''A docstring-of-some-length.'''
        TOKEN = "<|image_pad|>"
        def f(x=128257):
            "documentation-of-f"
            return [128258, 1024, 999, 4000, -151655, "hidden_states_key", "a.dotted.name.of.it",
                    "prose has spaces in it", "org/Model-7B-Chat", 1.5]
    """)
    assert [use.value for use in facts.literals] == [
        "'<|image_pad|>'",
        "128258",
        "151655",
        "'org/Model-7B-Chat'",
    ]
