import pkg


def __getattr__(name):
    return getattr(pkg, name)
