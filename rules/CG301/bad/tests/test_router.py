import torch
from pkg import router
from pkg.router import bucket_size, route


def test_route(top_k):
    logits = torch.randn(4, 8)
    bias = torch.randn(8)
    chosen, weights = route(logits, bias, top_k, 2.5)
    s = torch.sqrt(torch.nn.functional.softplus(logits))  # expect: CG301 pkg.router:route
    _, expected_ids = torch.topk(bias + s, k=top_k)
    expected = torch.gather(s, dim=-1, index=expected_ids)
    expected /= expected.sum(-1, keepdim=True)
    torch.testing.assert_close(chosen, expected_ids)
    torch.testing.assert_close(weights, 2.5 * expected)


def test_bucket(tokens):
    size = bucket_size(tokens, 16)
    assert size == (16 if tokens < 16 else -(-tokens // 16) * 16 + tokens % 7)  # expect: CG301 pkg.router:bucket_size


def test_called_through_the_package(top_k):
    tokens, block = 37, 16
    want = (tokens + block - 1) // block * block + tokens % 7  # expect: CG301 pkg.router:bucket_size
    assert router.bucket_size(tokens, block) == want
