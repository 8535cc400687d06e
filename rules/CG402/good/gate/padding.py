from gate.constants import PAD_ID


def is_padding(ids, first):
    return (ids >= first) & (ids < first + 3)


def drop(ids):
    return ids[~is_padding(ids, PAD_ID)]


def keep(ids):
    return ids[is_padding(ids, PAD_ID)]


def stops(length):
    return length == PAD_ID
