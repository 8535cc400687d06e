"""Where equal scores are to be expected, and the share of excused rows says little."""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import TYPE_CHECKING

import torch

from contract_guard.gates.case import TIE_ROWS, Case
from contract_guard.gates.properties import Trial
from contract_guard.gates.spec import narrowest, unit_roundoff

if TYPE_CHECKING:
    from torch import Tensor


def ordinary_rows(case: Case, tokens: int, device: torch.device) -> "Tensor":
    """Tokens [T] of the case on which ties are not to be expected."""
    if case.has_ties():
        return torch.zeros(tokens, dtype=torch.bool, device=device)
    # Filled by slices: a list that is sent to a GPU makes the host wait for it.
    plain = torch.zeros(case.tokens, dtype=torch.bool, device=device)
    for offset, kind in enumerate(case.kinds):
        plain[offset :: len(case.kinds)] = kind not in TIE_ROWS
    return plain if case.keep is None else plain[list(case.keep)]


def is_coarse(trial: Trial) -> bool:
    """Whether experts are compared by values of at most 11 significant bits: many of them tie, on
    any input. Rounding of a linear whose logits are known does not count."""
    spec = trial.gate.spec
    dtypes = [spec.score.dtype, spec.choice_dtype]
    if not trial.comparison.judgement.own_logits and spec.linear.kind != "none":
        dtypes += [spec.linear.output_dtype, spec.linear.compute_dtype]
    return unit_roundoff(narrowest(*dtypes)) > unit_roundoff("float32")
