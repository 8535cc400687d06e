"""The state of one gate's run: cases tried, properties seen, drift found.

Rows of gate = oracle are counted over all cases; the other properties take turns on the same
batches until each has seen its share. A case costs one read-back from the device, unless it drifts.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import hypothesis
import torch
from hypothesis import HealthCheck, Phase
from hypothesis.strategies import SearchStrategy

from contract_guard.gates import boundaries as id_boundaries
from contract_guard.gates import histogram, strategies, tensors
from contract_guard.gates.buckets import causes
from contract_guard.gates.case import Case, describe, encode
from contract_guard.gates.compare import GateFault, between_runs, compare, same_routing
from contract_guard.gates.model import (
    Bucket,
    CannotBuild,
    Gate,
    GateAdapter,
    GateOutput,
    GateShape,
    Verdict,
    one_line,
)
from contract_guard.gates.properties import (
    COMPILED,
    PROPERTIES,
    NotApplicable,
    Property,
    Trial,
    Unverified,
    compiled,
)
from contract_guard.gates.settings import Mirror, Progress, Settings
from contract_guard.gates.showing import shown_token, weights_of
from contract_guard.gates.shrink import shrink
from contract_guard.gates.snippet import snippet
from contract_guard.gates.ties import is_coarse, ordinary_rows

if TYPE_CHECKING:
    from torch import Tensor

ORACLE = "gate = oracle"
COARSE = "excused, coarse scores"
MIRROR = "mirror = oracle"
GATE_MIRROR = "gate = mirror"
OF_MIRROR = "mirror: "
# So many drifting cases in a row without a new cause, and causes are no longer looked for.
UNSURPRISING = 24
# A batch takes as long as it takes.
SLOW_BY_NATURE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
# Properties tried on one case at least, so that none waits for long.
AT_ONCE = 2


@dataclass(slots=True)
class _Found:
    """One label's drift so far, and the first case that showed it, with its row."""

    case: Case
    row: int
    count: int = 0
    where: histogram.Histogram | None = None


@dataclass(slots=True)
class _Causes:
    """How far the search for causes is: labels known, and drifting cases since the last new one."""

    labels: set[str] = field(default_factory=set[str])
    unsurprising: int = 0


