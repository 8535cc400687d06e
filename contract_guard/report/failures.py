"""`diff --explain` in text: one block a missing name."""

from collections.abc import Iterable

import msgspec

from contract_guard.findings import Finding
from contract_guard.registry.model import Change, Place
from contract_guard.report.changes import CommitLine
from contract_guard.report.listing import cost, worst_first
from contract_guard.text import line_start, plural, printable

_MOST_PLACES = 20


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a symbol that an error named.

    `status` is that of the name in the working tree; "unreadable" where its file is no valid
    Python, or cannot be read for another reason: that is its one finding. `change` is what
    `commit` did to it, with `old` where it stood before. `findings` are the places that fail now
    for want of it. `repair` is one sentence. `is_uncommitted`: HEAD has the symbol, the working
    tree took it away.
    """

    symbol: str
    said: str
    status: str
    commit: CommitLine | None = None
    change: Change | None = None
    old: Place | None = None
    findings: tuple[Finding, ...] = ()
    repair: str = ""
    is_uncommitted: bool = False


def render_failures(failures: Iterable[Failure]) -> str:
    return "\n".join("".join(f"{line}\n" for line in _block(failure)) for failure in failures)


def _block(failure: Failure) -> list[str]:
    symbol = printable(failure.symbol)
    if failure.status == "exists":
        where = f" ({printable(failure.old.path)}:{failure.old.line})" if failure.old else ""
        return [f"{symbol} exists{where}", f"  {printable(failure.repair)}"]
    if failure.status == "unreadable":
        (finding,) = failure.findings
        place = line_start(f"{finding.path}:{finding.line}")
        return [
            f"{symbol}: its module cannot be read",
            f"  {place}: {printable(finding.message.partition(':')[0])}",
            f"  repair: {printable(failure.repair)}",
        ]
    is_ours = failure.commit is not None or failure.findings or failure.is_uncommitted
    if failure.status == "unknown" and not is_ours:
        meant = f"; {printable(failure.repair)}" if failure.repair.endswith("?") else ""
        return [
            f"{symbol}: unknown here",
            f"  not a name of this project: look for it in what is installed{meant}",
        ]
    lines = [f"{symbol} is not there"]
    if failure.commit is not None:
        commit = failure.commit
        done = failure.change.kind if failure.change is not None else "removed"
        lines.append(
            f"  {done} by {commit.oid[:10]} {commit.date[:10]} {printable(commit.subject)}"
        )
    elif failure.is_uncommitted:
        lines.append("  removed in the working tree, and not committed yet")
    else:
        lines.append("  no commit of this history had it and took it away")
    if failure.old is not None:
        value = f", was {printable(failure.old.value)}" if failure.old.value else ""
        lines.append(f"  it stood at {printable(failure.old.path)}:{failure.old.line}{value}")
    if failure.change is not None and failure.change.replacement is not None:
        lines.append(f"  in its place: {printable(failure.change.replacement)}")
    places = worst_first(failure.findings)
    if places:
        lines.append(f"  fails at {plural(len(places), 'place')}:")
    shown = places[:_MOST_PLACES]
    lines += [f"    {line_start(f'{f.path}:{f.line}')}: {cost(f)}" for f in shown]
    if len(places) > _MOST_PLACES:
        lines.append(f"    and {plural(len(places) - _MOST_PLACES, 'more place')}")
    lines.append(f"  repair: {printable(failure.repair)}")
    return lines
