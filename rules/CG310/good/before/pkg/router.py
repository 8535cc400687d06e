import torch
from torch.nn import functional

PAD = 129279
SENTINEL = 129252


def padding_mask(ids):
    return (ids == SENTINEL) | (ids == PAD)


def route(logits, bias, top_k, scale):
    scores = functional.softplus(logits).sqrt()
    chosen = (scores + bias).topk(top_k, dim=-1).indices
    weights = scores.gather(-1, chosen)
    return chosen, weights / weights.sum(dim=-1, keepdim=True) * scale


def bucket_size(tokens, block):
    if tokens < block:
        return block
    return (tokens + block - 1) // block * block + tokens % 7
