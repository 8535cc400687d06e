from unittest import mock


def replaced(target, value=None):
    return mock.patch(target, value)
