"""A released version, or another checkout, as a state to compare."""

from pathlib import Path

import msgspec

from contract_guard.errors import UserError
from contract_guard.project.config import Config, read_config
from contract_guard.project.encoding import Decode, decode
from contract_guard.project.merging import State
from contract_guard.project.packages import fetch_release
from contract_guard.project.snapshot import load

# Where sources lie below the top of a source distribution, most often first.
_SOURCE_PREFIXES = ("", "src/", "python/", "lib/")


def load_release(
    spec: str, cache_dir: Path | None, jobs: int | None, decode: Decode = decode
) -> State:
    """The sources of a release with their tests (of a wheel, where there is no source
    distribution), or of a directory. `decode` may know facts of other trees.

    Raises UserError where it cannot be had.
    """
    package = fetch_release(spec, cache_dir)
    place = package.sdist or package.wheel
    if place is None:
        raise UserError(f"{spec}: the release has neither a wheel nor a source distribution")
    inner = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    if len(inner) == 1 and inner[0].is_dir() and not (place / "pyproject.toml").exists():
        place = inner[0] if package.sdist is not None else place
    config = read_config(place)
    snapshot = load(place, config, jobs=jobs, cache_dir=cache_dir, decode=decode, fragments=True)
    state = State(snapshot.tree, snapshot.read, snapshot.unreadable)
    if package.wheel is None or package.sdist is None or package.wheel == package.sdist:
        return state
    built = load(
        package.wheel, Config(), jobs=jobs, cache_dir=cache_dir, decode=decode, fragments=True
    )
    return _with_built(state, State(built.tree, built.read, built.unreadable))


def _with_built(sources: State, built: State) -> State:
    """The sources with what only the build makes: generated, vendored and compiled modules."""
    own = sources.tree.files
    shared = (p for p in _SOURCE_PREFIXES if any(p + path in own for path in built.tree.files))
    prefix = next(shared, "")
    extra = {
        prefix + path: facts
        for path, facts in built.tree.files.items()
        if prefix + path not in sources.tree.files
    }

    def read(path: str) -> bytes:
        if path in extra:
            return built.read(path.removeprefix(prefix))
        return sources.read(path)

    tree = msgspec.structs.replace(
        sources.tree,
        files=dict(sorted({**sources.tree.files, **extra}.items())),
        compiled=sources.tree.compiled | {prefix + path for path in built.tree.compiled},
    )
    return State(tree, read, sources.unreadable)
