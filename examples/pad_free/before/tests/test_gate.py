"""The gate against a reference that is written out here."""

import pytest
import torch

from gate.constants import IMAGE_PAD_ID, IMAGE_SENTINEL_BASE_ID
from gate.router import ImageAwareGate

HIDDEN = 32
SIZES = [(8, 2), (16, 4), (64, 6)]


def make_gate(experts: int, top_k: int, scale: float = 1.0) -> ImageAwareGate:
    torch.manual_seed(experts)
    gate = ImageAwareGate(HIDDEN, experts, top_k, scale)
    gate.correction_bias.data.normal_(std=0.1)
    gate.image_bias.data.normal_()
    return gate


@pytest.mark.parametrize(("experts", "top_k"), SIZES)
@pytest.mark.parametrize("scale", [1.0, 2.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@torch.no_grad()
def test_routing(experts: int, top_k: int, scale: float, dtype: torch.dtype) -> None:
    gate = make_gate(experts, top_k, scale)
    ids = torch.tensor([42, IMAGE_SENTINEL_BASE_ID, IMAGE_PAD_ID, 129257])
    hidden = torch.randn(4, HIDDEN).to(dtype)

    weights, chosen = gate(hidden, ids)

    scores = torch.sqrt(torch.nn.functional.softplus(hidden.float() @ gate.weight.T))
    mask = (ids == IMAGE_SENTINEL_BASE_ID) | (ids == IMAGE_PAD_ID)
    biased = scores + gate.correction_bias + mask[:, None] * gate.image_bias
    expected_chosen = torch.topk(biased, top_k, dim=-1).indices
    expected = torch.gather(scores, -1, expected_chosen)
    expected = expected / (expected.sum(-1, keepdim=True) + 1e-20) * scale
    torch.testing.assert_close(chosen, expected_chosen)
    torch.testing.assert_close(weights, expected)


@pytest.mark.parametrize(("experts", "top_k"), SIZES)
@pytest.mark.parametrize("scale", [0.5, 1.0, 2.5])
@torch.no_grad()
def test_weights_sum_to_the_scale(experts: int, top_k: int, scale: float) -> None:
    gate = make_gate(experts, top_k, scale)
    weights, _ = gate(torch.randn(5, HIDDEN), torch.arange(5))
    torch.testing.assert_close(weights.sum(-1), torch.full((5,), scale))


@pytest.mark.parametrize(("experts", "top_k"), SIZES)
@torch.no_grad()
def test_no_expert_is_chosen_twice(experts: int, top_k: int) -> None:
    gate = make_gate(experts, top_k)
    _, chosen = gate(torch.randn(6, HIDDEN), torch.arange(6))
    assert all(len(set(row)) == top_k for row in chosen.tolist())


@pytest.mark.parametrize(("experts", "top_k"), SIZES)
@torch.no_grad()
def test_image_bias_leaves_text_alone(experts: int, top_k: int) -> None:
    gate = make_gate(experts, top_k)
    hidden = torch.randn(4, HIDDEN)
    ids = torch.tensor([1, 42, 7, 129257])
    _, chosen = gate(hidden, ids)
    gate.image_bias.zero_()
    assert torch.equal(chosen, gate(hidden, ids)[1])


@torch.no_grad()
def test_image_bias_can_decide() -> None:
    gate = make_gate(8, 1)
    gate.image_bias[3] = 100.0
    _, chosen = gate(torch.randn(1, HIDDEN), torch.tensor([IMAGE_SENTINEL_BASE_ID]))
    assert chosen.item() == 3
