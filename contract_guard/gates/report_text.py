"""Gate runs for people, with rich, and as JSON. Names and reasons come from other people's code:
they are shown as text, never as markup."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from io import StringIO

from rich.console import Console
from rich.table import Table
from rich.text import Text

from contract_guard.gates.evidence import Status
from contract_guard.gates.model import Bucket, GateRun

STYLES = {"agree": "green", "drift": "red", "unverified": "yellow", "error": "bold red"}
STATE_STYLES = {
    "fresh": "green",
    "drift": "red",
    "stale": "yellow",
    "not-run": "yellow",
    "no-device": "bold yellow",
}
# Properties that say something only where they are asked for, or on some device.
QUIET = ("n/a", "agree")
# Rows of a table fit a terminal; longer values are for JSON.
MOST_TEXT = 120


def to_json(runs: Sequence[GateRun]) -> str:
    """`gate run --format json`."""
    return json.dumps({"runs": [asdict(run) for run in runs]}, indent=2, default=str) + "\n"


def to_text(runs: Sequence[GateRun], width: int, color: bool, details: bool) -> str:
    """A table of the runs, and what drifted. With `details` also the properties and the snippets
    of plain torch."""
    console = _console(width, color)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("gate", "verdict", "rows", "rows/s", "excused", "device", "causes"):
        table.add_column(
            name,
            justify="right" if name in ("rows", "rows/s", "excused") else "left",
            overflow="fold" if name in ("gate", "causes") else "ellipsis",
        )
    for run in runs:
        name = run.gate if run.mirror is None else f"{run.gate} / {run.mirror}"
        table.add_row(
            Text(name),
            Text(run.verdict, STYLES[run.verdict]),
            f"{run.rows:,}",
            f"{run.rows_per_second:,.0f}",
            f"{run.excused:.2%}",
            Text(run.device),
            Text(", ".join(bucket.label for bucket in run.buckets) or run.reason or ""),
        )
    console.print(table)
    for run in runs:
        if run.buckets:
            console.print()
            console.print(Text(f"{run.gate}: {run.verdict}", STYLES[run.verdict]))
            for bucket in run.buckets:
                _print_bucket(console, bucket, run.rows, details)
        if details:
            _print_properties(console, run)
    _print_summary(console, runs)
    return _text(console)


def to_concise(runs: Sequence[GateRun]) -> str:
    """One line a run, and one a cause."""
    lines: list[str] = []
    for run in runs:
        name = run.gate if run.mirror is None else f"{run.gate} / {run.mirror}"
        tail = f": {_plain(run.reason)}" if run.reason else ""
        lines.append(f"{name}: {run.verdict} on {run.device}, {run.rows:,} rows{tail}")
        lines += [
            f"  {bucket.label}: {bucket.count:,} rows: {bucket.replay}" for bucket in run.buckets
        ]
    return "".join(_plain(line) + "\n" for line in lines)


def statuses_text(statuses: Iterable[Status], width: int, color: bool) -> str:
    """What the ledger says of each gate."""
    console = _console(width, color)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("gate", "mirror", "evidence", "what"):
        table.add_column(name, overflow="fold")
    for status in statuses:
        table.add_row(
            Text(status.target.gate),
            Text(status.target.mirror or "-"),
            Text(status.state, STATE_STYLES[status.state]),
            Text(_plain(status.reason)),
        )
    console.print(table)
    return _text(console)


def statuses_json(statuses: Iterable[Status]) -> str:
    """The same for programs."""
    rows = [
        {
            "gate": status.target.gate,
            "mirror": status.target.mirror,
            "state": status.state,
            "reason": status.reason,
            "digest": status.target.digest,
            "mirror_digest": status.target.mirror_digest,
            "last": asdict(status.entry) if status.entry else None,
        }
        for status in statuses
    ]
    return json.dumps({"gates": rows}, indent=2, default=str) + "\n"


def _console(width: int, color: bool) -> Console:
    return Console(
        file=StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        emoji=False,
        markup=False,
    )


def _text(console: Console) -> str:
    stream = console.file
    assert isinstance(stream, StringIO)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def _print_bucket(console: Console, bucket: Bucket, rows: int, details: bool) -> None:
    console.print(Text(f"  {bucket.label}: {bucket.count:,} of {rows:,} rows"))
    for name, value in bucket.minimal.items():
        if name != "where":
            shown = _plain(str(value))
            if len(shown) > MOST_TEXT:
                shown = shown[:MOST_TEXT] + " ..."
            console.print(Text(f"    {name:<10} {shown}"), soft_wrap=True)
    console.print(Text(f"    {bucket.replay}"), soft_wrap=True)
    if details and bucket.snippet:
        console.print()
        for line in bucket.snippet.splitlines():
            console.print(Text("      " + line), soft_wrap=True)
        console.print()


def _print_properties(console: Console, run: GateRun) -> None:
    console.print()
    console.print(Text(f"{run.gate}: properties"))
    for name, status in run.properties.items():
        style = next((s for word, s in STYLES.items() if status.startswith(word)), "dim")
        console.print(Text(f"  {name:<24} "), Text(_plain(status), style), sep="")


def _print_summary(console: Console, runs: Sequence[GateRun]) -> None:
    counts = {verdict: sum(run.verdict == verdict for run in runs) for verdict in STYLES}
    rows = sum(run.rows for run in runs)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    plural = "" if len(runs) == 1 else "s"
    console.print()
    console.print(Text(f"{len(runs)} gate{plural}: {said}; {rows:,} rows"))
    for run in runs:
        if run.verdict == "unverified":
            console.print(Text(f"NOT VERIFIED: {run.gate}: {_plain(run.reason or '')}", "yellow"))


def _plain(text: str) -> str:
    """On one line, without control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
