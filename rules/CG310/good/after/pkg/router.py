import torch
from torch.nn import functional

PAD = 129279
SENTINEL = 129252


def padding_mask(ids):
    return ids == SENTINEL


def route(gating, correction, top_k, scale):
    """The experts of each token, and their weights."""
    if top_k > gating.shape[-1]:
        raise ValueError("more experts than there are")
    # Positive, and slower than linear.
    points = functional.softplus(gating).sqrt()
    ids = (correction + points).topk(
        top_k,
        dim=-1,
    ).indices
    gathered = points.gather(-1, ids)
    return ids, scale * (gathered / gathered.sum(dim=-1, keepdim=True))


def bucket_size(tokens, block):
    if tokens < block:
        return block
    return (tokens + block - 1) // block * block + tokens % 7
