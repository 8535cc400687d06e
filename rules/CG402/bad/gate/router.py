from gate.constants import IMAGE_BASE_ID, IMAGE_COUNT


def route(ids, scores, bias):
    is_image = (ids >= IMAGE_BASE_ID) & (ids < IMAGE_BASE_ID + IMAGE_COUNT)
    return scores + is_image[:, None] * bias
