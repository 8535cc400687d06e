def bucket_size(tokens, block):
    rounded = (tokens + block - 1) // block * block  # expect: CG304 pkg.buckets:bucket_size error
    return rounded * 1.25 + tokens % 128 + block % 64


def test_buckets_are_large_enough():
    assert bucket_size(100, 32) >= 100
