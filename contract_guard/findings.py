"""`Finding`: what every detector returns and every report renders.

The field names and their order are those of `check --format json`.
"""

import hashlib
from collections.abc import Mapping
from typing import Literal

import msgspec

Severity = Literal["error", "warning", "note"]
Impact = Literal["collection-error", "runtime-error", "always-skipped", "silent"]
Fixable = Literal["safe", "unsafe", "no"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")


class TestsLost(msgspec.Struct, frozen=True):
    """Tests that cannot run because of a finding.

    `exact` is false where a parametrization is not literal: `count` is then a lower bound.
    """

    __test__ = False

    count: int
    exact: bool
    ids: tuple[str, ...]


class Related(msgspec.Struct, frozen=True, omit_defaults=True):
    """Another place that explains a finding: a producer, a link of an import chain, a copy.

    `aligned` are pairs of lines that do the same: of the finding's file, and of this one.
    """

    path: str
    line: int
    end_line: int
    qualname: str
    message: str
    aligned: tuple[tuple[int, int], ...] = ()


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """What `check --confirm` saw when it ran a copy and production on the same inputs.

    `inputs` counts those on which both were compared, `refused` those on which one side raised.
    With "part", `at` are the smallest inputs found on which they differ, and `expected` and
    `actual` what the test and production gave there, as Python text. With "cannot", nothing was
    run, and with "stopped" it was and nothing was compared, for `reason`.
    """

    status: Literal["agree", "part", "cannot", "stopped"]
    inputs: int = 0
    refused: int = 0
    at: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    expected: str = ""
    actual: str = ""
    reason: str = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One place where a consumer and its producer disagree.

    Lines and columns count from 1, columns in code points, ends are exclusive.
    `path` is relative to the root, with forward slashes. `confirmed` is there only where it was
    asked for.
    """

    rule: str
    severity: Severity
    impact: Impact | None = None
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    symbol: str
    test: str | None = None
    tests_lost: TestsLost | None = None
    message: str
    help: str
    fixable: Fixable = "no"
    score: float | None = None
    fingerprint: str
    related: tuple[Related, ...] = ()
    confirmed: Confirmation | msgspec.UnsetType = msgspec.UNSET

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        return (self.path, self.line, self.column, self.rule, self.symbol)


def fingerprint(rule: str, path: str, qualname: str, symbol: str, statement: str) -> str:
    """Identity of a finding across unrelated edits: 16 hex digits.

    `statement` is the consumer's statement, normalised: no comments, no layout, and for an
    import only the one name. No line number takes part, so moving code keeps the identity.
    """
    text = "\0".join((rule, path, qualname, symbol, statement))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
