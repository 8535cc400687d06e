import torch

from gate import preprocess
from gate.constants import IMAGE_SENTINEL_BASE_ID, VOCABULARY_SIZE


def test_text_is_no_image() -> None:
    assert not preprocess.image_mask(torch.arange(100)).any()


def test_sentinel_is_an_image() -> None:
    mask = preprocess.image_mask(torch.tensor([42, IMAGE_SENTINEL_BASE_ID]))
    assert mask.tolist() == [False, True]


def test_images_replace_their_rows() -> None:
    ids = torch.tensor([7, IMAGE_SENTINEL_BASE_ID, 8])
    merged = preprocess.merge_embeddings(torch.zeros(3, 2), torch.ones(1, 2), ids)
    assert merged.tolist() == [[0, 0], [1, 1], [0, 0]]


def test_ids_fit_the_vocabulary() -> None:
    assert IMAGE_SENTINEL_BASE_ID < VOCABULARY_SIZE
