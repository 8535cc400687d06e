import torch


def route(logits, bias, top_k, scale):
    scores = torch.nn.functional.softplus(logits).sqrt()  # expect: CG304 pkg.router:route
    chosen = (scores + bias).topk(top_k, dim=-1).indices
    weights = scores.gather(-1, chosen)
    return chosen, weights / weights.sum(dim=-1, keepdim=True) * scale


def test_weights_sum_to_the_scale():
    _, weights = route(torch.randn(4, 8), torch.zeros(8), 2, 2.5)
    torch.testing.assert_close(weights, torch.full((4, 2), 1.25))
