"""Values of the fixes: an edit, a fix, and what a codemod may ask."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from contract_guard.facts.model import Span
from contract_guard.registry.index import Registry
from contract_guard.registry.model import Change

Safety = Literal["safe", "unsafe"]


class CannotFix(Exception):
    """A finding that a codemod leaves to a person; the text says why, in a few words."""


class Edit(NamedTuple):
    """The range `span` of the file `path` becomes `text`, with `\\n` between lines."""

    path: str
    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """The edits that mend one finding, all or none. An unsafe one may change what a test checks,
    or rests on a likeness; `title` says in a few words what it does, `left` what it leaves for a
    person to look at, "" for nothing."""

    safety: Safety
    title: str
    edits: tuple[Edit, ...]
    left: str = ""


def _nothing(path: str) -> bytes:
    raise KeyError(path)


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What is known beside the file itself.

    `read` gives the bytes of a file of the project. `old`, `read_old` and `changes` (by symbol)
    are those of the revision that a change set out from, where there is one. `line_length` is
    that of the project's formatter.
    """

    registry: Registry
    read: Callable[[str], bytes]
    line_length: int = 88
    old: Registry | None = None
    read_old: Callable[[str], bytes] = _nothing
    changes: Mapping[str, Change] = field(default_factory=dict[str, Change])
