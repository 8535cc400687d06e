import contextlib


def install():
    from pkg.constants import NEWER  # expect: CG101 pkg.constants:NEWER runtime-error

    return NEWER


with contextlib.suppress(ImportError):
    install()


def later():
    return install()


def report():
    from pkg.constants import REPORTED  # expect: CG101 pkg.constants:REPORTED runtime-error

    return REPORTED


try:
    report()
except Exception as error:
    print("report failed:", error)
