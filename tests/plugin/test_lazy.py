"""`--contract-guard-lazy`."""

from collections.abc import Callable

import pytest

Run = Callable[..., pytest.RunResult]


def test_imports_that_only_functions_need(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "tests/test_it": """
            import os
            import pytest
            from shop.rates import DUTY, VAT
            from shop import bill
            from shop.bill import total

            RATE = DUTY

            @pytest.mark.parametrize("x", [1, total(2)])
            def test_total(x):
                assert bill.total(x) == x + RATE + len(os.sep) - 1

            def test_vat():
                assert VAT == 19
            """
        }
    )
    result = run("--contract-guard-lazy")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "*= contract guard: imports that could be lazy =*",
            "tests/test_it.py:3: shop.rates:VAT is used in test_vat alone; when it goes, "
            "3 tests of the file are lost",
            "tests/test_it.py:4: shop.bill is used in test_total alone*",
            "Import these where they are used*",
        ]
    )
    for name in ("DUTY", "shop.bill:total", "os"):
        result.stdout.no_fnmatch_line(f"tests/test_it.py:*: *{name} is used in *")


def test_none(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it():\n    from shop.rates import VAT\n    assert VAT\n")
    run("--contract-guard-lazy").stdout.fnmatch_lines(["*could be lazy =*", "none"])
