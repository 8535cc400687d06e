"""A drift in a few lines of plain torch, for people who do not have contract_guard."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import TYPE_CHECKING

import torch

from contract_guard.gates.properties import Trial

if TYPE_CHECKING:
    from torch import Tensor


def snippet(trial: Trial, row: int, by: str) -> str:
    """A few lines of plain torch that compute what one token ought to get, with what it got.
    `by` is whose answer that is."""
    spec = trial.gate.spec
    truth = trial.comparison.judgement.truth
    experts = trial.output.chosen[row].nonzero()[:, 0].tolist()
    given = [trial.output.dense[row, expert].item() for expert in experts]
    lines = ["import torch", ""]
    if trial.inputs.input_ids is not None:
        lines.append(f"token_id = {int(trial.inputs.input_ids[row])}")
    lines.append(f"logits = torch.tensor({_numbers(truth.logits[row])}, dtype=torch.float64)")
    lines += _score_lines(spec.score.function if spec.score.when == "before" else "identity")
    added = truth.choice[row] - truth.scores[row]
    if spec.correction.on != "none" or spec.image is not None:
        bias = torch.where(added.isfinite(), added, 0.0)
        lines.append(f"bias = torch.tensor({_numbers(bias)}, dtype=torch.float64)")
        lines.append("choice = scores + bias")
    else:
        lines.append("choice = scores.clone()")
    lost = (truth.choice[row].isinf() & (truth.choice[row] < 0)).nonzero()[:, 0].tolist()
    if lost and spec.groups is not None:
        lines.append(f"choice[{lost}] = -torch.inf  # groups that are not kept")
    lines.append(f"expected = choice.topk({spec.top_k}).indices.sort().values.tolist()")
    lines.append(f"given = {experts}  # by {by}, with weights {_rounded(given)}")
    ought = [truth.dense[row, expert].item() for expert in experts]
    lines.append(f"# the weights of these experts ought to be {_rounded(ought)}")
    lines.append("print(expected, given)")
    return "\n".join(lines)


def _score_lines(function: str) -> list[str]:
    return [
        {
            "softmax": "scores = logits.softmax(-1)",
            "sigmoid": "scores = logits.sigmoid()",
            "sqrt-softplus": "scores = logits.exp().log1p().sqrt()",
        }.get(function, "scores = logits")
    ]


def _numbers(values: "Tensor") -> str:
    shown = [f"{value:.9g}" for value in values.tolist()]
    named = [
        {"nan": "torch.nan", "inf": "torch.inf", "-inf": "-torch.inf"}.get(v, v) for v in shown
    ]
    return "[" + ", ".join(named) + "]"


def _rounded(values: list[float]) -> str:
    return "[" + ", ".join(f"{value:.7g}" for value in values) + "]"
