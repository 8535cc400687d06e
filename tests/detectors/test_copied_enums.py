"""CG401: enumerations copied from a distribution that the project is checked against."""

import pytest

from contract_guard.detectors.base import Context
from contract_guard.detectors.copied_enums import divergent_enums
from contract_guard.facts.extract import extract
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

HEAD = "from enum import IntEnum\n\nclass Mode(IntEnum):\n"


def enumeration(**members: str) -> str:
    return HEAD + "".join(f"    {name} = {value}\n" for name, value in members.items())


def found(own: str, other: str, path: str = "lib/modes.py") -> list[tuple[str, int, str, int]]:
    trees = [
        Tree(
            files={
                where: extract(source.encode()),
                where.replace("modes", "__init__"): extract(b""),
            },
            origin=origin,
        )
        for where, source, origin in (("app/modes.py", own, ""), (path, other, "lib==2.0"))
    ]
    context = Context(build(*trees), lambda path: own.encode(), {})
    findings = divergent_enums(context)
    return [(f.path, f.line, f.symbol, f.message.count("lib==2.0")) for f in findings]


OWN = enumeration(A="0", B="1", C="2", D="3", LAST="4")


def test_a_member_that_moved_on() -> None:
    other = enumeration(A="(0,)", B="(1,)", C="(2,)", D="(3,)", NEW="(4,)", LAST="(5,)")
    assert found(OWN, other) == [("app/modes.py", 8, "app.modes:Mode.LAST", 1)]


@pytest.mark.parametrize(
    "other",
    [
        enumeration(A="0", B="1", C="2", D="3", LAST="4", NEW="5"),
        enumeration(A="0", B="1", C="2", LAST="5"),
        enumeration(A="5", B="6", C="7", D="8", LAST="9"),
        enumeration(A="auto()", B="auto()", C="auto()", D="auto()", LAST="auto()"),
        OWN.replace("LAST = 4", "LAST = 5").replace("Mode", "Model"),
        OWN.replace("LAST = 4", "LAST = 5").replace("IntEnum", "Base"),
    ],
)
def test_quiet(other: str) -> None:
    assert found(OWN, other) == []


def test_tests_of_the_other_are_no_source() -> None:
    other = OWN.replace("LAST = 4", "LAST = 5")
    assert found(OWN, other, "tests/test_modes.py") == []
