"""The collection doctor: why modules failed to collect, below what pytest says of them."""

import sys
import traceback
from typing import Any

import pytest

from contract_guard.errors import UserError
from contract_guard.plugin.project import project_of
from contract_guard.project.cache import default_directory
from contract_guard.project.explain_failure import explain
from contract_guard.project.failure_text import missing_symbols
from contract_guard.report.failures import render_failures


class Doctor:
    """Listens for modules that fail to collect, and explains them once, after pytest's report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._texts: dict[str, str] = {}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._texts[report.nodeid] = report.longreprtext

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        text = "\n".join(self._texts.values())
        if not missing_symbols(text):
            return
        terminalreporter.section("contract guard: why collection failed")
        for line in explained(self._config, text).splitlines():
            terminalreporter.write_line(line)


def explained(config: pytest.Config, text: str) -> str:
    """What became of the names that an error's text says are missing; why that cannot be told,
    where it cannot."""
    try:
        root, settings = project_of(config)
        return render_failures(explain(root, settings, text, cache_dir=default_directory()))
    except UserError as error:
        return f"cannot be explained: {error}\n"
    except Exception:  # noqa: BLE001 - a fault of this tool must not cost pytest's own report
        return f"cannot be explained, for a fault of contract-guard:\n{traceback.format_exc()}"


def explain_conftest(config: pytest.Config, error: BaseException) -> None:
    """Says on standard error why an initial conftest failed, before pytest gives up over it."""
    cause = getattr(error, "cause", None) or getattr(error, "excinfo", (None, error))[1]
    if not isinstance(cause, ImportError | AttributeError) or not missing_symbols(str(cause)):
        return
    sys.stderr.write("contract guard: why the conftest below failed\n")
    sys.stderr.write(explained(config, str(cause)))
