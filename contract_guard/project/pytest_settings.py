"""pytest's own settings that decide what a test is and where imports are looked for.

Which file counts is pytest's rule: the first of `pytest.toml`, `.pytest.toml`, `pytest.ini`,
`.pytest.ini`, `pyproject.toml`, `tox.ini`, `setup.cfg` that has a section for pytest, where the
first four count even without one.
"""

import configparser
import shlex
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from contract_guard.errors import UserError
from contract_guard.project.config import is_given, read_toml, tool_table

DEFAULT_PYTHON_FILES = ("test_*.py", "*_test.py")


class PytestSettings(msgspec.Struct, frozen=True):
    """As written; paths are relative to the directory of the file. `nested` are the settings of
    directories below, which hold where pytest is started there."""

    python_files: tuple[str, ...] = DEFAULT_PYTHON_FILES
    pythonpath: tuple[str, ...] = ()
    testpaths: tuple[str, ...] = ()
    nested: tuple[tuple[str, "PytestSettings"], ...] = ()


def read_pytest_settings(root: Path, paths: Iterable[str] = ()) -> PytestSettings:
    """The settings of the project at `root`; pytest's defaults where it has none. Among `paths`
    are the files of `SOURCES` below it; those that cannot be read or parsed are passed over.

    Raises UserError for a file at the root that cannot be read or parsed.
    """
    settings = _read(root) or PytestSettings()
    directories = {path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] in SOURCES}
    nested: list[tuple[str, PytestSettings]] = []
    for directory in sorted(directories - {""}):
        with suppress(UserError):
            if (inner := _read(root / directory)) is not None:
                nested.append((directory, inner))
    return msgspec.structs.replace(settings, nested=tuple(nested))


def _read(directory: Path) -> PytestSettings | None:
    for name, read in SOURCES.items():
        path = directory / name
        if is_given(path):
            table = read(path)
            if table is not None:
                return _settings(table)
    return None


def _settings(table: dict[str, Any]) -> PytestSettings:
    return PytestSettings(
        python_files=_words(table.get("python_files")) or DEFAULT_PYTHON_FILES,
        pythonpath=_words(table.get("pythonpath")),
        testpaths=_words(table.get("testpaths")),
    )


def _words(value: object) -> tuple[str, ...]:
    """A list of strings, or one string with white space between words, quoted as in a shell."""
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value, comments=False))
        except ValueError:
            return tuple(value.split())
    if isinstance(value, list):
        items: list[object] = value  # pyright: ignore[reportUnknownVariableType]
        return tuple(item for item in items if isinstance(item, str))
    return ()


def _ini(section: str, *, always: bool = False) -> Callable[[Path], dict[str, Any] | None]:
    def read(path: Path) -> dict[str, Any] | None:
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(path.read_text("utf-8"), path.name)
        except (configparser.Error, UnicodeDecodeError) as error:
            line = str(error).splitlines()[0]
            raise UserError(f"{path.name}: cannot be parsed: {line}") from None
        except OSError as error:
            raise UserError(f"{path.name}: cannot be read: {error.strerror}") from None
        if parser.has_section(section):
            return dict(parser.items(section))
        return {} if always else None

    return read


def _pyproject(path: Path) -> dict[str, Any] | None:
    table = tool_table(read_toml(path, unless_without=b"pytest"), "pytest")
    if not isinstance(table, dict):
        return None
    settings: dict[str, Any] = table  # pyright: ignore[reportUnknownVariableType]
    options = settings.get("ini_options")
    return options if isinstance(options, dict) else settings  # pyright: ignore[reportUnknownVariableType]


def _pytest_toml(path: Path) -> dict[str, Any]:
    table = read_toml(path).get("pytest", {})
    return table if isinstance(table, dict) else {}  # pyright: ignore[reportUnknownVariableType]


SOURCES: dict[str, Callable[[Path], dict[str, Any] | None]] = {
    "pytest.toml": _pytest_toml,
    ".pytest.toml": _pytest_toml,
    "pytest.ini": _ini("pytest", always=True),
    ".pytest.ini": _ini("pytest", always=True),
    "pyproject.toml": _pyproject,
    "tox.ini": _ini("pytest"),
    "setup.cfg": _ini("tool:pytest"),
}
"""Files that may hold the settings, the first that counts first."""
