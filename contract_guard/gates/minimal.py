"""From a cause of drift to what a report shows of it: the smallest case, its replay, a snippet."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import dataclass, replace

from contract_guard.gates.bench import GATE_MIRROR, OF_MIRROR, Bench
from contract_guard.gates.case import Case, describe
from contract_guard.gates.histogram import Histogram
from contract_guard.gates.model import Bucket
from contract_guard.gates.showing import shown_token, weights_of
from contract_guard.gates.shrink import shrink
from contract_guard.gates.snippet import snippet


@dataclass(slots=True)
class Found:
    """One label's drift so far, and the first case that showed it, with its row."""

    case: Case
    row: int
    count: int = 0
    where: Histogram | None = None

    @property
    def token(self) -> Case:
        """The case narrowed to the row, without being run."""
        if self.row >= self.case.rows:
            return self.case
        kept = self.case.keep
        return replace(self.case, keep=(kept[self.row] if kept is not None else self.row,))


def as_found(bench: Bench, label: str, found: Found) -> Bucket:
    """The bucket of a cause with its first token as it is: runs nothing."""
    case = found.token
    return Bucket(label, found.count, describe(case) | _where(found), bench.replay(case))


def shrunk(bench: Bench, label: str, found: Found, seconds: float) -> Bucket:
    """The bucket of a cause, shrunk for at most so long. Raises what the gate raises."""
    case = shrink(
        found.case,
        found.row,
        lambda candidate: bench.fails(label, candidate),
        bench.adapter.domain,
        bench.token_id(found.case, found.row),
        seconds,
    )
    minimal: dict[str, object] = describe(case)
    text = ""
    trial = bench.trial(case)
    mirrored = bench.mirrored(trial)
    view, by = trial, bench.adapter.name
    if label.startswith(OF_MIRROR) and mirrored is not None and bench.mirror is not None:
        view, by = mirrored, bench.mirror.name
    if view.tokens:
        row = next(iter(view.comparison.bad.nonzero()[:, 0].tolist()), 0)
        minimal |= shown_token(view, row)
        if label == GATE_MIRROR and mirrored is not None:
            minimal["expected"] = weights_of(mirrored.output, row)
        text = snippet(view, row, by)
    return Bucket(label, found.count, minimal | _where(found), bench.replay(case), text)


def _where(found: Found) -> dict[str, object]:
    return {} if found.where is None else {"where": found.where.shown()}
