import torch
from pkg.router import PAD, SENTINEL, padding_mask


def test_mask():
    ids = torch.tensor([42, SENTINEL, PAD, 7])
    assert padding_mask(ids).tolist() == [False, True, True, False]


def test_inputs_may_name_constants(kind):
    token = PAD if kind == PAD else SENTINEL
    assert padding_mask(torch.tensor([token])).all()
