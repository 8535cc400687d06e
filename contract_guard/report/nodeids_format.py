"""`--format nodeids`: the tests that findings affect, one a line, for `pytest $(...)`."""

from contract_guard.report import Report, Screen
from contract_guard.report.listing import listed
from contract_guard.text import line_start


def render(report: Report, screen: Screen) -> str:
    tests: set[str] = set()
    for finding in listed(report.findings, screen):
        if finding.test:
            tests.add(finding.test)
        if finding.tests_lost:
            tests.update(finding.tests_lost.ids)
    return "".join(f"{line_start(test)}\n" for test in sorted(tests))
