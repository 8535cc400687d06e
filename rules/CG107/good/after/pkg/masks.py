from functools import cache


def image_mask(ids, sentinel, *, strict=False):
    return [i == sentinel for i in ids]


def wider(ids, pad, sentinel=None, *, strict=False):
    return ids


@cache
def decorated(ids):
    return ids


def guarded(ids):
    return ids


def followed(ids, sentinel):
    return ids
