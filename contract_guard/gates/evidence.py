"""The evidence ledger: what was run, on which sources, on which hardware. Values in, values out.

`contracts.evidence.jsonl` holds one JSON object a line, one line a run, in the order of the runs.
Evidence is fresh while the digests of gate and mirror are those at hand.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, cast

from contract_guard.gates.model import GateRun

LEDGER = "contracts.evidence.jsonl"
VERSION = 1

State = Literal["fresh", "drift", "stale", "not-run", "no-device"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One run. `device_type` is "cuda" or "cpu", `capability` "sm90" or "". `time` is UTC, to the
    second. `digest` is of the sources of the gate, `mirror_digest` of the lifted expectation."""

    gate: str
    mirror: str | None
    verdict: str
    reason: str | None
    digest: str
    mirror_digest: str
    device: str
    device_type: str
    capability: str
    versions: Mapping[str, str]
    seed: int
    cases: int
    rows: int
    excused: float
    seconds: float
    time: str
    buckets: tuple[Mapping[str, object], ...] = ()
    properties: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Requirement:
    """Hardware that evidence must come from: `cuda`, or `cuda:sm90`."""

    device_type: str
    capability: str = ""

    @classmethod
    def parse(cls, text: str) -> "Requirement":
        """Raises ValueError for anything but `cpu`, `cuda` or `cuda:smNN`."""
        match = re.fullmatch(r"(cpu|cuda)(?::(sm\d{2,3}a?))?", text)
        if match is None or (match[1] == "cpu" and match[2]):
            raise ValueError(f"{text!r} is no hardware: say cpu, cuda or cuda:sm90")
        return cls(match[1], match[2] or "")

    def met_by(self, entry: Entry) -> bool:
        return entry.device_type == self.device_type and self.capability in ("", entry.capability)

    def __str__(self) -> str:
        return f"{self.device_type}:{self.capability}" if self.capability else self.device_type


@dataclass(frozen=True, slots=True)
class Target:
    """A gate as it is now."""

    gate: str
    mirror: str | None
    digest: str
    mirror_digest: str


@dataclass(frozen=True, slots=True)
class Status:
    """What the ledger says of one gate."""

    target: Target
    state: State
    entry: Entry | None
    reason: str


def digest(contents: Mapping[str, bytes]) -> str:
    """Of source files by name: 16 hexadecimal digits. Line ends do not count; order neither."""
    total = hashlib.sha256()
    for name, content in sorted(contents.items()):
        body = content.replace(b"\r\n", b"\n")
        total.update(f"{name}\0{hashlib.sha256(body).hexdigest()}\n".encode())
    return total.hexdigest()[:16]


def entry_of(
    run: GateRun,
    target: Target,
    versions: Mapping[str, str],
    seed: int,
    time: str,
) -> Entry:
    """The ledger's entry for a run."""
    match = re.search(r"\((sm\d+a?)\)$", run.device)
    cuda = match is not None or run.device.startswith("cuda")
    return Entry(
        gate=run.gate,
        mirror=run.mirror,
        verdict=run.verdict,
        reason=run.reason,
        digest=target.digest,
        mirror_digest=target.mirror_digest,
        device=run.device,
        device_type="cuda" if cuda else "cpu",
        capability=match[1] if match else "",
        versions=dict(versions),
        seed=seed,
        cases=run.cases,
        rows=run.rows,
        excused=round(run.excused, 8),
        seconds=round(run.seconds, 3),
        time=time,
        buckets=tuple(
            {"label": b.label, "count": b.count, "minimal": b.minimal, "replay": b.replay}
            for b in run.buckets
        ),
        properties=dict(run.properties),
    )


def to_line(entry: Entry) -> str:
    """One line of the ledger, without its end."""
    return json.dumps({"version": VERSION} | asdict(entry), ensure_ascii=False, sort_keys=True)


def from_text(text: str) -> tuple[list[Entry], list[int]]:
    """The entries of a ledger, and the numbers of lines that are none (from 1)."""
    entries: list[Entry] = []
    unread: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = cast("dict[str, Any]", json.loads(line))
            version = record.pop("version")
            record["buckets"] = tuple(record["buckets"])
            entry = Entry(**record)
        except (ValueError, TypeError, KeyError, AttributeError):
            unread.append(number)
            continue
        if version != VERSION:
            unread.append(number)
            continue
        entries.append(entry)
    return entries, unread


def verify(
    targets: Iterable[Target], entries: Iterable[Entry], requirement: Requirement | None
) -> list[Status]:
    """What the ledger says of each target. Runs that ended in an error or that could not be made
    are no evidence."""
    by_target: dict[tuple[str, str | None], list[Entry]] = {}
    for entry in entries:
        by_target.setdefault((entry.gate, entry.mirror), []).append(entry)
    return [
        _status(target, by_target.get((target.gate, target.mirror), []), requirement)
        for target in targets
    ]


def _status(target: Target, entries: list[Entry], requirement: Requirement | None) -> Status:
    real = [entry for entry in entries if entry.verdict in ("agree", "drift")]
    there = [entry for entry in real if requirement is None or requirement.met_by(entry)]
    if not there:
        last = entries[-1] if entries else None
        if last is None:
            return Status(
                target, "not-run" if requirement is None else "no-device", None, "never run"
            )
        if requirement is None:
            return Status(target, "not-run", last, f"last run: {last.verdict}: {last.reason}")
        where = f"last run on {last.device}"
        if last.verdict not in ("agree", "drift"):
            where += f": {last.verdict}: {last.reason}"
        return Status(target, "no-device", last, f"no evidence from {requirement}; {where}")
    fresh = [
        entry
        for entry in there
        if (entry.digest, entry.mirror_digest) == (target.digest, target.mirror_digest)
    ]
    if not fresh:
        last = there[-1]
        what = "its sources" if last.digest != target.digest else "its mirror"
        return Status(target, "stale", last, f"{what} changed since {last.time}")
    last = fresh[-1]
    if last.verdict == "drift":
        causes = ", ".join(str(bucket.get("label")) for bucket in last.buckets)
        return Status(target, "drift", last, causes or "drift")
    return Status(target, "fresh", last, f"{last.rows:,} rows on {last.device}, {last.time}")


def exit_code(statuses: Iterable[Status]) -> int:
    """2 where evidence from the hardware asked for is missing, 1 where any is stale, was never made
    or shows drift, 0 if all is fresh."""
    states = {status.state for status in statuses}
    if "no-device" in states:
        return 2
    return 1 if states - {"fresh"} else 0
