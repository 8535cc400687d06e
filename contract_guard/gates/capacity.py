"""Whether a gate drops the tokens that an expert has no room for, and no others.

An expert takes the first so many tokens of a sequence that choose it. A gate does not say what a
dropped token had chosen, and a token within the error bound of two experts may have chosen either.
So there are two counts: of tokens that must have chosen an expert, and of those that may have.
"""
# torch's stubs leave the results of many methods unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


def wrongly_dropped(
    key: "Tensor", error: "Tensor", unknown: "Tensor", chosen: "Tensor", top_k: int, capacity: int
) -> "Tensor":
    """Tokens [T], one sequence, that a gate dropped though there was room, or kept though there
    was none. `key` [T, E] are comparable choice scores, `error` [T, E] bounds their error,
    `unknown` [T] marks tokens that may have chosen anything, `chosen` [T, E] is what the gate
    kept."""
    unknown = unknown[:, None]
    low, high = key - error, key + error
    may = (high >= low.topk(top_k, dim=-1).values[:, -1:]) | unknown
    must = torch.ones_like(may)
    if top_k < key.shape[-1]:
        must = low > high.topk(top_k + 1, dim=-1).values[:, -1:]
    must &= ~unknown
    room_for_all = may.cumsum(0) <= capacity
    no_room = must.cumsum(0) > capacity
    return (must & room_for_all & ~chosen | chosen & no_room).any(-1)
