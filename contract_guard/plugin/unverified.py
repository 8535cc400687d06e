"""Skips are not passes: contract tests that were skipped are counted as unverified."""

import ast
from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from contract_guard.gates.evidence import Requirement
from contract_guard.plugin.contracts import GATE_FIXTURE, MARKER, PROPERTY, holds_contract
from contract_guard.plugin.hardware import is_demanded, missing_hardware, parse_hardware
from contract_guard.text import plural, printable

_MOST_SHOWN = 20


class ContractTests:
    """Looks after the contract tests of one process: skips those whose hardware is not here, and
    tells in their reports whether they ran."""

    def __init__(self, config: pytest.Config, items: Sequence[pytest.Item]) -> None:
        option = config.option.contract_guard_require
        self._demanded = option and parse_hardware(option, "--contract-guard-require")
        self._needed = {item.nodeid: _needed(item) for item in items if holds_contract(item)}
        self._missing = cache(missing_hardware)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        needed = self._needed.get(item.nodeid)
        if needed is not None and (problem := self._missing(needed)) is not None:
            pytest.skip(f"needs {needed}: {problem}")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        outcome = yield
        if item.nodeid not in self._needed:
            return
        report: pytest.TestReport = outcome.get_result()
        if report.skipped and not hasattr(report, "wasxfail"):
            self._tell(item, report, "unverified")
            if isinstance(report.longrepr, tuple) and report.longrepr[0] == __file__:
                path, line, _ = item.location
                report.longrepr = (path, (line or 0) + 1, report.longrepr[2])
            if is_demanded(self._needed[item.nodeid], self._demanded):
                report.outcome = "failed"
                report.longrepr = f"unverified: {skip_reason(report)}"
        elif report.when == "call" and report.passed:
            self._tell(item, report, "verified")

    @staticmethod
    def _tell(item: pytest.Item, report: pytest.TestReport, state: str) -> None:
        # The report has a copy of its item's properties, and JUnit reads them at teardown.
        item.user_properties.append((PROPERTY, state))
        report.user_properties.append((PROPERTY, state))


def _needed(item: pytest.Item) -> Requirement | None:
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return None
    unknown = set(marker.kwargs) - {"requires"}
    if unknown:
        raise pytest.UsageError(
            f"{item.nodeid}: @pytest.mark.{MARKER} takes no {', '.join(sorted(unknown))}"
        )
    requires = marker.kwargs.get("requires")
    return None if requires is None else parse_hardware(requires, f"{item.nodeid}: {MARKER}")


def skip_reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test or a module was skipped, in its own words."""
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return printable(reason.removeprefix("Skipped: "))


class SkippedModules:
    """With --contract-guard-require: a module that is skipped as a whole must hold no contract
    test that needs that hardware."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.option.contract_guard_require
        self._demanded = parse_hardware(option, "--contract-guard-require")
        self._root = config.rootpath
        self._paths: set[str] = set()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._paths.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) and any(
            is_demanded(needed, self._demanded)
            for path in self._paths
            for needed in contract_tests_in(self._root, path).needed
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


class ModuleTests(NamedTuple):
    """Contract tests of a module that was skipped as a whole. `tests` is a lower bound unless
    `exact`; `needed` is the hardware that their marks name, None for marks that name none."""

    tests: int = 0
    exact: bool = True
    needed: frozenset[Requirement | None] = frozenset()


def contract_tests_in(root: Path, path: str) -> ModuleTests:
    """Contract tests of a module that did not import, read from its source."""
    try:
        source = (root / path).read_bytes()
    except (OSError, ValueError):  # a node that is no file
        return ModuleTests()
    if MARKER.encode() not in source:
        return ModuleTests()
    from contract_guard.facts.extract import extract
    from contract_guard.facts.model import ModuleFacts

    facts = extract(source)
    if not isinstance(facts, ModuleFacts):
        return ModuleTests()
    tests = [
        test
        for test in facts.pytest.tests
        if MARKER in (*facts.pytest.marks, *test.marks) or GATE_FIXTURE in test.arguments
    ]
    if not tests:
        return ModuleTests()
    return ModuleTests(
        sum(test.cases for test in tests), all(test.exact for test in tests), _marked(source)
    )


def _marked(source: bytes) -> frozenset[Requirement | None]:
    """The hardware that the marks of a module name; None alone where they name none."""
    needed: set[Requirement | None] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(f"mark.{MARKER}"):
            for keyword in node.keywords:
                if keyword.arg == "requires" and isinstance(keyword.value, ast.Constant):
                    with suppress(ValueError):
                        needed.add(Requirement.parse(str(keyword.value.value)))
    return frozenset(needed or {None})


def summarize(terminalreporter: Any) -> None:
    """The section on contract tests that were skipped, by reason."""
    reasons: dict[str, list[str]] = {}
    for report in terminalreporter.stats.get("unverified", ()):
        reasons.setdefault(skip_reason(report), []).append(printable(report.nodeid))
    count, exact = sum(map(len, reasons.values())), True
    modules = {
        report.nodeid: report
        for report in terminalreporter.stats.get("skipped", ())
        if report.when == "collect"
    }
    for nodeid, report in modules.items():
        skipped = contract_tests_in(terminalreporter.config.rootpath, nodeid)
        if skipped.tests:
            count, exact = count + skipped.tests, exact and skipped.exact
            line = f"{printable(nodeid)} (the module was skipped: {plural(skipped.tests, 'test')})"
            reasons.setdefault(skip_reason(report), []).append(line)
    if not count:
        return
    terminalreporter.section("contract guard: unverified")
    verb = "was" if count == 1 else "were"
    at_least = "" if exact else "at least "
    terminalreporter.write_line(
        f"{at_least}{plural(count, 'contract test')} {verb} skipped, which is not the same as"
        " passed:"
    )
    for reason, lines in reasons.items():
        terminalreporter.write_line(f"  {reason}")
        for line in lines[:_MOST_SHOWN]:
            terminalreporter.write_line(f"    {line}")
        if len(lines) > _MOST_SHOWN:
            terminalreporter.write_line(f"    and {len(lines) - _MOST_SHOWN:,} more")
