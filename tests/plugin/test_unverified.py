"""Skips are not passes."""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., pytest.RunResult]

TESTS = """
import pytest

@pytest.mark.contract_guard("shop.rates:VAT", requires="cuda:sm999a")
@pytest.mark.parametrize("x", [1, 2])
def test_gpu(x):
    raise AssertionError("must not run")

@pytest.mark.contract_guard
@pytest.mark.skipif(True, reason="no licence")
def test_licence():
    raise AssertionError("must not run")

@pytest.mark.contract_guard
def test_runs():
    pass

@pytest.mark.contract_guard
@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert 1 == 2

@pytest.mark.skip(reason="an ordinary one")
def test_ordinary():
    raise AssertionError("must not run")
"""

MODULE = """
import pytest

pytestmark = pytest.mark.contract_guard(requires="cuda:sm999a")
pytest.skip("needs a GPU of tomorrow", allow_module_level=True)

@pytest.mark.parametrize("x", range(4))
def test_all(x):
    pass
"""


def outcomes(result: pytest.RunResult) -> dict[str, int]:
    """By word, without warnings, which other installed plugins may give."""
    return {word: n for word, n in result.parseoutcomes().items() if word != "warnings"}


@pytest.fixture(autouse=True)
def tests(project: Path, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{"tests/test_gate": TESTS})


@pytest.mark.parametrize("more", [(), ("-n2",)])
def test_they_are_counted_apart(run: Run, more: tuple[str, ...]) -> None:
    result = run(*more)
    assert result.ret == pytest.ExitCode.OK
    assert outcomes(result) == {"passed": 1, "skipped": 1, "xfailed": 1, "unverified": 3}
    result.stdout.fnmatch_lines(
        [
            "*= contract guard: unverified =*",
            "3 contract tests were skipped, which is not the same as passed:",
        ]
    )
    text = result.stdout.str()
    assert "    tests/test_gate.py::test_gpu[[]1]" in text.replace("[1]", "[[]1]")
    assert "  no licence\n    tests/test_gate.py::test_licence\n" in text


def test_a_module_that_is_skipped_as_a_whole(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{"tests/test_gate": "", "tests/test_tomorrow": MODULE})
    result = run()
    assert outcomes(result) == {"skipped": 1}
    result.stdout.fnmatch_lines(
        [
            "4 contract tests were skipped, which is not the same as passed:",
            "  needs a GPU of tomorrow",
            "    tests/test_tomorrow.py (the module was skipped: 4 tests)",
        ]
    )


@pytest.mark.parametrize("more", [(), ("-n2",)])
def test_required_hardware(run: Run, more: tuple[str, ...]) -> None:
    """`test_gpu` needs what was promised, `test_licence` does not say: both must run."""
    result = run("--contract-guard-require", "cuda", *more)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert outcomes(result) == {"passed": 1, "skipped": 1, "xfailed": 1, "errors": 3}
    result.stdout.fnmatch_lines(["unverified: no licence"])


def test_hardware_that_was_not_promised_is_not_asked_for(run: Run) -> None:
    result = run("--contract-guard-require", "cuda:sm90", "-k", "gpu")
    assert result.ret == pytest.ExitCode.OK
    assert outcomes(result) == {"unverified": 2, "deselected": 4}


@pytest.mark.parametrize("more", [(), ("-n2",)])
@pytest.mark.parametrize(
    ("promised", "code"),
    [("cuda", pytest.ExitCode.TESTS_FAILED), ("cuda:sm90", pytest.ExitCode.OK)],
)
def test_required_hardware_and_a_skipped_module(
    run: Run,
    pytester: pytest.Pytester,
    promised: str,
    code: pytest.ExitCode,
    more: tuple[str, ...],
) -> None:
    pytester.makepyfile(
        **{
            "tests/test_gate": "def test_other():\n    pass\n",
            "tests/test_tomorrow": MODULE,
        }
    )
    assert run("--contract-guard-require", promised, *more).ret == code


@pytest.mark.parametrize("more", [(), ("-n2",)])
def test_junit_properties(run: Run, project: Path, more: tuple[str, ...]) -> None:
    run("--junitxml", "junit.xml", *more)
    states = {
        case.get("name"): [
            p.get("value") for p in case.iter("property") if p.get("name") == "contract_guard"
        ]
        for case in ET.parse(project / "junit.xml").iter("testcase")
    }
    assert states == {
        "test_gpu[1]": ["unverified"],
        "test_gpu[2]": ["unverified"],
        "test_licence": ["unverified"],
        "test_runs": ["verified"],
        "test_expected_to_fail": [],
        "test_ordinary": [],
    }


@pytest.mark.parametrize(
    ("marker", "said"),
    [
        ('requires="gpu"', "*test_gate.py::test_it: contract_guard: 'gpu' is no hardware*"),
        ('require="cuda"', "*test_gate.py::test_it: @pytest.mark.contract_guard takes no require"),
    ],
)
def test_misuse_of_the_marker(run: Run, pytester: pytest.Pytester, marker: str, said: str) -> None:
    pytester.makepyfile(
        **{
            "tests/test_gate": f"""
            import pytest

            @pytest.mark.contract_guard({marker})
            def test_it():
                pass
            """
        }
    )
    result = run()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([said])


def test_misuse_of_the_option(run: Run) -> None:
    result = run("--contract-guard-require", "gpu")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--contract-guard-require: 'gpu' is no hardware*"])


def test_a_module_that_skips_itself(run: Run, pytester: pytest.Pytester) -> None:
    skipping = 'import pytest\npytest.skip("no device", allow_module_level=True)\n'
    run(str(pytester.makepyfile(skipping))).assert_outcomes(skipped=1)
