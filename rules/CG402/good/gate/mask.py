from gate.constants import IMAGE_BASE_ID, IMAGE_COUNT, TEXT_END_ID


def image_mask(ids):
    return (ids >= IMAGE_BASE_ID) & (ids < IMAGE_BASE_ID + IMAGE_COUNT)


def is_text(ids):
    return ids < IMAGE_BASE_ID


def ends(ids):
    return ids == TEXT_END_ID


def near_end(ids):
    return (ids >= TEXT_END_ID) & (ids < TEXT_END_ID + 2)
