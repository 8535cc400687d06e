"""The options that say what a project is checked against, and the display of a download."""

import sys
import time
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from contract_guard.cli.errors import say

if TYPE_CHECKING:
    from rich.progress import Progress as Display
    from rich.progress import TaskID

    from contract_guard.project.against import Against
    from contract_guard.project.packages import Progress

against = click.option(
    "--against",
    multiple=True,
    metavar="DIST==VERSION|PATH",
    help="Also know the names of this release, wheel, source distribution or directory. Of several"
    " versions, a name is gone where none has it.",
)
python = click.option(
    "--python",
    "environments",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Also know the names of the packages installed in this environment; nothing is imported.",
)

_FIRST_SECONDS = 1.0


def found(
    specs: Sequence[str],
    environments: Sequence[Path],
    *,
    cache_dir: Path | None,
    wanted: bool,
) -> "tuple[Against, ...]":
    """What the two options name, with warnings said; `wanted` is whether a download may be shown.

    Raises UserError.
    """
    if not specs and not environments:
        return ()
    from contract_guard.project.against import find  # archives and more, for these options alone

    with download_bar(wanted=wanted) as progress:
        others = find(specs, environments, cache_dir=cache_dir, progress=progress)
    for warning in (warning for each in others for warning in each.warnings):
        say(f"warning: {warning}")
    return others


def download(specs: Iterable[str], *, cache_dir: Path | None, wanted: bool) -> None:
    """Bring releases into the cache, with warnings said; of what is there, nothing is loaded.

    Raises UserError.
    """
    from contract_guard.project.packages import fetch_release  # for two releases alone

    with download_bar(wanted=wanted) as progress:
        packages = [fetch_release(spec, cache_dir, progress) for spec in dict.fromkeys(specs)]
    for warning in (warning for package in packages for warning in package.warnings):
        say(f"warning: {warning}")


@contextmanager
def download_bar(*, wanted: bool) -> "Generator[Progress]":
    """Shows a bar for each file that is downloaded: only on a terminal, and only past a second."""
    bar = _Bar(shown=wanted and sys.stderr.isatty())
    try:
        yield bar.update
    finally:
        bar.stop()


class _Bar:
    def __init__(self, *, shown: bool) -> None:
        self._may_be_shown = shown
        self._started = time.monotonic()
        self._display: Display | None = None
        self._tasks: dict[str, TaskID] = {}

    def update(self, name: str, completed: int, total: int | None) -> None:
        if not self._may_be_shown or time.monotonic() - self._started < _FIRST_SECONDS:
            return
        if self._display is None:
            self._display = _display()
            self._display.start()
        if name not in self._tasks:
            self._tasks[name] = self._display.add_task(name, total=total)
        self._display.update(self._tasks[name], completed=completed, total=total)

    def stop(self) -> None:
        if self._display is not None:
            self._display.stop()


def _display() -> "Display":
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TransferSpeedColumn
    from rich.progress import Progress as Display

    return Display(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
