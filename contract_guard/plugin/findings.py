"""`--contract-guard`: contract drift in the test files that were collected."""

from typing import Any

import pytest

from contract_guard.errors import UserError
from contract_guard.plugin.project import CollectedFiles, project_of
from contract_guard.project.cache import default_directory
from contract_guard.project.check import check, closing, source_lines, summary
from contract_guard.project.rules import load_rules
from contract_guard.report import Report, Screen, render
from contract_guard.report.listing import listed, shown_paths


class Findings(CollectedFiles):
    """Checks the project when the tests are done. The section is shown; with
    --contract-guard-strict an error fails the run."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self._is_strict = config.option.contract_guard_strict
        self._report: Report | None = None
        self._problem = ""

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        try:
            self._report = self._check()
        except UserError as error:
            self._problem = str(error)
        has_errors = self._report is None or any(
            finding.severity == "error" for finding in self._report.findings
        )
        if (
            self._is_strict
            and has_errors
            and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
        ):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def _check(self) -> Report | None:
        root, config = project_of(self.config)
        files = self.files_below(root)
        if not files:
            raise UserError("no test file of this project was collected: nothing was checked")
        checked = check(root, config, paths=files, cache_dir=default_directory())
        shown = listed(checked.findings, Screen(notes=False))
        return Report(
            findings=checked.findings,
            summary=summary(checked, 0.0),
            closing=closing(checked),
            sources=source_lines(root, shown_paths(shown)),
            rules=load_rules(),
        )

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        terminalreporter.section("contract guard")
        if self._report is None:
            terminalreporter.write_line(f"could not check: {self._problem}")
            return
        writer = terminalreporter._tw
        screen = Screen(width=writer.fullwidth, color=writer.hasmarkup, notes=False)
        format = "rich" if writer.hasmarkup else "concise"
        for line in render(self._report, format, screen).splitlines():
            terminalreporter.write_line(line)
