"""The collection doctor."""

from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., pytest.RunResult]
Commit = Callable[[str], None]


@pytest.fixture
def broken(project: Path, commit: Commit, pytester: pytest.Pytester) -> Path:
    """Two test modules lean on a constant that the last commit removed."""
    test = "from shop.rates import VAT\n\ndef test_{0}():\n    assert VAT == 19\n"
    pytester.makepyfile(**{"tests/test_a": test.format("a"), "tests/test_b": test.format("b") * 2})
    commit("First")
    (project / "shop/rates.py").write_text("DUTY = 7\n")
    commit("VAT is gone")
    return project


EXPLAINED = [
    "*= contract guard: why collection failed =*",
    "shop.rates:VAT is not there",
    "  removed by * VAT is gone",
    "  it stood at shop/rates.py:1, was 19",
    "  fails at * places:",
]


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize("more", [(), ("-n2",), ("--import-mode=importlib",), ("--tb=no",)])
def test_a_removed_constant(run: Run, more: tuple[str, ...]) -> None:
    result = run("--contract-guard-doctor", *more)
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(EXPLAINED)
    # Each name once, for however many modules.
    assert result.stdout.str().count("shop.rates:VAT is not there") == 1


@pytest.mark.usefixtures("broken")
def test_it_stands_below_the_text_of_pytest(run: Run) -> None:
    plain = run().stdout.str()
    said = [line for line in plain.splitlines() if line.startswith(("E  ", "tests/", "from "))]
    assert any("cannot import name 'VAT' from 'shop.rates'" in line for line in said)
    run("--contract-guard-doctor").stdout.fnmatch_lines([*said[:2], "*", EXPLAINED[0]])


def test_by_ini(broken: Path, run: Run) -> None:
    ini = broken / "pyproject.toml"
    ini.write_text(ini.read_text() + "\ncontract_guard_doctor = true\n")
    run().stdout.fnmatch_lines(EXPLAINED)


def test_an_initial_conftest(broken: Path, run: Run) -> None:
    (broken / "conftest.py").write_text("from shop.rates import VAT\n")
    result = run("--contract-guard-doctor")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["contract guard: why the conftest below failed", *EXPLAINED[1:3]])


def test_an_error_of_another_kind_is_left_to_pytest(
    broken: Path, run: Run, pytester: pytest.Pytester
) -> None:
    for path in (broken / "tests").iterdir():
        path.unlink()
    pytester.makepyfile(**{"tests/test_c": "1 / 0\n"})
    result = run("--contract-guard-doctor")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.no_fnmatch_line("*contract guard*")


def test_without_a_repository(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makepyfile(**{"tests/test_a": "from shop.rates import TOLL\n"})
    result = run("--contract-guard-doctor")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([EXPLAINED[0], "cannot be explained: *git repository*"])
