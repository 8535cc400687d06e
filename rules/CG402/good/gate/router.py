from gate.constants import IMAGE_BASE_ID, IMAGE_COUNT
from gate.mask import image_mask


def route(ids, scores, bias):
    return scores + image_mask(ids)[:, None] * bias


def image_count(ids):
    return ((IMAGE_BASE_ID <= ids) & (ids <= IMAGE_BASE_ID + IMAGE_COUNT - 1)).sum()
