"""`contract-guard diff --explain`."""

import sys
from pathlib import Path

from contract_guard.errors import UserError
from contract_guard.project.config import read_config
from contract_guard.project.explain_failure import explain
from contract_guard.report import Format
from contract_guard.report.failures import render_failures
from contract_guard.report.json_format import encode

_LARGEST_LOG = 64 << 20


def explain_failure(
    root: Path,
    what: str,
    since: str | None,
    format: Format | None,
    jobs: int | None,
    cache_dir: Path | None,
) -> str:
    """The explanation of `what`: an error's text, the name of a file with it, or "-" for standard
    input.

    Raises UserError for a text that names nothing missing, and for a format other than text and
    json.
    """
    if format not in (None, "rich", "concise", "json"):
        raise UserError(f"--explain has no format {format!r}: rich, concise or json")
    failures = explain(
        root, read_config(root), _text(what), since=since, jobs=jobs, cache_dir=cache_dir
    )
    if format == "json":
        return encode({"version": 1, "failures": failures})
    return render_failures(failures)


def _text(what: str) -> str:
    if what == "-":
        return sys.stdin.read(_LARGEST_LOG)
    try:
        path = Path(what)
        if path.is_file():
            with path.open(encoding="utf-8", errors="replace") as file:
                return file.read(_LARGEST_LOG)
    except (OSError, ValueError):  # a text, not a path
        return what
    if what.endswith((".log", ".txt", ".out")) and not what.count(" "):
        raise UserError(f"{what}: no such file")
    return what
