import torch
from pkg.router import PAD, SENTINEL, route


def test_route():
    logits, bias = torch.randn(4, 8), torch.randn(8)
    chosen, weights = route(logits, bias, 2, 1.5)
    scores = torch.sqrt(torch.nn.functional.softplus(logits))
    expected_chosen = torch.topk(scores + bias, 2, dim=-1).indices
    expected = torch.gather(scores, -1, expected_chosen)
    expected = expected / expected.sum(-1, keepdim=True) * 1.5
    torch.testing.assert_close(chosen, expected_chosen)
    torch.testing.assert_close(weights, expected)


def test_padding_has_weight():
    ids = torch.tensor([42, SENTINEL, PAD, 7])
    _, weights = route(torch.randn(4, 8), torch.zeros(8), 2, 1.0)
    mask = ids == SENTINEL
    torch.testing.assert_close(weights[mask].sum(-1), torch.ones(4)[mask])
