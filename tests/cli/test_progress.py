"""The sign of life on standard error."""

import os
import pty
import subprocess
import sys

import pytest

# `pause` returns when the timer's signal has come.
PROGRAM = """
import signal
from contract_guard.cli import progress
progress._FIRST_SECONDS = 0.001
with progress.progress("checking", wanted={wanted}):
    if {pauses}:
        signal.pause()
"""


def on_terminal(wanted: bool, pauses: bool) -> str:
    ours, theirs = pty.openpty()
    program = PROGRAM.format(wanted=wanted, pauses=pauses)
    subprocess.run([sys.executable, "-c", program], stderr=theirs, check=True)
    os.close(theirs)
    text = b""
    while chunk := _read(ours):
        text += chunk
    os.close(ours)
    return text.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_shown_past_the_first_second_and_wiped_at_the_end() -> None:
    text = on_terminal(wanted=True, pauses=True)
    assert text.startswith("\r\x1b[Kchecking 0 s")
    assert text.endswith("\r\x1b[K")


def test_not_shown_where_it_is_not_wanted() -> None:
    assert on_terminal(wanted=False, pauses=False) == ""


@pytest.mark.parametrize("wanted", [True, False])
def test_not_shown_without_a_terminal(wanted: bool) -> None:
    program = PROGRAM.format(wanted=wanted, pauses=False)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
