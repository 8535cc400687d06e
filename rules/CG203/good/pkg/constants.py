IMAGE_SENTINEL = 128815
PATCHED = 32768
SIZE = 16


def is_image(token):
    return token == IMAGE_SENTINEL
