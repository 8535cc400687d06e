import torch
from pkg.router import AUDIO_FIRST, IMAGE_FIRST, PAD, audio_mask, is_audio, is_image, is_special


def test_image():
    ids = torch.tensor([42, IMAGE_FIRST, 129257])  # expect: CG307 pkg.router:IMAGE_COUNT
    assert is_image(ids).tolist() == [False, True, False]


def test_special():
    assert is_special(torch.tensor([IMAGE_FIRST, PAD])).all()


def test_audio():
    assert [is_audio(i) for i in [7, 128018]] == [False, True]  # expect: CG307 pkg.router:AUDIO


def test_audio_first():
    ids = torch.tensor([42, AUDIO_FIRST, AUDIO_FIRST, 7])  # expect: CG307 pkg.router:AUDIO_FIRST
    assert audio_mask(ids, True, True).sum() == 2
