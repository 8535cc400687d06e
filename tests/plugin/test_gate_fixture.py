"""The fixture `contract_guard_gate`, on the example's gate."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch")

EXAMPLE = Path(__file__).parents[2] / "examples" / "pad_free"


@pytest.fixture(autouse=True)
def gate(project: Path, pytester: pytest.Pytester) -> None:
    shutil.copytree(EXAMPLE / "before" / "gate", project / "gate")
    shutil.copytree(EXAMPLE / "before" / "tests", project / "tests")
    shutil.copy(EXAMPLE / "contract_guard.toml", project / ".contract_guard.toml")


def write_test(pytester: pytest.Pytester, call: str) -> None:
    pytester.makepyfile(
        test_run=f"""
        def test_run(contract_guard_gate):
            run = contract_guard_gate({call})
            assert (run.verdict, run.device) == ("agree", "cpu")
            assert run.rows >= 2000
        """
    )


def test_agreement(pytester: pytest.Pytester, project: Path) -> None:
    write_test(pytester, '"transformers:MixtralTopKRouter", device="cpu", rows=2000')
    pytester.runpytest_subprocess("test_run.py").assert_outcomes(passed=1)
    assert not (project / "contracts.evidence.jsonl").exists()


def test_want_of_hardware(pytester: pytest.Pytester) -> None:
    write_test(pytester, '"transformers:MixtralTopKRouter", device="cuda:63", rows=2000')
    result = pytester.runpytest_subprocess("test_run.py")
    assert result.parseoutcomes()["unverified"] == 1
    result.stdout.fnmatch_lines(["1 contract test was skipped*", "  unverified: *"])


def test_a_gate_that_is_not_there(pytester: pytest.Pytester) -> None:
    write_test(pytester, '"transformers:NoSuchRouter"')
    result = pytester.runpytest_subprocess("test_run.py")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*NoSuchRouter*"])
