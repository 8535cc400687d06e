from pkg.constants import SENTINEL


def is_image(token):
    return token == SENTINEL
