"""Released versions of other projects, as directories of sources: `--against DIST==VERSION|PATH`.

A release is looked up in the configured package index, its files' hashes are checked, and its
wheel and source distribution are unpacked into the cache. No build backend runs: a source
distribution is read as an archive. A pinned release does not change, so once it is in the cache
the network is not asked again.
"""

import hashlib
import json
import logging
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from contract_guard.errors import UserError
from contract_guard.project.archives import is_archive, unpack
from contract_guard.project.package_index import configured_indexes
from contract_guard.project.text_file import replace_text

if TYPE_CHECKING:
    from unearth import Package, PackageFinder
    from unearth.link import Link

_PIN = re.compile(r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)\s*==\s*(?P<version>[A-Za-z0-9.!+_-]+)")

_SCRATCH = (".download-", ".unpacking-")
_SCRATCH_SECONDS = 86_400

Progress = Callable[[str, int, int | None], None]
"""Called with a file's name, the bytes that have come, and the bytes in all where known."""


class ReleasedPackage(msgspec.Struct, frozen=True):
    """Where a release lies unpacked. `wheel` holds what is installed, `sdist` the sources with
    their tests; either is None where the release has none, or where it was not wanted. A directory
    given by path is both. `yanked` is the reason for which its owner took it back, "" where none
    is given, None where it is on offer."""

    spec: str
    wheel: Path | None
    sdist: Path | None
    yanked: str | None = None

    @property
    def warnings(self) -> tuple[str, ...]:
        if self.yanked is None:
            return ()
        reason = " ".join(self.yanked.split())
        return (f"{self.spec} was yanked{f': {reason}' if reason else ''}",)


def fetch(
    spec: str, cache_dir: Path, progress: Progress | None = None, *, with_sdist: bool = True
) -> ReleasedPackage:
    """The release that `spec` names: `DIST==VERSION`, a directory, a wheel or an sdist file.

    Without `with_sdist`, a source distribution is only had where there is no wheel. Raises
    UserError where the release cannot be had, with nothing left behind.
    """
    path = Path(spec)
    if spec and path.is_dir():
        return ReleasedPackage(spec, path.absolute(), path.absolute())
    if path.is_file():
        return _from_file(spec, path, cache_dir)
    pin = _PIN.fullmatch(spec.strip())
    if pin is None:
        raise UserError(
            f"--against {spec!r}: neither a path that exists nor DIST==VERSION, as in vllm==0.33.0"
        )
    name, version = _normalized(pin["name"]), pin["version"]
    return _from_index(f"{name}=={version}", name, cache_dir, progress or _silent, with_sdist)


def fetch_release(
    spec: str, cache_dir: Path | None, progress: Progress | None = None
) -> ReleasedPackage:
    """`fetch`, where there may be no cache: a directory needs none.

    Raises UserError where the release cannot be had.
    """
    if cache_dir is None and not Path(spec).is_dir():
        raise UserError(f"{spec}: a release is unpacked into the cache; name one with --cache-dir")
    return fetch(spec, cache_dir or Path(), progress)


def _from_file(spec: str, path: Path, cache_dir: Path) -> ReleasedPackage:
    if not is_archive(path):
        raise UserError(f"--against {spec!r}: not a directory, a wheel or a source distribution")
    try:
        digest = _digest(path)
    except OSError as error:
        raise UserError(f"--against {spec!r}: {error.strerror}") from None
    place = _unpacked(path, digest, cache_dir)
    return ReleasedPackage(spec, place, place)


def _from_index(
    spec: str, name: str, cache_dir: Path, progress: Progress, with_sdist: bool
) -> ReleasedPackage:
    record = _packages(cache_dir) / f"{spec}.json"
    known = _recorded(record, spec)
    if known is not None and (known.is_whole or not with_sdist):
        return known.release
    finder = _finder()
    candidates = _candidates(finder, spec, name)
    wheel = next((package for package in candidates if package.link.is_wheel), None)
    sdist = next((package for package in candidates if not package.link.is_wheel), None)
    if wheel and not with_sdist:
        sdist = None
    had = known.release.wheel if known is not None else None
    found = ReleasedPackage(
        spec,
        had or (_download(finder, wheel, cache_dir, progress) if wheel else None),
        _download(finder, sdist, cache_dir, progress) if sdist else None,
        next((p.link.yank_reason for p in (wheel, sdist) if p and p.link.is_yanked), None),
    )
    _record(record, found, with_sdist)
    return found


def _record(record: Path, found: ReleasedPackage, with_sdist: bool) -> None:
    """Whole or not at all: another process may read it. Of an sdist that was not wanted nothing is
    said, so that it can be asked for later."""
    said = {"wheel": _name(found.wheel), "sdist": _name(found.sdist), "yanked": found.yanked}
    if found.sdist is None and not with_sdist:
        del said["sdist"]
    replace_text(record, record.name, json.dumps(said))


class _Recorded(NamedTuple):
    """`is_whole` unless nobody asked for the source distribution."""

    release: ReleasedPackage
    is_whole: bool


