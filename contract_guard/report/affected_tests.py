"""`diff --format nodeids`: the tests that lean on what changed, those that break and those that may
now mean another thing: for a CI job that books the hardware they need."""

from collections.abc import Iterable, Iterator

from contract_guard.findings import Finding
from contract_guard.registry.model import Change, Consumer
from contract_guard.text import line_start


def render(changes: Iterable[Change], findings: Iterable[Finding]) -> str:
    """Node ids, one a line, sorted; a file where all of its tests are meant."""
    tests = {
        test
        for change in changes
        if change.kind != "added"
        for consumer in change.consumers
        if consumer.updated or consumer.impact is not None
        for test in _tests(consumer)
    }
    for finding in findings:
        tests.update((finding.test,) if finding.test else ())
        tests.update(finding.tests_lost.ids if finding.tests_lost else ())
    files = {test for test in tests if "::" not in test}
    kept = {test for test in tests if test in files or test.partition("::")[0] not in files}
    return "".join(f"{line_start(test)}\n" for test in sorted(kept))


def _tests(consumer: Consumer) -> Iterator[str]:
    if consumer.test:
        yield consumer.test
    elif consumer.tests_lost:
        yield from consumer.tests_lost.ids
    else:
        name = consumer.path.rpartition("/")[2]
        if name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py")):
            yield consumer.path
