import contextlib


def install():
    from pkg.engine import Newer

    Newer.patched = True


with contextlib.suppress(ImportError):
    install()
