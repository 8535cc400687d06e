"""`--contract-guard` and `--contract-guard-strict`."""

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., pytest.RunResult]


@pytest.fixture(autouse=True)
def tests(project: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        **{
            "tests/test_stale": """
            from shop import bill

            def test_total():
                assert bill.total(1) == 8

            def test_gone():
                if bill.total(0) < 0:
                    from shop.rates import TOLL
                    assert TOLL
            """,
            "tests/test_fine": """
            from shop.bill import total

            def test_total():
                assert total(1) == 8
            """,
        }
    )


GONE = "tests/test_stale.py:8:32: CG101 error: `shop.rates` has no name `TOLL`*"


def test_findings_of_what_was_collected(run: Run) -> None:
    result = run("--contract-guard")
    assert result.ret == pytest.ExitCode.OK
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*= contract guard =*", GONE, "1 error*"])


def test_findings_elsewhere_are_left_out(run: Run) -> None:
    result = run("--contract-guard-strict", "tests/test_fine.py")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.no_fnmatch_line("*CG101*")
    result.stdout.fnmatch_lines(["No findings.*"])


@pytest.mark.parametrize("more", [(), ("-n2",), ("--import-mode=importlib",)])
def test_strict_fails_on_errors(run: Run, more: tuple[str, ...]) -> None:
    result = run("--contract-guard-strict", *more)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines([GONE])


def test_a_failing_test_stays_what_it_is(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{"tests/test_bad": "def test_bad():\n    assert 1 == 2\n"})
    result = run("--contract-guard-strict")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(passed=3, failed=1)


def test_a_configuration_that_cannot_be_read(run: Run, project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["."]\n[tool.contract_guard]\nexclud = []\n'
    )
    result = run("--contract-guard")
    assert result.ret == pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["could not check: *exclud*exclude*"])
    assert run("--contract-guard-strict").ret == pytest.ExitCode.TESTS_FAILED


def test_nothing_collected_is_no_clean_result(run: Run) -> None:
    result = run("--contract-guard-strict", "-k", "no_such_test")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["could not check: no test file*"])
