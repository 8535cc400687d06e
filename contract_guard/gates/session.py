"""The state of one gate's run: cases tried, properties seen, drift found.

Rows of gate = oracle are counted over all cases; the other properties take turns on the same
batches until each has seen its share. A case costs one read-back from the device, unless it drifts.
Search and shrinking each have a time limit; what was seen by then is reported.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import hypothesis
import torch
from hypothesis import HealthCheck, Phase
from hypothesis.strategies import SearchStrategy

from contract_guard.gates import histogram, strategies
from contract_guard.gates.bench import GATE_MIRROR, OF_MIRROR, Bench, shape_key
from contract_guard.gates.buckets import causes
from contract_guard.gates.case import Case, describe
from contract_guard.gates.compare import GateFault
from contract_guard.gates.device import device_name, is_alive, settle
from contract_guard.gates.minimal import Found, as_found, shrunk
from contract_guard.gates.model import (
    Bucket,
    CannotBuild,
    GateAdapter,
    GateRun,
    Verdict,
    one_line,
)
from contract_guard.gates.properties import COMPILED, NotApplicable, Trial, Unverified
from contract_guard.gates.settings import Mirror, Progress, Settings
from contract_guard.gates.ties import is_coarse, ordinary_rows

if TYPE_CHECKING:
    from torch import Tensor

ORACLE = "gate = oracle"
COARSE = "excused, coarse scores"
MIRROR = "mirror = oracle"
# So many drifting cases in a row without a new cause, and causes are no longer looked for.
UNSURPRISING = 24
# A batch takes as long as it takes.
SLOW_BY_NATURE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example)
# Of one search; another with the next seed follows while rows and time are left.
MOST_EXAMPLES = 128
# Properties tried on one case at least, so that none waits for long.
AT_ONCE = 2


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
        self._started = time.monotonic()
        if settings.device.startswith("cuda"):
            # About 64 float64 tensors of a batch are alive at once at the peak.
            memory = torch.cuda.get_device_properties(settings.device).total_memory
            settings = replace(settings, elements=min(settings.elements, memory // 512))
        self._bench = Bench(adapter, settings, mirror, boundaries)
        self._settings, self._on_progress = settings, on_progress
        self._device = device_name(settings.device)
        self._cases = self._rows = 0
        self._ordinary = self._excused = 0
        self._coarse = self._coarse_excused = 0
        self._found: dict[str, Found] = {}
        self._causes = {"": _Causes(), OF_MIRROR: _Causes()}
        self._fault: tuple[str, Case] | None = None
        # Properties whose trial ended in a fault: the reason, and the case if it was in this run.
        self._broken: dict[str, tuple[str, Case | None]] = {
            name: (reason, None) for name, reason in settings.without.items()
        }
        self._poisoned = False
        self._late: str | None = None
        self._end = self._started + settings.search_seconds
        self._seen: dict[str, int] = {}
        self._failing: dict[str, int] = {}
        # Properties that say nothing, with the reason, and on which shape each was asked.
        self._silent: dict[str, str] = {}
        self._mute: set[tuple[str, str]] = set()

    def explore(self, replay: tuple[Case, ...] = (), only_replay: bool = False) -> None:
        """Runs the cases given, those that every run has, and a search until the rows are met or
        the time is over."""
        for case in replay:
            self._try(case)
        if only_replay:
            return
        settings, bench = self._settings, self._bench
        for case in strategies.corners(
            bench.shapes,
            settings.elements,
            settings.tokens,
            bench.swept if bench.takes_ids and settings.sweep else (),
            settings.seed,
        ):
            self._try(case)
        strategy = strategies.cases(
            bench.shapes, settings.elements, settings.tokens, bench.takes_ids
        )
        goal, turn = self._rows + settings.rows, settings.seed
        while self._rows < goal and not self._over():
            before = self._rows
            self._search(strategy, goal, turn)
            turn += 1
            if self._rows == before:
                break
        if self._late is not None and self._fault is None:
            self._late += f" with {max(goal - self._rows, 0)} of {settings.rows} rows to go"

    def _over(self) -> bool:
        """Whether nothing more is to be run."""
        if self._late is None and time.monotonic() > self._end:
            self._late = f"the search was stopped after {self._settings.search_seconds:.0f} s"
        return self._fault is not None or self._late is not None

    def _search(self, strategy: SearchStrategy[Case], goal: int, turn: int) -> None:
        # Drift is collected, not raised: one search then finds all causes, and reaches its rows.
        @hypothesis.settings(
            max_examples=min(MOST_EXAMPLES, -(-(goal - self._rows) // self._settings.tokens)),
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=SLOW_BY_NATURE,
        )
        @hypothesis.seed(turn)
        @hypothesis.given(strategy)
        def look(case: Case) -> None:
            if self._rows < goal:
                self._try(case)

        look()

    def _try(self, case: Case) -> None:
        """Runs one case and keeps what it shows; a fault of the gate ends the run."""
        if self._over():
            return
        try:
            self._observe(case)
        except CannotBuild as error:
            self._bench.not_built[shape_key(case.shape)] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever a gate raises is a verdict on the gate
            self._fault = (_reason(error, case), case)
            self._poisoned |= not is_alive(self._settings.device)
        self._tell()

    def _tell(self, property: str | None = None, case: Case | None = None) -> None:
        # Once the device is lost, the property that lost it stays the last one told of.
        if self._on_progress is None or self._poisoned:
            return
        bench = self._bench
        replay = None if case is None else bench.replay(case)
        drifts, name = len(self._found), bench.adapter.name
        self._on_progress(Progress(name, self._rows, drifts, property, replay, self.so_far))

    def _observe(self, case: Case) -> None:
        bench = self._bench
        trial = bench.trial(case)
        mirrored = bench.mirrored(trial)
        failing: dict[str, Tensor] = {ORACLE: trial.comparison.bad}
        if mirrored is not None:
            failing[MIRROR] = mirrored.comparison.bad
            failing[GATE_MIRROR] = bench.apart(trial, mirrored.output)
        ordinary = ordinary_rows(case, trial.tokens, trial.output.dense.device)
        self._count(trial, mirrored, failing, ordinary)
        held: dict[str, Tensor] = {}
        for name in self._due(trial):
            rows = self._property(name, trial)
            if rows is not None:
                held[name] = rows
            if self._poisoned:
                return
        if held:
            self._count(trial, mirrored, held)

    def _count(
        self,
        trial: Trial,
        mirrored: Trial | None,
        failing: "Mapping[str, Tensor]",
        ordinary: "Tensor | None" = None,
    ) -> None:
        """Reads back how many tokens fail what; with `ordinary`, counts the case itself too."""
        sums = [rows.sum() for rows in failing.values()]
        if ordinary is not None:
            sums += [(trial.comparison.excused & ordinary).sum(), ordinary.sum()]
        counts: list[int] = torch.stack(sums).tolist()
        if ordinary is not None:
            *counts, excused, plain = counts
            self._cases += 1
            self._rows += trial.tokens
            if is_coarse(trial):
                self._coarse_excused += excused
                self._coarse += plain
            else:
                self._excused += excused
                self._ordinary += plain
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
                    self._keep(name, int(left.sum()), trial.case, row)

    def _due(self, trial: Trial) -> list[str]:
        """Properties that have seen too few rows yet, those with the fewest first."""
        if trial.tokens < 2:
            return []
        needed, rows = self._settings.property_rows, self._settings.rows
        shape = shape_key(trial.case.shape)
        waiting = [
            name
            for name in self._bench.properties
            if (name, shape) not in self._mute
            and name not in self._broken
            and self._seen.get(name, 0) < needed
        ]
        at_once = AT_ONCE + needed * len(self._bench.properties) // max(rows, 1)
        return sorted(waiting, key=lambda name: self._seen.get(name, 0))[:at_once]

    def _property(self, name: str, trial: Trial) -> "Tensor | None":
        """The tokens on which a property fails. A fault in it is kept as its own, and the run goes
        on unless the device is lost with it."""
        self._tell(name, trial.case)
        try:
            rows = self._bench.properties[name](trial)
            settle(self._settings.device)
            return rows
        except NotApplicable as error:
            self._say_nothing(name, trial.case, f"n/a: {error}")
        except Unverified as error:
            if is_alive(self._settings.device):
                self._say_nothing(name, trial.case, f"unverified: {error}")
            else:
                self._break(name, str(error), trial.case)
        except Exception as error:  # noqa: BLE001 - whatever a gate raises is a verdict on the gate
            self._break(name, _reason(error, trial.case), trial.case)
        return None

    def _say_nothing(self, name: str, case: Case, reason: str) -> None:
        self._silent[name] = reason
        self._mute.add((name, shape_key(case.shape)))

    def _break(self, name: str, reason: str, case: Case) -> None:
        self._broken[name] = (reason, case)
        if not is_alive(self._settings.device):
            self._poisoned = True
            self._fault = (f"{name}: {reason}", case)

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
        for drift in causes(trial, self._bench.neutral):
            label = prefix + drift.label
            fresh |= label not in state.labels
            state.labels.add(label)
            found = self._keep(label, drift.count, trial.case, drift.row)
            if found.where is None:
                found.where = histogram.histogram_for(drift.label, self._bench.telling)
            histogram.count(found.where, trial, trial.comparison.bad)
        state.unsurprising = 0 if fresh else state.unsurprising + 1

    def _keep(self, label: str, count: int, case: Case, row: int) -> Found:
        found = self._found.setdefault(label, Found(case, row))
        found.count += count
        return found

    def so_far(self) -> GateRun:
        """What there is to report in the middle of a run; runs nothing."""
        return self._run(tuple(as_found(self._bench, *item) for item in self._by_count()))

    def finished(self) -> GateRun:
        """The run, with each cause shrunk as far as the time allows."""
        end = time.monotonic() + self._settings.all_shrink_seconds
        buckets: list[Bucket] = []
        for label, found in self._by_count():
            seconds = min(self._settings.shrink_seconds, end - time.monotonic())
            self._tell()
            bucket = None
            if not self._poisoned and seconds > 0:
                try:
                    bucket = shrunk(self._bench, label, found, seconds)
                except Exception:  # noqa: BLE001 - what it raises when shrunk is not what was found
                    self._poisoned |= not is_alive(self._settings.device)
            buckets.append(bucket or as_found(self._bench, label, found))
        return self._run(tuple(buckets))

    def _by_count(self) -> list[tuple[str, Found]]:
        """The causes found, most tokens first."""
        return sorted(self._found.items(), key=lambda item: -item[1].count)

    def _run(self, buckets: tuple[Bucket, ...]) -> GateRun:
        for said, case in self._faults().items():
            if case is not None:
                buckets += (Bucket(said, 1, describe(case), self._bench.replay(case)),)
        seconds = time.monotonic() - self._started
        mirror = self._bench.mirror
        return GateRun(
            gate=self._bench.adapter.name,
            mirror=mirror.name if mirror else None,
            verdict=self._verdict(),
            device=self._device,
            cases=self._cases,
            rows=self._rows,
            seconds=seconds,
            rows_per_second=self._rows / max(seconds, 1e-9),
            excused=self._excused / max(self._ordinary, 1),
            buckets=buckets,
            reason=self._why(),
            properties=dict(self._statuses()),
        )

    @property
    def poisoned(self) -> bool:
        """Whether the device cannot be used any more in this process."""
        return self._poisoned

    def _faults(self) -> dict[str, Case | None]:
        """What went wrong in running the gate, with the case."""
        faults = {f"{name}: {reason}": case for name, (reason, case) in self._broken.items()}
        if self._fault is not None:
            faults |= {self._fault[0]: self._fault[1]}
        return faults

    def _verdict(self) -> Verdict:
        if self._faults():
            return "error"
        if self._found:
            return "drift"
        return "agree" if self._rows else "unverified"

    def _why(self) -> str | None:
        """Why the gate could not be run, or not as far as it should, or not in every shape."""
        reasons = list(self._faults())
        if self._late is not None:
            reasons.append(self._late)
        if not_built := self._bench.not_built:
            why = "; ".join(sorted(set(not_built.values())))
            reasons.append(f"not built in {len(not_built)} shapes: {why}")
        return "; ".join(reasons) or None

    def _statuses(self) -> Iterator[tuple[str, str]]:
        """Each property with its verdict and rows, or why it says nothing."""
        for name in (ORACLE, MIRROR, GATE_MIRROR, *self._bench.properties):
            seen = self._seen.get(name, 0)
            if name in self._broken:
                yield name, f"error: {self._broken[name][0]}"
            elif failing := self._failing.get(name, 0):
                yield name, f"drift: {failing} of {seen} rows"
            elif seen:
                yield name, f"agree: {seen} rows"
            elif name in self._bench.properties:
                yield name, self._silent.get(name, "unverified: no rows")
        if COMPILED not in self._bench.properties:
            yield COMPILED, "unverified: asked for with --compile"
        if self._coarse:
            share = self._coarse_excused / self._coarse
            yield COARSE, f"agree: {share:.3%} of {self._coarse} rows"
        full = any(shape.experts == shape.top_k for shape in self._bench.shapes)
        yield "K = E", "agree: part of gate = oracle" if full else "n/a: not in its domain"


def _reason(error: Exception, case: Case) -> str:
    """A fault of the gate on one line."""
    # torch has no class of its own for a CPU that is out of memory.
    on_cpu = isinstance(error, MemoryError) or "DefaultCPUAllocator: can't" in str(error)
    if isinstance(error, torch.OutOfMemoryError) or on_cpu:
        return f"out of memory at {case.rows} tokens of {case.shape.hidden}"
    return str(error) if isinstance(error, GateFault) else f"raises {one_line(error)}"