class Session:
    """One gate's run. Raises CannotBuild where the gate cannot be built in any shape."""

    def __init__(
        self,
        adapter: GateAdapter,
        settings: Settings,
        mirror: Mirror | None = None,
        boundaries: tuple[int, ...] = (),
        on_progress: Callable[[Progress], None] | None = None,
    ) -> None:
        self.cases = self.rows = 0
        self.ordinary: int = 0
        self.excused: int = 0
        self._coarse = self._coarse_excused = 0
        self._adapter, self._settings, self._mirror = adapter, settings, mirror
        self._on_progress = on_progress
        self._gates: dict[str, Gate] = {}
        self._not_built: dict[str, str] = {}
        self._found: dict[str, _Found] = {}
        self._causes = {"": _Causes(), OF_MIRROR: _Causes()}
        self._fault: tuple[str, Case] | None = None
        self._seen: dict[str, int] = {}
        self._failing: dict[str, int] = {}
        self._silent: dict[str, str] = {}
        self._properties: dict[str, Property] = dict(PROPERTIES)
        if settings.compile:
            self._properties[COMPILED] = compiled

        if settings.device.startswith("cuda"):
            # About 64 float64 tensors of a batch are alive at once at the peak.
            memory = torch.cuda.get_device_properties(settings.device).total_memory
            settings = replace(settings, elements=min(settings.elements, memory // 512))
            self._settings = settings
        wanted = strategies.shapes(adapter, settings.device, settings.shapes, settings.seed)
        self._shapes = tuple(shape for shape in wanted if self._can_build(shape))
        if not self._shapes:
            raise CannotBuild(next(iter(self._not_built.values()), "its domain is empty"))
        first = self._gate(self._shapes[0])
        self._takes_ids = "input_ids" in first.spec.inputs
        known = id_boundaries.gathered(first.spec, mirror.slice if mirror else None)
        every = {*known, *boundaries}
        self._vocabulary = tensors.vocabulary(first, tuple(every))
        self._boundaries = tuple(sorted(b for b in every if 0 <= b < self._vocabulary))
        # Plots show ids next to what rule and mirror name, not next to every number of a source.
        self._telling = known
        self._neutral = (
            id_boundaries.neutral(self._boundaries, self._vocabulary) if self._takes_ids else None
        )

    def explore(self, replay: tuple[Case, ...] = (), only_replay: bool = False) -> None:
        """Runs the cases given, those that every run has, and a search until the rows are met."""
        for case in replay:
            self._try(case)
        if only_replay:
            return
        settings = self._settings
        for case in strategies.corners(
            self._shapes,
            settings.elements,
            settings.tokens,
            self._vocabulary if self._takes_ids and settings.sweep else None,
            settings.seed,
        ):
            self._try(case)
        strategy = strategies.cases(
            self._shapes, settings.elements, settings.tokens, self._takes_ids
        )
        goal, turn = self.rows + settings.rows, settings.seed
        while self.rows < goal and self._fault is None:
            before = self.rows
            self._search(strategy, goal, turn)
            turn += 1
            if self.rows == before:
                break

    def _search(self, strategy: SearchStrategy[Case], goal: int, turn: int) -> None:
        # Drift is collected, not raised: one search then finds all causes, and reaches its rows.
        @hypothesis.settings(
            max_examples=-(-(goal - self.rows) // self._settings.tokens),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=SLOW_BY_NATURE,
        )
        @hypothesis.seed(turn)
        @hypothesis.given(strategy)
        def look(case: Case) -> None:
            if self.rows < goal:
                self._try(case)

        look()

    def _try(self, case: Case) -> None:
        """Runs one case and keeps what it shows; a fault of the gate ends the run."""
        if self._fault is not None:
            return
        try:
            self._observe(case)
        except CannotBuild as error:
            self._not_built[_key(case.shape)] = str(error)
        except torch.OutOfMemoryError:
            self._fault = (f"out of memory at {case.rows} tokens of {case.shape.hidden}", case)
        except GateFault as error:
            self._fault = (str(error), case)
        except Exception as error:  # noqa: BLE001 - whatever a gate raises is a verdict on the gate
            self._fault = (f"raises {one_line(error)}", case)
        if self._on_progress is not None:
            self._on_progress(Progress(self._adapter.name, self.rows, len(self._found)))

    def _observe(self, case: Case) -> None:
        trial = self._trial(case)
        mirrored = self._mirrored(trial)
        failing: dict[str, Tensor] = {ORACLE: trial.comparison.bad}
        if mirrored is not None:
            failing[MIRROR] = mirrored.comparison.bad
            failing[GATE_MIRROR] = self._apart(trial, mirrored.output)
        for name in self._due(trial):
            rows = self._property(name, trial)
            if rows is not None:
                failing[name] = rows
        ordinary = ordinary_rows(case, trial.tokens, trial.output.dense.device)
        sums = [rows.sum() for rows in failing.values()]
        sums += [(trial.comparison.excused & ordinary).sum(), ordinary.sum()]
        *counts, excused, plain = torch.stack(sums).tolist()
        self.cases += 1
        self.rows += trial.tokens
        if is_coarse(trial):
            self._coarse_excused += excused
            self._coarse += plain
        else:
            self.excused += excused
            self.ordinary += plain
        for (name, rows), count in zip(failing.items(), counts, strict=True):
            self._seen[name] = self._seen.get(name, 0) + trial.tokens
            if not count:
                continue
            self._failing[name] = self._failing.get(name, 0) + count
            if name == ORACLE:
                self._sort_by_cause("", trial, count)
            elif name == MIRROR and mirrored is not None:
                self._sort_by_cause(OF_MIRROR, mirrored, count)
            else:
                # Where the gate or its mirror is wrong by the oracle, that says it better.
                left = rows & ~trial.comparison.bad
                if name == GATE_MIRROR and mirrored is not None:
                    left &= ~mirrored.comparison.bad
                for row in left.nonzero()[:1, 0].tolist():
                    self._keep(name, int(left.sum()), case, row)

    def _trial(self, case: Case) -> Trial:
        gate = self._gate(case.shape)
        tensors.load(case, gate)
        batch = tensors.inputs(case, gate, self._boundaries)
        output = gate.call(batch)
        judged = compare(gate, batch, output, self._settings.tolerance)
        return Trial(gate, case, batch, output, judged)

    def _mirrored(self, trial: Trial) -> Trial | None:
        """The same batch with the mirror's expectation in place of the gate's output."""
        if self._mirror is None:
            return None
        expected = self._mirror.run(trial.gate, trial.inputs)
        judged = compare(trial.gate, trial.inputs, expected, self._settings.tolerance)
        return replace(trial, output=expected, comparison=judged)

    def _apart(self, trial: Trial, other: GateOutput) -> "Tensor":
        judgement = between_runs(trial.gate, trial.comparison.judgement)
        return ~same_routing(trial.output, other, judgement)

    def _due(self, trial: Trial) -> list[str]:
        """Properties that have seen too few rows yet, those with the fewest first."""
        if trial.tokens < 2:
            return []
        needed, rows = self._settings.property_rows, self._settings.rows
        waiting = [
            name
            for name in self._properties
            if name not in self._silent and self._seen.get(name, 0) < needed
        ]
        at_once = AT_ONCE + needed * len(self._properties) // max(rows, 1)
        return sorted(waiting, key=lambda name: self._seen.get(name, 0))[:at_once]

    def _property(self, name: str, trial: Trial) -> "Tensor | None":
        try:
            return self._properties[name](trial)
        except NotApplicable as error:
            self._silent[name] = f"n/a: {error}"
        except Unverified as error:
            self._silent[name] = f"unverified: {error}"
        return None

    def _sort_by_cause(self, prefix: str, trial: Trial, count: int) -> None:
        """Looks for causes while cases with new ones still turn up; afterwards drift is counted
        to the causes known, in proportion."""
        state = self._causes[prefix]
        known = sum(self._found[label].count for label in state.labels)
        if state.unsurprising >= UNSURPRISING and known:
            for label in state.labels:
                found = self._found[label]
                found.count += round(count * found.count / known)
            return
        fresh = False
        for drift in causes(trial, self._neutral):
            label = prefix + drift.label
            fresh |= label not in state.labels
            state.labels.add(label)
            found = self._keep(label, drift.count, trial.case, drift.row)
            if found.where is None:
                found.where = histogram.histogram_for(drift.label, self._telling)
            histogram.count(found.where, trial, trial.comparison.bad)
        state.unsurprising = 0 if fresh else state.unsurprising + 1

    def _keep(self, label: str, count: int, case: Case, row: int) -> _Found:
        found = self._found.setdefault(label, _Found(case, row))
        found.count += count
        return found

    def _fails(self, label: str, case: Case) -> bool:
        """Whether a case shows the drift of this label; never raises."""
        try:
            trial = self._trial(case)
            if label in self._properties:
                return bool(self._properties[label](trial).any())
            mirrored = self._mirrored(trial)
            if label == GATE_MIRROR and mirrored is not None:
                return bool(self._apart(trial, mirrored.output).any())
            view = trial
            if label.startswith(OF_MIRROR) and mirrored is not None:
                view, label = mirrored, label.removeprefix(OF_MIRROR)
            return any(drift.label == label for drift in causes(view, self._neutral))
        except Exception:  # noqa: BLE001 - a simpler case that cannot run is no simpler case
            return False

    def buckets(self) -> tuple[Bucket, ...]:
        """The causes found, most tokens first, each shrunk; then the fault, if there was one."""
        ordered = sorted(self._found.items(), key=lambda item: -item[1].count)
        buckets = [self._bucket(label, found) for label, found in ordered]
        if self._fault is not None:
            said, case = self._fault
            buckets.append(Bucket(said, 1, describe(case), self._replay(case)))
        return tuple(buckets)

    def _bucket(self, label: str, found: _Found) -> Bucket:
        case = shrink(
            found.case,
            found.row,
            lambda candidate: self._fails(label, candidate),
            self._adapter.domain,
            self._token_id(found.case, found.row),
            self._settings.shrink_seconds,
        )
        minimal: dict[str, object] = describe(case)
        text = ""
        trial = self._trial(case)
        mirrored = self._mirrored(trial)
        view, by = trial, self._adapter.name
        if label.startswith(OF_MIRROR) and mirrored is not None and self._mirror is not None:
            view, by = mirrored, self._mirror.name
        if view.tokens:
            row = next(iter(view.comparison.bad.nonzero()[:, 0].tolist()), 0)
            minimal |= shown_token(view, row)
            if label == GATE_MIRROR and mirrored is not None:
                minimal["expected"] = weights_of(mirrored.output, row)
            text = snippet(view, row, by)
        if found.where is not None:
            minimal["where"] = found.where.shown()
        return Bucket(label, found.count, minimal, self._replay(case), text)

    def _token_id(self, case: Case, row: int) -> int | None:
        if not self._takes_ids:
            return None
        ids = tensors.inputs(case, self._gate(case.shape), self._boundaries).input_ids
        return None if ids is None else int(ids[row])

    def _replay(self, case: Case) -> str:
        name, device = self._adapter.name, self._settings.device
        other = ""
        if self._mirror is not None and self._mirror.slice is None:
            other = f"--versus {self._mirror.name} "
        return f"contract-guard gate run {name} --device {device} {other}--replay {encode(case)}"

    def _can_build(self, shape: GateShape) -> bool:
        try:
            self._gate(shape)
        except CannotBuild as error:
            self._not_built[_key(shape)] = str(error)
            return False
        return True

    def _gate(self, shape: GateShape) -> Gate:
        key = _key(shape)
        if key not in self._gates:
            self._gates[key] = self._adapter.build(shape)
        return self._gates[key]

    def verdict(self) -> Verdict:
        """What came of it all."""
        if self._fault is not None:
            return "error"
        if self._found:
            return "drift"
        return "agree" if self.rows else "unverified"

    def reason(self) -> str | None:
        """Why the gate could not be run, or not in every shape."""
        if self._fault is not None:
            return self._fault[0]
        if not self._not_built:
            return None
        reasons = "; ".join(sorted(set(self._not_built.values())))
        return f"not built in {len(self._not_built)} shapes: {reasons}"

    def statuses(self) -> Mapping[str, str]:
        """Each property with its verdict and rows, or why it says nothing."""
        return dict(self._statuses())

    def _statuses(self) -> Iterator[tuple[str, str]]:
        for name in (ORACLE, MIRROR, GATE_MIRROR, *self._properties):
            seen = self._seen.get(name, 0)
            if failing := self._failing.get(name, 0):
                yield name, f"drift: {failing} of {seen} rows"
            elif seen:
                yield name, f"agree: {seen} rows"
            elif name in self._properties:
                yield name, self._silent.get(name, "unverified: no rows")
        if COMPILED not in self._properties:
            yield COMPILED, "unverified: asked for with --compile"
        if self._coarse:
            share = self._coarse_excused / self._coarse
            yield COARSE, f"agree: {share:.3%} of {self._coarse} rows"
        full = any(shape.experts == shape.top_k for shape in self._shapes)
        yield "K = E", "agree: part of gate = oracle" if full else "n/a: not in its domain"


def _key(shape: GateShape) -> str:
    options = sorted(shape.options.items())
    return repr((shape.experts, shape.top_k, shape.hidden, shape.dtype, options))
