"""What a project is checked against: releases of other projects, and an environment's packages.

`find` says where the sources lie and tells their present state, which is all that a kept result
of the whole run needs; `outlines.outlines` makes trees of names of them. Nothing of them is
imported or run.
"""

import hashlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from contract_guard.errors import UserError
from contract_guard.project.cache import is_settled
from contract_guard.project.config import read_toml
from contract_guard.project.discovery import Found, discover
from contract_guard.project.packages import Progress, fetch

_DIST_INFO = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)\.dist-info")


class _Project(msgspec.Struct, frozen=True):
    name: str | None = None
    version: str | None = None


class _Document(msgspec.Struct, frozen=True):
    """Of `pyproject.toml`, what tells the distribution."""

    project: _Project = _Project()


class Against(msgspec.Struct, frozen=True, kw_only=True):
    """A release, or an environment, that was found and not read yet.

    `origin` is what the user wrote. `distributions` are those in it, as `vllm==0.33.0`.
    `is_installed` tells what lies as in `site-packages` from a source tree. Of an environment
    only those packages are read that the project imports. `found_at` is in ns since the epoch.
    `warnings` are what a user should know of it beside what is found.
    """

    origin: str
    place: Path
    distributions: tuple[str, ...]
    is_installed: bool
    is_environment: bool
    found: Found
    found_at: int
    warnings: tuple[str, ...] = ()

    @property
    def identity(self) -> bytes:
        """Differs where what is read, or what it is called, may differ."""
        state = (self.origin, str(self.place), self.distributions, self.found)
        return hashlib.sha256(msgspec.msgpack.encode(state)).digest()

    @property
    def is_settled(self) -> bool:
        """Whether the stamps of all files can be trusted to change with the next change."""
        files = (*self.found.python, *self.found.build)
        return all(is_settled(file, self.found_at) for file in files)


def find(
    specs: Iterable[str],
    environments: Iterable[Path] = (),
    *,
    cache_dir: Path | None,
    progress: Progress | None = None,
) -> tuple[Against, ...]:
    """Find each `DIST==VERSION`, wheel, source distribution or directory, and the packages of
    each environment. Releases are fetched into `cache_dir` unless they are there.

    Raises UserError for what cannot be had, and for what has no Python in it.
    """
    releases = [_find_release(spec, cache_dir, progress) for spec in dict.fromkeys(specs)]
    return (*releases, *map(_find_environment, dict.fromkeys(environments)))


def _find_release(spec: str, cache_dir: Path | None, progress: Progress | None) -> Against:
    if cache_dir is None and not Path(spec).is_dir():
        raise UserError(
            f"--against {spec}: a release is unpacked into the cache; name one with --cache-dir"
        )
    package = fetch(spec, cache_dir or Path(), progress, with_sdist=False)
    place = package.wheel or package.sdist
    if place is None:
        raise UserError(f"--against {spec}: it has neither a wheel nor a source distribution")
    installed = tuple(_installed_distributions(place))
    if not installed:
        place = _top(place)
    found = discover(place)
    if not found.python and not found.compiled:
        raise UserError(f"--against {spec}: no Python files in it")
    named, equals, _ = package.spec.partition("==")
    pinned = (package.spec,) if equals and not Path(named).exists() else ()
    return Against(
        origin=spec,
        place=place,
        distributions=installed or pinned or tuple(_source_distribution(place)),
        is_installed=bool(installed),
        is_environment=False,
        found=found,
        found_at=time.time_ns(),
        warnings=package.warnings,
    )


def _find_environment(path: Path) -> Against:
    place = _site_packages(path)
    return Against(
        origin=str(path),
        place=place,
        distributions=tuple(_installed_distributions(place)),
        is_installed=True,
        is_environment=True,
        found=discover(place),
        found_at=time.time_ns(),
    )


def _site_packages(path: Path) -> Path:
    """The `site-packages` of an environment, given as itself, by its root or its interpreter."""
    if not path.exists():
        raise UserError(f"--python {path}: no such file or directory")
    if path.is_dir() and path.name in ("site-packages", "dist-packages"):
        return path.absolute()
    # The interpreter of a virtual environment is a link: its own place counts, not its target's.
    root = path.absolute() if path.is_dir() else path.absolute().parent.parent
    patterns = ("lib/python3*/site-packages", "lib/python3*/dist-packages", "Lib/site-packages")
    places = {p.resolve(): p for pattern in patterns for p in sorted(root.glob(pattern))}
    if not places:
        raise UserError(f"--python {path}: no site-packages in {root}")
    if len(places) > 1:
        listed = ", ".join(str(place) for place in places.values())
        raise UserError(f"--python {path}: several site-packages; name one of {listed}")
    return next(iter(places.values()))


def _top(place: Path) -> Path:
    """The one directory of an unpacked source distribution; `place` itself for a source tree."""
    inner = [entry for entry in place.iterdir() if not entry.name.startswith(".")]
    is_single = len(inner) == 1 and inner[0].is_dir() and not inner[0].is_symlink()
    return inner[0] if is_single and (inner[0] / "PKG-INFO").is_file() else place


def _installed_distributions(place: Path) -> Iterator[str]:
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if match := _DIST_INFO.fullmatch(entry.name):
            yield f"{match['name']}=={match['version']}"


def _source_distribution(place: Path) -> Iterator[str]:
    """Name and version as the sources themselves state them, where they do."""
    from email.parser import HeaderParser  # for a few source trees only

    try:
        header = HeaderParser().parsestr((place / "PKG-INFO").read_text("utf-8", "replace"))
        name, version = header["Name"], header["Version"]
    except OSError:
        path = place / "pyproject.toml"
        try:
            stated = msgspec.convert(read_toml(path) if path.is_file() else {}, _Document).project
        except msgspec.ValidationError:
            stated = _Project()  # of other types than the field has: it states nothing
        name, version = stated.name, stated.version
    if name and version:
        yield f"{name}=={version}"
