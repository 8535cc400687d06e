"""Runs single cases of one gate, beside its mirror: what a search and a shrinker both need."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import replace
from typing import TYPE_CHECKING

from contract_guard.gates import boundaries as id_boundaries
from contract_guard.gates import strategies, tensors
from contract_guard.gates.buckets import causes
from contract_guard.gates.case import Case, encode
from contract_guard.gates.compare import between_runs, compare, same_routing
from contract_guard.gates.model import CannotBuild, Gate, GateAdapter, GateOutput, GateShape
from contract_guard.gates.properties import COMPILED, PROPERTIES, Property, Trial, compiled
from contract_guard.gates.settings import Mirror, Settings

if TYPE_CHECKING:
    from torch import Tensor

GATE_MIRROR = "gate = mirror"
OF_MIRROR = "mirror: "


class Bench:
    """A gate in every shape that is needed, built once. Raises CannotBuild where it cannot be
    built in any. `boundaries` are token ids to try beside those that spec and mirror name."""

    def __init__(
        self,
        adapter: GateAdapter,
        settings: Settings,
        mirror: Mirror | None = None,
        boundaries: tuple[int, ...] = (),
    ) -> None:
        self.adapter, self.settings, self.mirror = adapter, settings, mirror
        self.not_built: dict[str, str] = {}
        self._gates: dict[str, Gate] = {}
        self.properties: dict[str, Property] = dict(PROPERTIES)
        if settings.compile:
            self.properties[COMPILED] = compiled
        wanted = strategies.shapes(adapter, settings.device, settings.shapes, settings.seed)
        self.shapes = tuple(shape for shape in wanted if self._can_build(shape))
        if not self.shapes:
            raise CannotBuild(next(iter(self.not_built.values()), "its domain is empty"))
        first = self.gate(self.shapes[0])
        self.takes_ids = "input_ids" in first.spec.inputs
        # Plots show ids next to what rule and mirror name, not next to every number of a source.
        self.telling = id_boundaries.gathered(first.spec, mirror.slice if mirror else None)
        every = {*self.telling, *boundaries}
        self.vocabulary = tensors.vocabulary(first, tuple(every))
        self.boundaries = tuple(sorted(b for b in every if 0 <= b < self.vocabulary))
        self.swept = id_boundaries.swept(self.boundaries, self.vocabulary)
        self.neutral = (
            id_boundaries.neutral(self.boundaries, self.vocabulary) if self.takes_ids else None
        )

    def gate(self, shape: GateShape) -> Gate:
        """The gate in this shape. Raises CannotBuild."""
        key = shape_key(shape)
        if key not in self._gates:
            self._gates[key] = self.adapter.build(shape)
        return self._gates[key]

    def _can_build(self, shape: GateShape) -> bool:
        try:
            self.gate(shape)
        except CannotBuild as error:
            self.not_built[shape_key(shape)] = str(error)
            return False
        return True

    def trial(self, case: Case) -> Trial:
        """One case, run and judged."""
        gate = self.gate(case.shape)
        tensors.load(case, gate)
        batch = tensors.inputs(case, gate, self.boundaries)
        output = gate.call(batch)
        judged = compare(gate, batch, output, self.settings.tolerance)
        return Trial(gate, case, batch, output, judged)

    def mirrored(self, trial: Trial) -> Trial | None:
        """The same batch with the mirror's expectation in place of the gate's output."""
        if self.mirror is None:
            return None
        expected = self.mirror.run(trial.gate, trial.inputs)
        judged = compare(trial.gate, trial.inputs, expected, self.settings.tolerance)
        return replace(trial, output=expected, comparison=judged)

    def apart(self, trial: Trial, other: GateOutput) -> "Tensor":
        """Tokens [T] that `other` routes otherwise than the gate did."""
        judgement = between_runs(trial.gate, trial.comparison.judgement)
        return ~same_routing(trial.output, other, judgement)

    def fails(self, label: str, case: Case) -> bool:
        """Whether a case shows the drift of this label; never raises."""
        try:
            trial = self.trial(case)
            if label in self.properties:
                return bool(self.properties[label](trial).any())
            mirrored = self.mirrored(trial)
            if label == GATE_MIRROR and mirrored is not None:
                return bool(self.apart(trial, mirrored.output).any())
            view = trial
            if label.startswith(OF_MIRROR) and mirrored is not None:
                view, label = mirrored, label.removeprefix(OF_MIRROR)
            return any(drift.label == label for drift in causes(view, self.neutral))
        except Exception:  # noqa: BLE001 - a simpler case that cannot run is no simpler case
            return False

    def token_id(self, case: Case, row: int) -> int | None:
        """The id of a case's token, where the gate takes ids."""
        if not self.takes_ids:
            return None
        ids = tensors.inputs(case, self.gate(case.shape), self.boundaries).input_ids
        return None if ids is None else int(ids[row])

    def replay(self, case: Case) -> str:
        """The command that runs a case again."""
        name, device = self.adapter.name, self.settings.device
        other = ""
        if self.mirror is not None and self.mirror.slice is None:
            other = f"--versus {self.mirror.name} "
        return f"contract-guard gate run {name} --device {device} {other}--replay {encode(case)}"


def shape_key(shape: GateShape) -> str:
    """What tells two shapes apart, on one line."""
    options = sorted(shape.options.items())
    return repr((shape.experts, shape.top_k, shape.hidden, shape.dtype, options))
