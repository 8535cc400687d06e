"""The fixture `contract_guard_symbol`."""

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., pytest.RunResult]
Commit = Callable[[str], None]


def test_values(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "shop/kinds": "class Kind:\n    class Inner:\n        size = 3\n",
            "tests/test_it": """
            import pytest

            @pytest.mark.parametrize(
                ("symbol", "value"),
                [("shop.rates:VAT", 19), ("shop.kinds:Kind.Inner.size", 3)],
            )
            def test_value(contract_guard_symbol, symbol, value):
                assert contract_guard_symbol(symbol) == value

            def test_module(contract_guard_symbol):
                assert contract_guard_symbol("shop.bill").__name__ == "shop.bill"

            @pytest.mark.parametrize("symbol", ["", ":VAT", "shop.rates:"])
            def test_no_symbol(contract_guard_symbol, symbol):
                with pytest.raises(ValueError, match="package.module:NAME"):
                    contract_guard_symbol(symbol)
            """,
        }
    )
    run().assert_outcomes(passed=6)


def test_a_removed_name_fails_its_test_alone(
    project: Path, commit: Commit, run: Run, pytester: pytest.Pytester
) -> None:
    pytester.makepyfile(
        **{
            "tests/test_it": """
            def test_vat(contract_guard_symbol):
                assert contract_guard_symbol("shop.rates:VAT") == 19

            def test_duty(contract_guard_symbol):
                assert contract_guard_symbol("shop.rates:DUTY") == 7
            """
        }
    )
    commit("First")
    (project / "shop/rates.py").write_text("DUTY = 7\n")
    commit("VAT is gone")
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "cannot import name 'VAT' from 'shop.rates'",
            "shop.rates:VAT is not there",
            "  removed by * VAT is gone",
            "    tests/test_it.py:2: runtime error, 1 test lost",
        ]
    )


@pytest.mark.parametrize(
    ("symbol", "said"),
    [
        ("shop.gone:VAT", "No module named 'shop.gone'"),
        ("shop.kinds:Kind.gone", "<class 'shop.kinds.Kind'> does not have the attribute 'gone'"),
    ],
)
def test_other_ways_to_be_gone(
    run: Run, pytester: pytest.Pytester, commit: Commit, symbol: str, said: str
) -> None:
    pytester.makepyfile(
        **{
            "shop/kinds": "class Kind:\n    pass\n",
            "tests/test_it": f"""
            def test_it(contract_guard_symbol):
                contract_guard_symbol({symbol!r})
            """,
        }
    )
    commit("First")
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([said, "*is not there"])


def test_an_error_inside_the_module_is_its_own(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "shop/bad": "import no_such_library\n",
            "tests/test_it": """
            def test_it(contract_guard_symbol):
                contract_guard_symbol("shop.bad:X")
            """,
        }
    )
    result = run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E   ModuleNotFoundError: No module named 'no_such_library'"])


def test_the_analyzer_knows_it_as_a_consumer(
    run: Run, pytester: pytest.Pytester, project: Path
) -> None:
    pytester.makepyfile(
        **{
            "tests/test_it": """
            def test_it(contract_guard_symbol):
                toll = contract_guard_symbol("shop.rates:TOLL")
                assert toll
            """,
        }
    )
    run("--contract-guard").stdout.fnmatch_lines(
        [
            "tests/test_it.py:2:12: CG101 error: `shop.rates` has no name `TOLL`: this test fails;"
            " help: *"
        ]
    )
