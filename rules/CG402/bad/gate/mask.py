from gate.constants import IMAGE_BASE_ID


def image_mask(ids):
    return ids == IMAGE_BASE_ID  # expect: CG402 gate.constants:IMAGE_BASE_ID
