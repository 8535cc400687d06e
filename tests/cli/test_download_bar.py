"""The bar of a download: only on a terminal, only past a second, and gone at the end."""

import io
import sys

import pytest

from contract_guard.cli import against


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "wanted", "seconds", "shown"),
    [
        (Terminal(), True, 1.5, True),
        (Terminal(), True, 0.5, False),
        (Terminal(), False, 1.5, False),
        (io.StringIO(), True, 1.5, False),
    ],
)
def test_the_bar(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, wanted: bool, seconds: float, shown: bool
) -> None:
    now = [10.0]
    monkeypatch.setattr(against.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with against.download_bar(wanted=wanted) as progress:
        progress("host-1.0.whl", 0, 2_000_000)
        assert stream.getvalue() == ""
        now[0] += seconds
        progress("host-1.0.whl", 1_000_000, 2_000_000)
    assert ("host-1.0.whl" in stream.getvalue()) is shown
    assert ("1.0/2.0 MB" in stream.getvalue()) is shown
