"""The pytest plugin: options, marker, fixtures. Free unless asked: what does the work is imported
from `contract_guard.plugin` when an option, the marker or a fixture asks for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract_guard.plugin.contracts import MARKER, holds_contract, is_unverified

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from contract_guard.plugin.gate import RunGate


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("contract-guard", "contract drift")
    group.addoption(
        "--contract-guard",
        action="store_true",
        help="Report contract drift in the test files that were collected.",
    )
    group.addoption(
        "--contract-guard-strict",
        action="store_true",
        help="The same, and the run fails on errors.",
    )
    group.addoption(
        "--contract-guard-doctor",
        action="store_true",
        help="Explain modules that fail to collect: what went, in which commit, what replaced it.",
    )
    group.addoption(
        "--contract-guard-require",
        metavar="HARDWARE",
        help="Contract tests that need this hardware (cuda, cuda:sm90) and are skipped fail.",
    )
    group.addoption(
        "--contract-guard-lazy",
        action="store_true",
        help="List imports of production names at module level that only some tests need.",
    )
    parser.addini(
        "contract_guard_doctor",
        "Explain modules that fail to collect, as --contract-guard-doctor does.",
        type="bool",
        default=False,
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*symbols, requires=None): holds a contract with production; needs hardware"
        " `requires` (cuda, cuda:sm90); skipped means unverified, not passed",
    )
    if hasattr(config, "workerinput"):  # reports are made by the process that started pytest-xdist
        return
    options = config.option
    if options.contract_guard or options.contract_guard_strict:
        from contract_guard.plugin.findings import Findings

        config.pluginmanager.register(Findings(config), "contract_guard_findings")
    if options.contract_guard_lazy:
        from contract_guard.plugin.lazy import LazyImports

        config.pluginmanager.register(LazyImports(config), "contract_guard_lazy")
    if _wants_doctor(config):
        from contract_guard.plugin.doctor import Doctor

        config.pluginmanager.register(Doctor(config), "contract_guard_doctor")
    if options.contract_guard_require is not None:
        from contract_guard.plugin.unverified import SkippedModules

        config.pluginmanager.register(SkippedModules(config), "contract_guard_skipped")


def _wants_doctor(config: pytest.Config) -> bool:
    return config.option.contract_guard_doctor or bool(config.getini("contract_guard_doctor"))


@pytest.hookimpl(hookwrapper=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> Generator[None, Any, None]:
    outcome = yield
    if outcome.excinfo is not None and (
        early_config.known_args_namespace.contract_guard_doctor
        or early_config.getini("contract_guard_doctor")
    ):
        from contract_guard.plugin.doctor import explain_conftest

        explain_conftest(early_config, outcome.excinfo[1])


def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    if any(map(holds_contract, items)):
        from contract_guard.plugin.unverified import ContractTests

        config.pluginmanager.register(ContractTests(config, items), "contract_guard_tests")


def pytest_report_teststatus(
    report: pytest.TestReport | pytest.CollectReport,
) -> tuple[str, str, Any] | None:
    if report.skipped and is_unverified(report):
        return "unverified", "u", ("UNVERIFIED", {"yellow": True})
    return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    skipped = terminalreporter.stats.get("skipped", ())
    if "unverified" in terminalreporter.stats or any(r.when == "collect" for r in skipped):
        from contract_guard.plugin.unverified import summarize

        summarize(terminalreporter)


@pytest.fixture(scope="session")
def contract_guard_symbol(pytestconfig: pytest.Config) -> Callable[[str], Any]:
    """`contract_guard_symbol("package.module:NAME")` is that name, imported when it is asked for:
    where it is gone, this one test fails, and says what became of it."""
    from contract_guard.plugin.symbols import resolver

    return resolver(pytestconfig)


@pytest.fixture
def contract_guard_gate(request: pytest.FixtureRequest) -> RunGate:
    """`contract_guard_gate("transformers:MixtralTopKRouter")` runs that gate against its oracle
    and its mirror, as `contract-guard gate run` does. Drift fails the test, want of hardware
    skips it as unverified."""
    from contract_guard.plugin.gate import gate_runner

    return gate_runner(request)
