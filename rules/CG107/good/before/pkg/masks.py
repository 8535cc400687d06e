def image_mask(ids, pad, *, strict=False):
    return [i == pad for i in ids]


def wider(ids, pad):
    return ids


def decorated(ids, pad):
    return ids


def guarded(ids, pad):
    return ids


def followed(ids, pad):
    return ids
