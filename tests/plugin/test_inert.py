"""Without being asked, the plugin does nothing and costs next to nothing."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., pytest.RunResult]
HEAVY = ("libcst", "rich", "hypothesis", "torch", "msgspec", "click", "pathspec")


def test_nothing_heavy_is_imported(project: Path) -> None:
    (project / "test_it.py").write_text("def test_it():\n    pass\n")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "pytest", "-q", "-p", "no:hypothesispytest"],
        cwd=project,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert imported.isdisjoint(HEAVY)
    # The plugin itself is imported by pytest in a way that is not listed there.
    own = {name for name in imported if name.startswith("contract_guard")}
    assert own == {"contract_guard.plugin", "contract_guard.plugin.contracts"}


def test_it_says_nothing(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it():\n    pass\n")
    result = run()
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*contract guard*")


def test_it_can_be_turned_off(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it():\n    pass\n")
    run("-p", "no:contract_guard").assert_outcomes(passed=1)
    assert run("-p", "no:contract_guard", "--contract-guard").ret == pytest.ExitCode.USAGE_ERROR


def test_its_marker_is_known(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="""
        import pytest

        @pytest.mark.contract_guard("shop.rates:VAT")
        def test_it():
            pass
        """
    )
    run("--strict-markers").assert_outcomes(passed=1)
    run("--markers").stdout.fnmatch_lines(["@pytest.mark.contract_guard(*symbols, requires=None)*"])
