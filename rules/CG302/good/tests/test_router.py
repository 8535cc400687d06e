import math

import torch
from pkg.router import route


def best_by_hand(row, bias, k):
    ranked = sorted(range(len(row)), key=lambda i: -(math.log1p(math.exp(row[i])) ** 0.5 + bias[i]))
    return set(ranked[:k])


def make_inputs(rows):
    torch.manual_seed(rows)
    return torch.randn(rows, 8), torch.randn(8)


def test_route():
    logits, bias = make_inputs(4)
    chosen, weights = route(logits, bias, 2, 1.5)
    for row, ids in zip(logits.tolist(), chosen.tolist()):
        assert set(ids) == best_by_hand(row, bias.tolist(), 2)
    assert weights.shape == (4, 2)
