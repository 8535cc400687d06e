"""One token of a batch as JSON values, for reports."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

import math
from typing import TYPE_CHECKING

from contract_guard.gates.model import GateOutput
from contract_guard.gates.properties import Trial

if TYPE_CHECKING:
    from torch import Tensor


def shown_token(trial: Trial, row: int) -> dict[str, object]:
    """What was given and what the oracle says of one token, as JSON values: weights by expert, or
    only the experts where these differ."""
    truth = trial.comparison.judgement.truth
    given = weights_of(trial.output, row)
    spec = trial.gate.spec
    best = sorted(truth.choice[row].topk(min(spec.top_k, spec.experts)).indices.tolist())
    expected: object = [str(expert) for expert in best]
    if set(given) == {str(expert) for expert in best}:
        expected = {expert: _number(truth.dense[row, int(expert)]) for expert in given}
    kind = trial.case.kinds[(trial.case.keep or range(trial.tokens))[row] % len(trial.case.kinds)]
    shown: dict[str, object] = {"row_kind": kind, "given": given, "expected": expected}
    if trial.inputs.input_ids is not None:
        shown["token_id"] = int(trial.inputs.input_ids[row])
    shown["wrong"] = list(trial.comparison.parts(row))
    return shown


def weights_of(output: GateOutput, row: int) -> dict[str, float | str]:
    """The weights of one token's experts by id."""
    chosen = output.chosen[row].nonzero()[:, 0].tolist()
    return {str(expert): _number(output.dense[row, expert]) for expert in chosen}


def _number(value: "Tensor") -> float | str:
    """JSON has no NaN and no infinity: these are written as words."""
    number = value.item()
    return number if math.isfinite(number) else str(number)
