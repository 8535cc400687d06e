import contextlib


def install():
    from pkg.constants import NEWER  # expect: CG101 pkg.constants:NEWER runtime-error

    return NEWER


with contextlib.suppress(ImportError):
    install()


def later():
    return install()
