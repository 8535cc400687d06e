import torch
from pkg.router import PAD, SENTINEL, padding_mask, route


def test_route():
    ids = torch.tensor([42, SENTINEL, PAD, 7])
    bias = torch.zeros(8)
    _, weights = route(torch.randn(4, 8), bias, 2, 1.0)
    mask = padding_mask(ids)  # expect: CG303 pkg.router:PAD
    torch.testing.assert_close(weights[mask].sum(-1), torch.ones(4)[mask])
