import pytest
import torch
from pkg.router import (
    AUDIO,
    AUDIO_FIRST,
    IMAGE_COUNT,
    IMAGE_FIRST,
    PAD,
    audio_mask,
    is_audio,
    is_image,
    is_special,
)


def test_image():
    ids = torch.arange(IMAGE_FIRST, IMAGE_FIRST + IMAGE_COUNT)
    assert is_image(ids).all()


def test_pad():
    assert is_special(torch.tensor([42, PAD])).tolist() == [False, True]


def test_first():
    assert is_special(torch.tensor([IMAGE_FIRST]))


@pytest.mark.parametrize("token", AUDIO)
def test_audio(token):
    assert is_audio(token)


def test_audio_first():
    ids = torch.arange(AUDIO_FIRST - 1, AUDIO_FIRST + 4)
    assert audio_mask(ids, True, True).sum() == 3
