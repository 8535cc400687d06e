"""From token ids to what the model takes."""

import torch

from gate.constants import IMAGE_PAD_ID, IMAGE_SENTINEL_BASE_ID


def image_mask(ids: torch.Tensor) -> torch.Tensor:
    """True where a token stands for an image: [T] int64 -> [T] bool."""
    return (ids == IMAGE_SENTINEL_BASE_ID) | (ids == IMAGE_PAD_ID)


def merge_embeddings(text: torch.Tensor, images: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Text embeddings [T, H] with each image token's row replaced, in order, by one of
    `images` [I, H]."""
    merged = text.clone()
    merged[image_mask(ids)] = images
    return merged
