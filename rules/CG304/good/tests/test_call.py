import torch
from pkg.router import route


def test_weights_sum_to_the_scale():
    _, weights = route(torch.randn(4, 8), torch.zeros(8), 2, 2.5)
    torch.testing.assert_close(weights.sum(-1), torch.full((4,), 2.5))


def test_softplus_of_torch_is_positive():
    assert (torch.nn.functional.softplus(torch.randn(9)).sqrt() > 0).all()
