"""Places in another project than the one that is compared, told apart by what stands in front."""

from collections.abc import Iterable

import msgspec

from contract_guard.findings import Finding, TestsLost
from contract_guard.registry.model import Change, Consumer


class Labelled:
    """Puts `label/` before every path of a value."""

    def __init__(self, label: str) -> None:
        self._label = label.rstrip("/")

    def change(self, change: Change, others: Iterable[Consumer]) -> Change:
        """The change with the consumers that it has elsewhere, and then its own, labelled."""
        own = tuple(self._consumer(consumer) for consumer in change.consumers)
        return msgspec.structs.replace(change, consumers=(*others, *own))

    def finding(self, finding: Finding) -> Finding:
        return msgspec.structs.replace(
            finding,
            path=self._path(finding.path),
            test=finding.test and self._path(finding.test),
            tests_lost=finding.tests_lost and self.lost(finding.tests_lost),
            related=tuple(
                msgspec.structs.replace(r, path=self._path(r.path)) for r in finding.related
            ),
        )

    def lost(self, lost: TestsLost) -> TestsLost:
        return TestsLost(lost.count, lost.exact, tuple(map(self._path, lost.ids)))

    def _consumer(self, consumer: Consumer) -> Consumer:
        return msgspec.structs.replace(
            consumer,
            path=self._path(consumer.path),
            test=consumer.test and self._path(consumer.test),
            tests_lost=consumer.tests_lost and self.lost(consumer.tests_lost),
        )

    def _path(self, path: str) -> str:
        return f"{self._label}/{path}"
