IMAGE_SENTINEL = 128815
TEMPLATE = "<|begin_of_image|>"


def is_image(token):
    return token == IMAGE_SENTINEL
