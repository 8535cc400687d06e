"""CG101 for a constant that went, beside one that production compared together with it."""

from collections.abc import Callable
from typing import Any

import pytest

Fix = Callable[..., Any]

IDS = "START = 7001\nPAD = 7002\nEND = 7003\nOTHER = 7004\n"
HEADER = "from pkg.ids import PAD, START\n"
LEFT = "from pkg.ids import START\n"
RULES = {
    "|": "return (x == START) | (x == PAD)",
    "or": "return x == START or PAD == x",
    "!=": "return (x != START) & (x != PAD)",
    "call": "return torch.logical_or(x == START, x == PAD)",
    "in": "return x in (START, PAD)",
    "isin": "return torch.isin(x, torch.tensor([START, PAD]))",
}


def repaired(fix: Fix, test: str, rule: str = "|", *, unsafe: bool = True, **options: Any) -> Any:
    mask = f"import torch\nfrom pkg.ids import START, PAD\ndef mask(x):\n    {RULES[rule]}\n"
    base = {"pkg/__init__.py": "", "pkg/ids.py": IDS, "pkg/mask.py": mask, "tests/test_a.py": test}
    now = {
        "pkg/ids.py": IDS.replace("PAD = 7002\n", ""),
        "pkg/mask.py": "from pkg.ids import START\ndef mask(x):\n    return x == START\n",
    }
    return fix(now, base=base, unsafe=unsafe, **options)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = [42, START, PAD, 9]", "x = [42, START, START, 9]"),
        ("m = (x == START) | (x == PAD)", "m = x == START"),
        ("m = (x == PAD) | (x == START)", "m = x == START"),
        ("m = ((x == START) | (x == PAD)).any()", "m = (x == START).any()"),
        ("m = ~((x == START) | (x == PAD))", "m = ~(x == START)"),
        ("m = y & ((x == START) | (x == PAD))", "m = y & (x == START)"),
        (
            "m = (x == START) | (x == PAD) | (x == 5)",
            "m = (x == START) | (x == 5)",
        ),
        (
            "m = (x == PAD) | (x == 5) | (x == START)",
            "m = (x == 5) | (x == START)",
        ),
        ("m = (x != START) & (x != PAD)", "m = x != START"),
        ("m = x == START or x == PAD", "m = x == START"),
        ("m = x == START or x == PAD or y", "m = x == START or y"),
        ("m = not (x == START or x == PAD)", "m = not (x == START)"),
        ("m = START == x or PAD == x", "m = START == x"),
        ("m = torch.logical_or(x == START, x == PAD)", "m = x == START"),
        ("m = torch.logical_or(x == START, x == PAD).sum()", "m = (x == START).sum()"),
        ("m = x in (START, PAD)", "m = x in (START,)"),
        ("m = x not in [PAD, START, 5]", "m = x not in [START, 5]"),
        (
            "m = torch.isin(x, torch.tensor([START, PAD]))",
            "m = torch.isin(x, torch.tensor([START]))",
        ),
        ("m = x in (PAD, 5)", "m = x in (START, 5)"),
        ("m = x == PAD", "m = x == START"),
        ("m = (x == START) | (y == PAD)", "m = (x == START) | (y == START)"),
        ("m = (x == START) & (x == PAD)", "m = (x == START) & (x == START)"),
        ("m = f((x == START) | (x == PAD))", "m = f(x == START)"),
        ("m = x[(x == START) | (x == PAD)]", "m = x[x == START]"),
    ],
)
def test_what_becomes_of_a_use(fix: Fix, before: str, after: str) -> None:
    fixed = repaired(fix, f"{HEADER}def test_a(x, y):\n    {before}\n")
    assert fixed.files["tests/test_a.py"] == f"{LEFT}def test_a(x, y):\n    {after}\n"
    assert fixed.mended.refused == []


@pytest.mark.parametrize("rule", RULES)
def test_every_way_to_compare_two_together(fix: Fix, rule: str) -> None:
    fixed = repaired(fix, f"{HEADER}def test_a():\n    assert [PAD]\n", rule)
    assert fixed.files["tests/test_a.py"] == f"{LEFT}def test_a():\n    assert [START]\n"


def test_it_is_unsafe(fix: Fix) -> None:
    fixed = repaired(fix, f"{HEADER}def test_a():\n    assert [PAD]\n", unsafe=False)
    assert fixed.mended.files == {}
    assert [finding.rule for finding, _ in fixed.mended.unsafe] == ["CG101"]


def test_the_one_that_stays_is_imported_where_it_was_not(fix: Fix) -> None:
    fixed = repaired(fix, "from pkg.ids import PAD\ndef test_a():\n    assert [PAD]\n")
    assert fixed.files["tests/test_a.py"] == f"{LEFT}def test_a():\n    assert [START]\n"


def test_nothing_stood_beside_it(fix: Fix) -> None:
    test = "from pkg.ids import OTHER\nassert OTHER\n"
    base = {"pkg/__init__.py": "", "pkg/ids.py": IDS, "tests/test_a.py": test}
    fixed = fix({"pkg/ids.py": "START = 7001\n"}, base=base, unsafe=True)
    assert fixed.files["tests/test_a.py"] == test
    (reason,) = fixed.reasons
    assert reason.endswith("it is gone, and nothing is certain to have taken its place")


def test_a_comment_inside_of_the_condition_is_not_lost(fix: Fix) -> None:
    condition = "(\n        (x == START)  # begins\n        | (x == PAD)\n    )"
    test = f"{HEADER}def test_a(x):\n    m = {condition}\n"
    fixed = repaired(fix, test)
    assert fixed.files["tests/test_a.py"] == test
    assert "comment" in fixed.reasons[0]


def test_a_name_that_the_test_binds_itself_is_left_alone(fix: Fix) -> None:
    test = f"{HEADER}def test_a(PAD):\n    assert PAD\n\ndef test_b():\n    assert PAD, START\n"
    fixed = repaired(fix, test)
    assert fixed.files["tests/test_a.py"] == (
        f"{LEFT}def test_a(PAD):\n    assert PAD\n\ndef test_b():\n    assert START, START\n"
    )


def test_an_import_that_nothing_uses_goes(fix: Fix) -> None:
    test = "import torch\nfrom pkg.ids import OTHER\n"
    base = {"pkg/__init__.py": "", "pkg/ids.py": IDS, "tests/test_a.py": test}
    fixed = fix({"pkg/ids.py": "START = 7001\n"}, base=base, unsafe=True)
    assert fixed.files["tests/test_a.py"] == "import torch\n"
    assert [f.safety for _, f in fixed.mended.fixed] == ["unsafe"]
