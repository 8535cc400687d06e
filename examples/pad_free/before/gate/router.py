"""The gate: which experts each token goes to, and with what weight."""

import torch
from torch import nn
from torch.nn import functional

from gate.preprocess import image_mask


class ImageAwareGate(nn.Module):
    """Scores every expert, prefers other experts for image tokens, keeps the best `top_k`."""

    def __init__(self, hidden: int, experts: int, top_k: int, scale: float = 1.0) -> None:
        super().__init__()
        self.top_k = top_k
        self.scale = scale
        self.weight = nn.Parameter(torch.randn(experts, hidden) / hidden**0.5)
        self.correction_bias = nn.Parameter(torch.zeros(experts))
        self.image_bias = nn.Parameter(torch.zeros(experts))

    def forward(self, hidden: torch.Tensor, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Hidden states [T, H] and token ids [T] -> weights [T, K] and experts [T, K]."""
        logits = functional.linear(hidden.float(), self.weight.float())
        scores = functional.softplus(logits).sqrt()
        choice = scores + self.correction_bias
        is_image = image_mask(ids)
        choice = choice + is_image.unsqueeze(-1) * self.image_bias
        experts = choice.topk(self.top_k, dim=-1).indices
        weights = scores.gather(-1, experts)
        weights = weights / (weights.sum(dim=-1, keepdim=True) + 1e-20)
        return weights * self.scale, experts
