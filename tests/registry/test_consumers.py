"""Who names a definition, and what hangs on a constant."""

from contract_guard.registry.consumers import consumers
from contract_guard.registry.definitions import definitions
from contract_guard.registry.risk import tests_at_risk as risk_of

TREE = {
    "pkg/__init__.py": "from pkg.ids import PAD\n",
    "pkg/ids.py": "PAD = 1\nOWN = PAD\nclass Kind:\n    PAD = 2\n",
    "pkg/mask.py": "import pkg.ids as ids\ndef mask(x):\n    return x == ids.PAD\n",
    "tests/test_a.py": "from pkg import PAD\ndef test_a():\n    assert PAD\ndef test_b(): ...\n",
    "tests/test_b.py": "from unittest import mock\n@mock.patch('pkg.ids.PAD', 2)\n"
    "def test_c(m): ...\ndef test_d():\n    from pkg.ids import PAD\n",
    "tests/test_c.py": "from pkg import ids\nids.PAD = 3\ndef test_e(): ...\n",
}


def test_every_form_by_place(registry_of) -> None:
    found = [f for f in consumers(registry_of(TREE), "PAD") if f.producer.symbol == "pkg.ids:PAD"]
    assert [(f.path, f.span.line, f.form, f.test) for f in found] == [
        ("pkg/__init__.py", 1, "import", None),
        ("pkg/mask.py", 3, "attribute", None),
        ("tests/test_a.py", 1, "import", None),
        ("tests/test_b.py", 5, "import", "tests/test_b.py::test_d"),
        ("tests/test_b.py", 2, "patch", None),
        ("tests/test_c.py", 2, "assignment", None),
    ]


def test_definitions_by_what_a_person_types(registry_of) -> None:
    registry = registry_of(TREE)
    assert [p.symbol for p in definitions(registry, "PAD")] == ["pkg.ids:Kind.PAD", "pkg.ids:PAD"]
    assert [p.symbol for p in definitions(registry, "pkg.PAD")] == ["pkg.ids:PAD"]
    assert [p.symbol for p in definitions(registry, "Kind.PAD")] == ["pkg.ids:Kind.PAD"]
    assert definitions(registry, "GONE") == []


def test_tests_at_risk(registry_of) -> None:
    risk = risk_of(registry_of(TREE))
    assert [c.producer.symbol for c in risk.constants] == ["pkg.ids:PAD"]
    assert "tests/test_a.py" in risk.constants[0].modules
