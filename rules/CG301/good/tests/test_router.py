import numpy as np
import pytest
import torch
from pkg.router import bucket_size, route


def test_values_written_out():
    chosen, _ = route(torch.tensor([[1.0, 2.0, 3.0]]), torch.zeros(3), 1, 1.0)
    assert chosen.tolist() == [[2]]


def test_property(top_k):
    _, weights = route(torch.randn(4, 8), torch.randn(8), top_k, 2.5)
    torch.testing.assert_close(weights.sum(-1), torch.full((4,), 2.5))


def test_bias_moves_the_choice():
    logits = torch.zeros(1, 4)
    bias = torch.tensor([0.0, 0.0, 9.0, 0.0])
    chosen, _ = route(logits, bias, 1, 1.0)
    assert chosen.item() == 2


@pytest.mark.parametrize("tokens", [1, 15, 16, 17])
def test_against_brute_force(tokens):
    size = bucket_size(tokens, 16)
    assert size >= tokens
    smaller = [n for n in range(0, 400, 16) if n >= tokens]
    assert size - tokens % 7 in (smaller[0], 16)


def test_another_order_of_calls():
    once = route(torch.ones(1, 4), torch.zeros(4), 2, 1.0)[1]
    twice = route(torch.ones(2, 4), torch.zeros(4), 2, 1.0)[1]
    assert np.allclose(once, twice[:1])


def test_one_operation():
    assert bucket_size(1, 16) == 16 + 1


def test_a_relation_of_two_results():
    tokens, block = 37, 16
    shift = (7 * block + block - 1) // block * block + block % 2
    assert bucket_size(tokens + shift, block) - shift == bucket_size(tokens, block)
