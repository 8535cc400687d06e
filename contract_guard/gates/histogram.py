"""Where tokens drift: counts over token ids, sizes of logits or margins, for a plot."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from contract_guard.gates import buckets
from contract_guard.gates.properties import Trial

if TYPE_CHECKING:
    from torch import Tensor

# Ids shown on either side of a boundary, and at most in all.
AROUND = 8
MOST_IDS = 96
BY_ID = frozenset({buckets.MASK, buckets.TABLE})
BY_MARGIN = frozenset({buckets.DTYPE, buckets.TIES, buckets.CHOICE, buckets.GROUPS, buckets.ORDER})
MARGINS = tuple(range(-16, 5))
SIZES = tuple(range(-12, 17))


@dataclass(slots=True)
class Histogram:
    """Tokens by a quantity: `seen` and `drifting` per bin; `axis` says what the bins are."""

    axis: str
    bins: tuple[int, ...]
    seen: list[int] = field(default_factory=list[int])
    drifting: list[int] = field(default_factory=list[int])

    def add(self, values: "Tensor", bad: "Tensor") -> None:
        """Counts tokens [T] by the bin that each value falls in; beyond the ends, by the end."""
        first, last = self.bins[0], self.bins[-1]
        place = values.clamp(first, last).long() - first
        size = last - first + 1
        seen = torch.bincount(place, minlength=size).tolist()
        drifting = torch.bincount(place[bad], minlength=size).tolist()
        self.seen = [a + b for a, b in zip(self.seen or [0] * size, seen, strict=True)]
        self.drifting = [a + b for a, b in zip(self.drifting or [0] * size, drifting, strict=True)]

    def shown(self) -> dict[str, object]:
        """As JSON values."""
        return {
            "axis": self.axis,
            "bins": list(self.bins),
            "seen": self.seen,
            "drifting": self.drifting,
        }


def histogram_for(label: str, boundaries: tuple[int, ...]) -> Histogram:
    """The empty histogram that tells most about drift of this label."""
    if label in BY_ID and boundaries:
        low, high = min(boundaries) - AROUND, max(boundaries) + AROUND
        # Boundaries that lie far apart cannot all be shown one by one.
        return Histogram("token id", tuple(range(max(low, high - MOST_IDS), high + 1)))
    if label in BY_MARGIN:
        return Histogram("log10 of the margin between the last chosen and the next", MARGINS)
    return Histogram("log2 of the largest logit", SIZES)


def count(histogram: Histogram, trial: Trial, bad: "Tensor") -> None:
    """Adds a trial's tokens; those whose id lies outside the bins are left out."""
    truth = trial.comparison.judgement.truth
    if histogram.axis == "token id":
        ids = trial.inputs.input_ids
        assert ids is not None
        inside = (ids >= histogram.bins[0]) & (ids <= histogram.bins[-1])
        histogram.add(ids[inside], bad[inside])
        return
    if histogram.bins == MARGINS:
        k = trial.gate.spec.top_k
        choice = truth.choice.nan_to_num(nan=0.0, posinf=1e300, neginf=-1e300)
        if k >= choice.shape[-1]:
            return
        top = choice.topk(k + 1, dim=-1).values
        margin = (top[:, k - 1] - top[:, k]).clamp(1e-300, 1e300)
        histogram.add(margin.log10().floor(), bad)
        return
    size = truth.logits.abs().nan_to_num(nan=0.0, posinf=1e300).amax(-1).clamp(1e-300, 1e300)
    histogram.add(size.log2().floor(), bad)
