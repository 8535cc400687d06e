"""What the gate harness keeps and reads on disk: configuration, ledger, sources, failing cases.

Only the standard library is imported here and in `gate_workers`: `contract-guard gate` runs on
machines that have torch, hypothesis, rich and click, and nothing else.
"""

import ast
import hashlib
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from contract_guard.errors import UserError
from contract_guard.gates.evidence import LEDGER, Entry, from_text, to_line

OWN_FILES = (".contract_guard.toml", "contract_guard.toml")
EXAMPLES = Path(".hypothesis") / "examples"
# Failing cases kept for each gate; they are run first next time.
MOST_KEPT = 16
# A gate's sources, followed along first-party imports, end here at the latest.
MOST_SOURCES = 200


def gate_root(start: Path) -> Path:
    """The nearest directory with a configuration of this tool or `.git`; else `start` itself."""
    if not start.is_dir():
        raise UserError(f"{start}: no such directory")
    start = start.resolve()
    for place in (start, *start.parents):
        if any((place / name).is_file() for name in OWN_FILES) or (place / ".git").exists():
            return place
        if _tool_table(place / "pyproject.toml") is not None:
            return place
    return start


def gate_tables(root: Path) -> dict[str, dict[str, object]]:
    """`[tool.contract_guard.gates.NAME]` by name. Raises UserError for what is no table."""
    where = next((root / name for name in OWN_FILES if (root / name).is_file()), None)
    if where is not None:
        table: object = _toml(where)
    else:
        where = root / "pyproject.toml"
        table = _tool_table(where) or {}
    gates = cast("dict[str, object]", table).get("gates", {})
    if not isinstance(gates, dict):
        raise UserError(f"{where.name}: gates: expected a table")
    found: dict[str, dict[str, object]] = {}
    for name, entry in cast("dict[str, object]", gates).items():
        if not isinstance(entry, dict):
            raise UserError(f"{where.name}: gates.{name}: expected a table")
        values = cast("dict[str, object]", entry)
        if not isinstance(values.get("gate"), str):
            raise UserError(f"{where.name}: gates.{name}: gate = 'module:callable' is missing")
        found[name] = values
    return found


def read_ledger(root: Path) -> tuple[list[Entry], list[int]]:
    """The entries of the root's ledger and the numbers of its unreadable lines."""
    path = root / LEDGER
    try:
        return from_text(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return [], []
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {error}") from error


def append_ledger(root: Path, entries: Iterable[Entry]) -> Path:
    """Adds entries at the end of the root's ledger, in one write. Raises UserError."""
    path = root / LEDGER
    text = "".join(to_line(entry) + "\n" for entry in entries)
    try:
        with path.open("a", encoding="utf-8", newline="\n") as ledger:
            ledger.write(text)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from error
    return path


def read_sources(paths: Iterable[str], reach: bool = True) -> dict[str, bytes]:
    """Source files by a name that is the same on every machine (`package/module.py`); with `reach`,
    also first-party modules that they import, but for installed packages, whose version counts."""
    found: dict[str, bytes] = {}
    todo = [Path(path) for path in paths]
    seen: set[Path] = set()
    while todo and len(seen) < MOST_SOURCES:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        try:
            content = path.read_bytes()
        except OSError:
            continue
        top = _package_root(path)
        found[path.relative_to(top).as_posix()] = content
        if reach and not {"site-packages", "dist-packages"} & set(path.parts):
            todo += _imported_files(content, path, top)
    return found


def read_text(path: Path) -> str:
    """A file's text. Raises UserError."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: cannot be read: {error}") from error


def kept_tokens(root: Path, gate: str) -> tuple[str, ...]:
    """Replay tokens of cases on which the gate drifted before, in Hypothesis's own directory."""
    directory = _kept(root, gate)
    if not directory.is_dir():
        return ()
    files = sorted(directory.iterdir())[:MOST_KEPT]
    return tuple(file.read_text(encoding="ascii", errors="replace").strip() for file in files)


def keep_tokens(root: Path, gate: str, tokens: Iterable[str]) -> None:
    """Keeps these tokens in place of those kept before. A directory that cannot be written is no
    fault: nothing but a head start is lost."""
    directory = _kept(root, gate)
    try:
        if directory.is_dir():
            for old in directory.iterdir():
                old.unlink()
        for token in list(tokens)[:MOST_KEPT]:
            directory.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha256(token.encode()).hexdigest()[:16]
            (directory / name).write_text(token + "\n", encoding="ascii")
    except OSError:
        return


def _kept(root: Path, gate: str) -> Path:
    return root / EXAMPLES / ("gate-" + hashlib.sha256(gate.encode()).hexdigest()[:16])


def _package_root(path: Path) -> Path:
    top = path.parent
    while (top / "__init__.py").is_file() and top.parent != top:
        top = top.parent
    return top


def _imported_files(content: bytes, path: Path, top: Path) -> list[Path]:
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError, RecursionError):
        return []
    names: set[str] = set()
    package = ".".join(path.parent.relative_to(top).parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".") if package else []
                parts = parts[: len(parts) - node.level + 1]
                base = ".".join([*parts, base] if base else parts)
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    files: list[Path] = []
    for name in sorted(filter(None, names)):
        place = top.joinpath(*name.split("."))
        files += [
            file for file in (place.with_suffix(".py"), place / "__init__.py") if file.is_file()
        ]
    return files


def _tool_table(path: Path) -> Mapping[str, object] | None:
    if not path.is_file():
        return None
    tool = _toml(path).get("tool")
    table = (
        cast("dict[str, object]", tool).get("contract_guard") if isinstance(tool, dict) else None
    )
    return cast("Mapping[str, object]", table) if isinstance(table, dict) else None


def _toml(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{os.fspath(path.name)}: {error}") from error
