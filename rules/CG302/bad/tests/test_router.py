import torch
from pkg.router import route


def reference(logits, bias, k, factor):
    s = torch.nn.functional.softplus(logits).sqrt()  # expect: CG302 pkg.router:route
    ids = torch.topk(s + bias, k, dim=-1)[1]
    picked = s.gather(-1, ids)
    return ids, factor * (picked / picked.sum(-1, keepdim=True))


def test_route():
    logits, bias = torch.randn(4, 8), torch.randn(8)
    chosen, weights = route(logits, bias, 2, 1.5)
    expected_chosen, expected = reference(logits, bias, 2, 1.5)
    torch.testing.assert_close(chosen, expected_chosen)
    torch.testing.assert_close(weights, expected)


def test_route_of_one_token():
    logits, bias = torch.randn(1, 8), torch.zeros(8)
    _, weights = route(logits, bias, 2, 1.5)
    torch.testing.assert_close(weights, reference(logits, bias, 2, 1.5)[1])
