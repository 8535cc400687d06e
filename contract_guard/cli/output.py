"""Where a report goes, and what can be shown there."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from contract_guard.cli.errors import UserError
from contract_guard.project.whole_file import replace_whole

if TYPE_CHECKING:
    from contract_guard.report import Report, Screen

# Wide enough for most source lines, where nothing tells how wide the reader's window is.
_WIDTH_WITHOUT_TERMINAL = 100


def wants_color(stream: TextIO) -> bool:
    """NO_COLOR, then FORCE_COLOR, then whether the stream is a terminal that has colours."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def screen_width() -> int:
    """Columns of the terminal; COLUMNS, if set, wins."""
    return shutil.get_terminal_size((_WIDTH_WITHOUT_TERMINAL, 24)).columns


def to_nowhere(stream: TextIO) -> None:
    """What is still to be written to a stream whose reader went away is lost without complaint."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def check_writable(path: Path | None) -> None:
    """Raises UserError for a path that cannot be written, before the work is done in vain."""
    if path is None:
        return
    if path.is_dir():
        raise UserError(f"{path}: is a directory; --output-file takes the name of a file")
    if not path.parent.is_dir():
        raise UserError(f"{path}: there is no directory {path.parent}")
    if _is_device(path):
        return
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"{path}: {path.parent} is not writable")


def write(text: str, path: Path | None) -> None:
    """`text` to standard output, or to a file that is replaced at once or not at all (a link by
    the file, not what it points to). Whoever reads a pipe may stop before the end: that changes
    nothing of what was found.

    Raises UserError.
    """
    if path is None:
        try:
            click.echo(text, nl=False, color=True)
        except BrokenPipeError:
            to_nowhere(sys.stdout)
        return
    content = text.encode("utf-8", "backslashreplace")
    try:
        if _is_device(path):
            path.write_bytes(content)
        else:
            replace_whole(path, content)
    except OSError as error:
        raise UserError(f"{path}: cannot be written: {error.strerror}") from None


def write_step_summary(report: "Report", screen: "Screen") -> None:
    """What GitHub Actions shows as the page of the step, where it asks for one.

    Raises UserError where it cannot be written.
    """
    place = os.environ.get("GITHUB_STEP_SUMMARY")
    if not place:
        return
    from contract_guard.report.step_summary import render

    try:
        with Path(place).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(render(report, screen))
    except OSError as error:
        raise UserError(f"GITHUB_STEP_SUMMARY: cannot be written: {error.strerror}") from None


def _is_device(path: Path) -> bool:
    """A pipe, a terminal, `/dev/stdout` that leads to a file: to be written, never replaced."""
    in_dev = path.absolute().is_relative_to("/dev") and not path.absolute().is_relative_to(
        "/dev/shm"
    )
    return in_dev or (path.exists() and not path.is_file())
