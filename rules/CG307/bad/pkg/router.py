IMAGE_FIRST = 129252
IMAGE_COUNT = 5
PAD = 129279
AUDIO = (128017, 128018)


def is_image(ids):
    return (ids >= IMAGE_FIRST) & (ids < IMAGE_FIRST + IMAGE_COUNT)


def is_special(ids):
    return (ids == PAD) | (ids == IMAGE_FIRST)


def is_audio(token):
    return token in AUDIO
