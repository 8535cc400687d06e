def image_mask(ids, pad, *, strict=False):
    return [i == pad for i in ids]


def count(ids, limit):
    return min(len(ids), limit)
