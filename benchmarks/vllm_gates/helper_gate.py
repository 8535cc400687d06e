"""The rule of DeepSeek-V4's gate in plain torch, with the mask that vLLM's own helper makes: what
its kernels ought to do if helper and kernels agree on which ids are images."""

import torch
from torch import nn
from vllm.models.deepseek_v41.common.mm_preprocess import image_sentinel_mask


class HelperGate(nn.Module):
    """`forward(logits [T, E], input_ids [T]) -> (weights [T, K], ids [T, K])`."""

    def __init__(self, experts: int, top_k: int, scale: float) -> None:
        super().__init__()
        self.top_k, self.scale = top_k, scale
        generator = torch.Generator().manual_seed(0)
        self.bias = nn.Parameter(torch.randn(experts, generator=generator) * 0.1)
        self.image_bias = nn.Parameter(torch.randn(experts, generator=generator) * 0.1)

    def forward(
        self, logits: torch.Tensor, input_ids: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        scores = nn.functional.softplus(logits.float()).sqrt()
        is_image = image_sentinel_mask(input_ids)
        bias = torch.where(is_image[:, None], self.image_bias, self.bias)
        ids = (scores + bias).topk(self.top_k, dim=-1).indices
        weights = scores.gather(1, ids)
        return weights / weights.sum(-1, keepdim=True) * self.scale, ids
