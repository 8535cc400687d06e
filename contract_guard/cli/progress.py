"""A sign of life on standard error: only on a terminal, and only past a second."""

import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

_FIRST_SECONDS = 1.0
_EVERY_SECONDS = 0.2
_CLEAR_LINE = "\r\x1b[K"


@contextmanager
def progress(what: str, *, wanted: bool = True) -> Generator[None]:
    """Shows `what` and the seconds so far while the body runs.

    By a timer signal, not a thread: a second thread would keep workers from being forked.
    """
    if not (wanted and sys.stderr.isatty() and hasattr(signal, "setitimer")):
        yield
        return
    start = time.monotonic()
    is_shown = False

    def show(*_: object) -> None:
        nonlocal is_shown
        is_shown = True
        # Not through `sys.stderr`: the signal may come while that is in the middle of a write.
        line = f"{_CLEAR_LINE}{what} {time.monotonic() - start:.0f} s"
        os.write(sys.stderr.fileno(), line.encode("ascii", "replace"))

    before = signal.signal(signal.SIGALRM, show)
    signal.setitimer(signal.ITIMER_REAL, _FIRST_SECONDS, _EVERY_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if is_shown:
            print(_CLEAR_LINE, end="", file=sys.stderr, flush=True)
