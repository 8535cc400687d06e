import logging

SENTINEL = 128815
logger = logging.getLogger("pkg")


class UPPER:
    pass


def LOUD():
    return 1
