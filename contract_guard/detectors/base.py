"""What every detector takes: `Context` in, findings out."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import msgspec

from contract_guard.findings import Finding

if TYPE_CHECKING:
    from contract_guard.registry.index import Registry


class Context(msgspec.Struct, frozen=True):
    """`read` gives the bytes of a file of the project by its relative path; it is called only
    for files that have something to say."""

    registry: "Registry"
    read: Callable[[str], bytes]


Detector = Callable[[Context], Iterable[Finding]]
