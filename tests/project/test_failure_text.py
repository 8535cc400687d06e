"""What an error's text says is missing."""

import pytest

from contract_guard.project.failure_text import missing_symbols


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        (
            "ImportError: cannot import name 'PAD' from 'gate.ids' (/a/gate/ids.py)",
            ["gate.ids:PAD"],
        ),
        ("E   ModuleNotFoundError: No module named 'gate.gone'", ["gate.gone"]),
        ("AttributeError: module 'gate.ids' has no attribute 'PAD'", ["gate.ids:PAD"]),
        (
            "AttributeError: <module 'gate.ids' from 'ids.py'> does not have the attribute 'PAD'",
            ["gate.ids:PAD"],
        ),
        (
            "AttributeError: <class 'gate.ids.Kind'> does not have the attribute 'PAD'",
            ["gate.ids:Kind.PAD"],
        ),
        ("ImportError: cannot import name 'A' from partially initialized module 'b'", ["b:A"]),
        ("ValueError: PAD", []),
    ],
)
def test_forms(text: str, symbols: list[str]) -> None:
    assert [missing.symbol for missing in missing_symbols(text)] == symbols


def test_a_log_names_each_once_in_order() -> None:
    log = (
        "==== ERRORS ====\n"
        "E   ImportError: cannot import name 'B' from 'm' (m.py)\n"
        "E   ModuleNotFoundError: No module named 'a'\n"
        "E   ImportError: cannot import name 'B' from 'm' (m.py)\n"
    )
    assert [(m.symbol, m.said) for m in missing_symbols(log)] == [
        ("m:B", "ImportError: cannot import name 'B' from 'm' (m.py)"),
        ("a", "ModuleNotFoundError: No module named 'a'"),
    ]
