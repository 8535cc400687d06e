"""Why a gate drifts: a cause for each drifting token.

A cause is found by asking, not by looks alone: if the answer is right for another token id, the
mask rule is at fault; if a coarser dtype would explain the difference, the dtype is.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch

from contract_guard.gates.bounds import roundoff
from contract_guard.gates.compare import PARTS, compare
from contract_guard.gates.model import GateOutput
from contract_guard.gates.properties import Trial
from contract_guard.gates.spec import GateSpec
from contract_guard.gates.tensors import take

if TYPE_CHECKING:
    from torch import Tensor

MASK = "mask rule"
TABLE = "hash table"
PADDING = "padding rule"
RANGE = "score underflow or overflow"
DTYPE = "dtype"
TIES = "order under ties"
ORDER = "order of the experts"
GROUPS = "groups"
NUMBER = "number of experts"
CAPACITY = "capacity"
NOT_FINITE = "NaN or infinity"
LINEAR = "linear"
SCALING = "scaling"
RENORMALIZATION = "renormalization"
CHOICE = "choice of experts"
WEIGHTS = "weights"

# Rows that are looked at for their cause; the others of the batch count in proportion.
MOST_EXAMINED = 128
# A token whose id is farther than this from a range is none that the range's rule errs about.
NEAR = 16
# Scores beyond this many logits differ by less than float32 can tell from 0 or 1.
EXTREME_LOGIT = 16.0
# A deviation of at most this many roundings of the next coarser dtype is one of dtype.
COARSE = 4.0


@dataclass(frozen=True, slots=True)
class Drift:
    """Tokens of one case that drift for one cause: how many, and the row of the first."""

    label: str
    count: int
    row: int


def causes(trial: Trial, neutral_id: int | None) -> list[Drift]:
    """The causes of the drift in a trial, most tokens first. `neutral_id` is a token id far from
    every boundary."""
    bad = trial.comparison.bad.nonzero()[:, 0]
    total = bad.numel()
    if total == 0:
        return []
    # Spread over the batch, so that no kind of row goes unseen.
    examined = bad[torch.linspace(0, total - 1, min(total, MOST_EXAMINED)).long().to(bad.device)]
    labels = _labels(trial, examined, neutral_id)
    found: dict[str, list[int]] = {}
    for row, label in zip(examined.tolist(), labels, strict=True):
        found.setdefault(label, []).append(row)
    share = total / len(labels)
    drifts = [Drift(label, round(len(rows) * share), rows[0]) for label, rows in found.items()]
    return sorted(drifts, key=lambda drift: -drift.count)


def _labels(trial: Trial, rows: "Tensor", neutral_id: int | None) -> list[str]:
    comparison, truth = trial.comparison, trial.comparison.judgement.truth
    flags = comparison.wrong[:, rows].t().tolist()
    masked = _right_for_another_id(trial, rows, neutral_id)
    logits = truth.logits[rows].abs()
    extreme = (torch.where(logits.isfinite(), logits, 0.0).amax(-1) > EXTREME_LOGIT).tolist()
    given_finite = truth.dense[rows].isfinite().all(-1).tolist()
    coarse_choice, tied = _choice_gap(trial, rows)
    outside = _outside_groups(trial, rows)
    ratios = _ratios(trial, rows)
    by_table = truth.fixed[rows].tolist()
    labels: list[str] = []
    for place, wrong in enumerate(flags):
        parts = {part for part, flag in zip(PARTS, wrong, strict=True) if flag}
        if masked[place] and parts & {"choice", "order"}:
            label = MASK
        elif "count" in parts:
            label = NUMBER if trial.gate.spec.output.capacity is None else CAPACITY
        elif by_table[place] and "choice" in parts:
            label = TABLE if trial.gate.spec.selection.kind == "hash" else PADDING
        elif "finite" in parts:
            label = RANGE if given_finite[place] and extreme[place] else NOT_FINITE
        elif "choice" in parts:
            if outside[place]:
                label = GROUPS
            elif tied[place]:
                label = TIES
            elif coarse_choice[place]:
                label = DTYPE
            else:
                label = RANGE if extreme[place] else CHOICE
        elif "logits" in parts:
            label = LINEAR
        elif "ties" in parts:
            label = TIES
        elif "weights" in parts:
            label = ratios[place]
            if label == WEIGHTS and extreme[place]:
                label = RANGE
        else:
            label = ORDER
        labels.append(label)
    return labels


def _right_for_another_id(trial: Trial, rows: "Tensor", neutral_id: int | None) -> list[bool]:
    """Which tokens got what a token of another id ought to get: an ordinary one, or an image."""
    image, nothing = trial.gate.spec.image, [False] * rows.numel()
    if neutral_id is None or image is None or trial.inputs.input_ids is None:
        return nothing
    output = trial.output
    theirs = GateOutput(
        output.dense[rows],
        output.chosen[rows],
        None if output.ids is None else output.ids[rows],
        None if output.weights is None else output.weights[rows],
        None if output.logits is None else output.logits[rows],
    )
    batch = take(trial.inputs, rows)
    right = torch.zeros_like(rows, dtype=torch.bool)
    for token_id in (neutral_id, image.first_id):
        other = replace(batch, input_ids=torch.full_like(rows, token_id))
        right |= ~compare(trial.gate, other, theirs).bad
    ids = trial.inputs.input_ids[rows]
    near = (ids >= image.first_id - NEAR) & (ids < image.first_id + image.count + NEAR)
    return (right & near).tolist()


def _choice_gap(trial: Trial, rows: "Tensor") -> tuple[list[bool], list[bool]]:
    """Whether one step of a coarser dtype explains a misplaced expert, and whether it was tied."""
    truth = trial.comparison.judgement.truth
    choice = torch.where(truth.choice[rows].isfinite(), truth.choice[rows], 0.0)
    chosen = trial.output.chosen[rows]
    valid = truth.choice[rows].isfinite()
    kept = torch.where(chosen & valid, choice, torch.inf).amin(-1)
    lost = torch.where(~chosen & valid, choice, -torch.inf).amax(-1)
    gap = lost - kept
    size = torch.maximum(kept.abs(), lost.abs())
    step = COARSE * roundoff("bfloat16") * size
    return ((gap > 0) & (gap <= step)).tolist(), (gap == 0).tolist()


def _outside_groups(trial: Trial, rows: "Tensor") -> list[bool]:
    """Which tokens have an expert in a group that ought to be lost."""
    groups = trial.gate.spec.groups
    if groups is None:
        return [False] * rows.numel()
    truth = trial.comparison.judgement.truth
    choice = truth.choice[rows]
    filled = choice == groups.fill
    return (trial.output.chosen[rows] & filled).any(-1).tolist()


def _is_scale(ratio: "Tensor", spec: GateSpec) -> "Tensor":
    """Whether a factor is one that scaling goes wrong by: left out, twice, or by K."""
    known = [spec.scale.factor, 1 / spec.scale.factor if spec.scale.factor else 0.0]
    known += [float(spec.top_k), 1 / spec.top_k]
    factors = torch.tensor(known, dtype=ratio.dtype, device=ratio.device)
    return ((ratio[:, None] / factors - 1).abs() < 1e-3).any(-1)


def _ratios(trial: Trial, rows: "Tensor") -> list[str]:
    """A label for weights that are wrong: off by one factor everywhere, by one factor in each
    token, by as little as a coarser dtype, or otherwise."""
    truth = trial.comparison.judgement.truth
    chosen = trial.output.chosen[rows]
    given, expected = trial.output.dense[rows].double(), truth.dense[rows]
    usable = chosen & (expected != 0) & expected.isfinite() & given.isfinite()
    ratio = torch.where(usable, given / expected, torch.nan)
    low = ratio.nan_to_num(nan=torch.inf).amin(-1)
    high = ratio.nan_to_num(nan=-torch.inf).amax(-1)
    middle = ratio.nanmedian(-1).values
    overall = middle.nanmedian()
    small = (ratio - 1).abs().nan_to_num(nan=0.0).amax(-1) <= COARSE * roundoff("bfloat16")
    same = (high - low) <= 0.02 * (middle - 1).abs()
    everywhere = (middle - overall).abs() <= 0.02 * (overall - 1).abs()
    if rows.numel() == 1:
        everywhere = _is_scale(middle, trial.gate.spec)
    labels: list[str] = []
    for is_small, is_same, is_everywhere in zip(
        small.tolist(), same.tolist(), everywhere.tolist(), strict=True
    ):
        if is_same:
            labels.append(SCALING if is_everywhere else RENORMALIZATION)
        elif is_small:
            labels.append(DTYPE)
        else:
            labels.append(WEIGHTS)
    return labels
