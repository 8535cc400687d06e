"""A released version, or another checkout, as a state to compare."""

from pathlib import Path

from contract_guard.errors import UserError
from contract_guard.project.config import read_config
from contract_guard.project.merging import State
from contract_guard.project.packages import fetch
from contract_guard.project.snapshot import load


def load_release(spec: str, cache_dir: Path | None, jobs: int | None) -> State:
    """The sources of a release with their tests (of a wheel, where there is no source
    distribution), or of a directory.

    Raises UserError where it cannot be had.
    """
    if cache_dir is None and not Path(spec).is_dir():
        raise UserError(f"{spec}: a release is unpacked into the cache; name one with --cache-dir")
    package = fetch(spec, cache_dir or Path())
    place = package.sdist or package.wheel
    if place is None:
        raise UserError(f"{spec}: the release has neither a wheel nor a source distribution")
    inner = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    if len(inner) == 1 and inner[0].is_dir() and not (place / "pyproject.toml").exists():
        place = inner[0] if package.sdist is not None else place
    snapshot = load(place, read_config(place), jobs=jobs, cache_dir=cache_dir)
    return State(snapshot.tree, snapshot.read, snapshot.unreadable)
