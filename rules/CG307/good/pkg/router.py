IMAGE_FIRST = 129252
IMAGE_COUNT = 5
PAD = 129279
AUDIO = (128017, 128018)
AUDIO_FIRST = 128031


def is_image(ids):
    return (ids >= IMAGE_FIRST) & (ids < IMAGE_FIRST + IMAGE_COUNT)


def is_special(ids):
    return (ids == PAD) | (ids == IMAGE_FIRST)


def is_audio(token):
    return token in AUDIO


def special_mask(ids, *, first, bias):
    if first is None:
        return None
    return (ids >= first) & (ids < first + 3) & bias


def audio_mask(ids, bias, enabled):
    return special_mask(ids, first=AUDIO_FIRST if enabled else None, bias=bias)
