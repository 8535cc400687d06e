"""How long a line of a project may be."""

import configparser
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

BLACK_LENGTH = 88


def line_length(root: Path) -> int:
    """What the formatter of the project at `root` is told (Ruff, Black, else Flake8), else what
    Black does by itself."""
    tool = _table(_toml(root / "pyproject.toml"), "tool")
    tables = (
        _table(tool, "ruff"),
        _toml(root / "ruff.toml"),
        _toml(root / ".ruff.toml"),
        _table(tool, "black"),
    )
    for table in tables:
        length = table.get("line-length")
        if isinstance(length, int):
            return length
    with suppress(OSError, configparser.Error, ValueError):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(root / "setup.cfg", "utf-8")
        return parser.getint("flake8", "max-line-length", fallback=BLACK_LENGTH)
    return BLACK_LENGTH


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}  # absent, or a matter of the tool that reads it


def _table(tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name)
    return cast("dict[str, Any]", table) if isinstance(table, dict) else {}
