from gate.constants import PAD_ID


def is_padding(ids, first):
    return (ids >= first) & (ids < first + 3)


def drop(ids):
    return ids[~is_padding(ids, PAD_ID)]


def padding_mask(token_ids):
    return token_ids == PAD_ID  # expect: CG402 gate.constants:PAD_ID
