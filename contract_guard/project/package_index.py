"""Which package indexes this machine's pip is configured for, read without running pip."""

import configparser
import os
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec


class Indexes(msgspec.Struct, frozen=True):
    """`urls` in order of preference; `default` is whether PyPI is meant beside them; `find_links`
    are pages, files or directories."""

    default: bool
    urls: tuple[str, ...]
    find_links: tuple[str, ...]
    trusted_hosts: tuple[str, ...]


def configured_indexes(environ: Mapping[str, str] = os.environ) -> Indexes:
    """pip's configuration files, then its environment variables, the later winning.

    As documented in pip's user guide, "Configuration"; `PIP_CONFIG_FILE=os.devnull` turns the
    files off.
    """
    settings: dict[str, str] = {}
    for path in _files(environ):
        settings |= _read(path)
    for name in ("index-url", "extra-index-url", "find-links", "trusted-host", "no-index"):
        value = environ.get("PIP_" + name.upper().replace("-", "_"))
        if value is not None:
            settings[name] = value
    urls = " ".join((settings.get("index-url", ""), settings.get("extra-index-url", ""))).split()
    offline = settings.get("no-index", "").lower() in {"1", "true", "yes", "on"}
    return Indexes(
        default=not offline and not settings.get("index-url"),
        urls=() if offline else tuple(urls),
        find_links=tuple(_as_link(place) for place in settings.get("find-links", "").split()),
        trusted_hosts=tuple(settings.get("trusted-host", "").split()),
    )


def _as_link(place: str) -> str:
    path = Path(place)
    return path.absolute().as_uri() if "://" not in place and path.exists() else place


def _files(environ: Mapping[str, str]) -> list[Path]:
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return []
    name = "pip.ini" if sys.platform == "win32" else "pip.conf"
    home = Path.home()
    shared = [Path(place) / "pip" / name for place in _system_directories(environ)]
    config_home = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
    files = [
        *shared,
        Path("/etc") / name,
        home / ".pip" / name,
        config_home / "pip" / name,
        Path(sys.prefix) / name,
    ]
    return [*files, Path(chosen)] if chosen else files


def _system_directories(environ: Mapping[str, str]) -> list[str]:
    return [place for place in environ.get("XDG_CONFIG_DIRS", "/etc/xdg").split(":") if place]


def _read(path: Path) -> dict[str, str]:
    parser = configparser.RawConfigParser()
    try:
        parser.read_string(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, configparser.Error):
        return {}
    settings: dict[str, str] = {}
    for section in ("global", "download", "install"):
        if parser.has_section(section):
            settings |= dict(parser.items(section))
    return {key.replace("_", "-"): " ".join(value.split()) for key, value in settings.items()}