def _recorded(record: Path, spec: str) -> _Recorded | None:
    try:
        said = json.loads(record.read_text("utf-8"))
        wheel, sdist = (
            record.parent / name if (name := said.get(kind)) else None
            for kind in ("wheel", "sdist")
        )
        found = ReleasedPackage(spec, wheel, sdist, said.get("yanked"))
    except (OSError, ValueError, AttributeError, TypeError):
        return None
    places = [place for place in (wheel, sdist) if place is not None]
    if not places or not all(place.is_dir() for place in places):
        return None
    return _Recorded(found, "sdist" in said)


def _finder() -> "PackageFinder":
    try:
        from unearth import PackageFinder
    except ModuleNotFoundError:
        raise UserError(
            "--against DIST==VERSION needs the package 'unearth':"
            " pip install 'contract-guard[against]'"
        ) from None
    indexes = configured_indexes()
    if not (indexes.default or indexes.urls or indexes.find_links):
        raise UserError("--against: pip is configured with no-index and without find-links")
    # It is read, not run: a wheel for another platform holds the same Python files.
    finder = PackageFinder(trusted_hosts=indexes.trusted_hosts, ignore_compatibility=True)
    if not indexes.default:
        finder.sources.clear()
    for url in indexes.urls:
        finder.add_index_url(url)
    for place in indexes.find_links:
        finder.add_find_links(place)
    return finder


class _Complaints(logging.Handler):
    """Collects what the finder says of sources that it cannot read, in place of printing it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage().splitlines()[0])


@contextmanager
def _complaints() -> Generator[list[str]]:
    logger = logging.getLogger("unearth")
    handler = _Complaints()
    propagate = logger.propagate
    logger.addHandler(handler)
    logger.propagate = False
    try:
        yield handler.lines
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagate


def _candidates(finder: "PackageFinder", spec: str, name: str) -> "list[Package]":
    """The files of the release, wheels for any platform first. A yanked release is taken: it was
    asked for by its version."""
    import httpx2

    with _complaints() as complaints:
        try:
            found = list(finder.find_matches(spec, allow_yanked=True))
            if found:
                found.sort(key=lambda package: _platform_rank(package.link.filename))
                return found
            others = finder.find_all_packages(name, allow_yanked=True)
            versions = {package.version for package in others}
        except httpx2.HTTPError as error:
            raise UserError(f"--against {spec}: no package index answers ({error})") from None
    raise UserError(f"--against {spec}: {_not_found(name, versions, complaints)}")


def _not_found(name: str, versions: "set[str | None]", complaints: list[str]) -> str:
    from packaging.version import InvalidVersion, Version

    parsed: list[Version] = []
    for version in versions:
        with suppress(InvalidVersion):
            parsed.append(Version(version or ""))
    if parsed:
        newest = ", ".join(str(version) for version in sorted(parsed, reverse=True)[:5])
        return f"there is no such version; the newest are {newest}"
    why = f" ({complaints[-1]})" if complaints else ""
    return f"no package index gives a project {name!r}{why}"


def _platform_rank(filename: str) -> int:
    ranks = ("none-any", "manylinux", "linux", "musllinux", "macosx")
    return next((rank for rank, tag in enumerate(ranks) if tag in filename), len(ranks))


def _download(
    finder: "PackageFinder", package: "Package", cache_dir: Path, progress: Progress
) -> Path:
    """Download a file with its hash checked, unpack it, and delete it."""
    import httpx2
    from unearth.errors import UnpackError
    from unearth.preparer import download_link

    link = package.link

    def report(link: "Link", completed: int, total: int | None) -> None:
        progress(link.filename, completed, total)

    with tempfile.TemporaryDirectory(prefix=".download-", dir=_packages(cache_dir)) as scratch:
        try:
            archive = download_link(finder.session, link, Path(scratch), link.hash_option, report)
            return _unpacked(archive, _digest(archive), cache_dir)
        except (UnpackError, httpx2.HTTPError, OSError) as error:
            raise UserError(f"{link.filename}: {str(error).splitlines()[0]}") from None


def _unpacked(archive: Path, digest: str, cache_dir: Path) -> Path:
    place = _packages(cache_dir) / digest
    if not place.is_dir():
        _tidy(place.parent)
        unpack(archive, place)
    return place


def _packages(cache_dir: Path) -> Path:
    place = cache_dir / "packages"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{place}: {error.strerror}; name another with --cache-dir") from None
    return place


def _tidy(packages: Path) -> None:
    """Take away what runs that were killed have left; what is new may be a run's that goes on."""
    oldest = time.time() - _SCRATCH_SECONDS
    for place in packages.glob(".*-*"):
        if place.name.startswith(_SCRATCH) and place.lstat().st_mtime < oldest:
            shutil.rmtree(place, ignore_errors=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _normalized(name: str) -> str:
    """As in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _name(place: Path | None) -> str | None:
    return place.name if place else None


def _silent(name: str, completed: int, total: int | None) -> None:
    pass
