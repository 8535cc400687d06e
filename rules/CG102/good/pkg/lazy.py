_NAMES = {"tensor": "pkg.fleet"}


def __getattr__(name):
    if name in _NAMES:
        return 1
    raise AttributeError(name)
