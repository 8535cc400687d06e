def image_mask(ids, sentinel, *, strict=False):
    return [i == sentinel for i in ids]


def count(ids, limit, device):
    return min(len(ids), limit)
