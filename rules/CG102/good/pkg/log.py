import logging

log = logging.getLogger("pkg")


def configure(): ...
