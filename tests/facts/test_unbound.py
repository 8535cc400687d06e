"""Names that nothing in the file binds."""

import pytest

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts


def unbound(source: str) -> list[tuple[str, int, int, str]]:
    facts = extract(source.encode())
    assert isinstance(facts, ModuleFacts)
    return [
        (u.name, u.span.line, u.span.column, facts.scopes[u.scope].qualname) for u in facts.unbound
    ]


def test_a_decorator_that_nobody_imported() -> None:
    source = "import pytest\n\n@wait_until_free()\ndef test_one():\n    helper(1)\n"
    assert unbound(source) == [("wait_until_free", 3, 2, ""), ("helper", 5, 5, "test_one")]


@pytest.mark.parametrize(
    "source",
    [
        "print(len(__file__), __name__)",
        "from helpers import *\nwait()",
        "def f(a, *b, c=1, **d):\n    return a, b, c, d",
        "def f():\n    global made\n    made = 1\nmade",
        "class A:\n    x = 1\n    y = x\n    def f(self):\n        return __class__",
        "[x for x in range(3) if (y := x)]\ny",
        "try:\n    pass\nexcept ValueError as e:\n    print(e)",
        "match 1:\n    case {'a': b, **rest}:\n        print(b, rest)",
        "with open('f') as f, f as g:\n    g",
        "lambda a, b=1: a + b",
        "import a.b\na.b.c",
        "for i, (j, *k) in []:\n    print(i, j, k)",
    ],
)
def test_whatever_binds_a_name(source: str) -> None:
    assert unbound(source) == []


def test_the_guard_is_one_of_the_file() -> None:
    facts = extract(b"if ready():\n    missing()\n")
    assert isinstance(facts, ModuleFacts)
    assert [(u.name, u.guard) for u in facts.unbound] == [("ready", -1), ("missing", 0)]
    assert [guard.text for guard in facts.guards] == ["ready()"]
