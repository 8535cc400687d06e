"""From names on a command line to runs and evidence: which gates, which devices, which mirrors."""

import datetime
import fnmatch
import importlib.metadata
import os
import platform
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from contract_guard import __version__
from contract_guard.errors import UserError
from contract_guard.gates import evidence
from contract_guard.gates.adapters import all_adapters
from contract_guard.gates.boundaries import of_sources
from contract_guard.gates.case import BadToken, decode
from contract_guard.gates.evidence import Requirement, Status, Target
from contract_guard.gates.model import CannotBuild, GateAdapter, GateRun
from contract_guard.gates.overrides import configured
from contract_guard.gates.worker import SEARCH, Job
from contract_guard.project import gate_files, gate_workers
from contract_guard.project.gate_mirrors import LiftedMirror, lifted_mirror
from contract_guard.text import plural

VERSIONED = ("torch", "transformers", "triton", "vllm", "hypothesis")
MOST_BOUNDARIES = 256


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be run: jobs with the target of each, on these devices."""

    root: Path
    jobs: tuple[Job, ...]
    targets: tuple[Target, ...]
    devices: tuple[str, ...]
    seed: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A gate by name: its own name, the table that binds it if it is not a library's, its mirror
    with what the configuration says of its inputs and outputs, options kept at one value."""

    gate: str
    table: Mapping[str, object] | None = None
    mirror: LiftedMirror | None = None
    bind: Mapping[str, object] = field(default_factory=dict[str, object])
    expects: Mapping[str, str] = field(default_factory=dict[str, str])
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    tolerance: float = 1.0


def requirement(text: str | None) -> Requirement | None:
    """The hardware asked for. Raises UserError."""
    if text is None:
        return None
    try:
        return Requirement.parse(text)
    except ValueError as error:
        raise UserError(f"--require: {error}") from error


def meets(run: GateRun, wanted: Requirement | None) -> bool:
    """Whether a run counts as made on the hardware asked for."""
    if wanted is None:
        return True
    target = Target(run.gate, run.mirror, "", "")
    entry = evidence.entry_of(run, target, {}, 0, "")
    return run.verdict in ("agree", "drift") and wanted.met_by(entry)


def devices(one: str | None, several: str | None) -> tuple[str, ...]:
    """The devices to run on. Raises UserError for what is no device."""
    if one is not None and several is not None:
        raise UserError("--device and --devices: give one of the two")
    text = several if several is not None else one
    if text is None:
        from contract_guard.gates.device import usable

        return ("cuda:0",) if usable("cuda:0") is None else ("cpu",)
    named = tuple(word.strip() for word in text.split(","))
    for name in named:
        kind, _, index = name.partition(":")
        if kind not in ("cpu", "cuda") or (
            ":" in name and not (kind == "cuda" and index.isdigit())
        ):
            raise UserError(f"{name!r} is no device: say cpu, cuda or cuda:0")
    # "cuda" is the first GPU; with a number, evidence and replay say which one it was.
    return tuple("cuda:0" if name == "cuda" else name for name in named)


def plan(
    root: Path,
    names: Sequence[str],
    on: tuple[str, ...],
    *,
    rows: int | None = None,
    seed: int | None = None,
    replay: str | None = None,
    versus: str | None = None,
    with_compile: bool = False,
    search_seconds: float = SEARCH,
) -> Plan:
    """The jobs for the gates named, or for those of the configuration. Raises UserError."""
    wanted = _wanted(root, names)
    versus, versus_options = _versus(root, versus)
    if not wanted:
        raise UserError(
            "no gate is configured: name one, as in `contract-guard gate run 'transformers:*'`, or "
            "add [tool.contract_guard.gates.NAME]"
        )
    if replay is not None:
        if len(wanted) != 1:
            raise UserError("--replay: name the one gate that it is of")
        try:
            decode(replay)
        except BadToken as error:
            raise UserError(f"--replay: {error}") from error
    if versus is not None and any(entry.mirror is not None for entry in wanted):
        wanted = [replace(entry, mirror=None) for entry in wanted]
    if seed is None:
        seed = 0 if os.environ.get("CI") else random.SystemRandom().randrange(2**31)
    jobs: list[Job] = []
    targets: list[Target] = []
    warnings: list[str] = []
    paths = _import_paths(root)
    for entry in wanted:
        target, sources = _target(root, entry)
        targets.append(target if versus is None else Target(target.gate, versus, target.digest, ""))
        mirror = entry.mirror
        if mirror is not None and mirror.problem:
            warnings.append(f"{entry.gate}: {mirror.name}: {mirror.problem}")
        texts = (content.decode(errors="replace") for content in sources.values())
        jobs.append(
            Job(
                gate=entry.gate,
                device=on[0],
                rows=rows,
                seed=seed,
                compile=with_compile,
                tolerance=entry.tolerance,
                binding=entry.table,
                mirror_name=mirror.name if mirror else None,
                mirror=mirror.text if mirror else None,
                bind=entry.bind,
                expects=entry.expects,
                options=entry.options,
                versus=versus,
                versus_options=versus_options,
                boundaries=tuple(sorted(of_sources(texts))[-MOST_BOUNDARIES:]),
                kept=(replay,) if replay else gate_files.kept_tokens(root, entry.gate),
                only_kept=replay is not None,
                search_seconds=search_seconds,
                paths=paths,
            )
        )
    return Plan(root, tuple(jobs), tuple(targets), on, seed, tuple(warnings))


def execute(
    planned: Plan,
    hang_after: float,
    on_progress: gate_workers.Progress,
    on_run: Callable[[Job, GateRun], None],
) -> list[GateRun]:
    """Runs a plan's jobs in processes of their own."""
    made = gate_workers.run_jobs(planned.jobs, planned.devices, hang_after, on_progress, on_run)
    return [run for _, run in made]


def record(planned: Plan, runs: Sequence[GateRun]) -> None:
    """Adds the runs to the ledger, and keeps the failing cases for the next run."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    versions = installed_versions()
    entries = [
        evidence.entry_of(run, target, versions, planned.seed, now)
        for run, target in zip(runs, planned.targets, strict=True)
    ]
    gate_files.append_ledger(planned.root, entries)
    for run in runs:
        tokens = [bucket.replay.rsplit(" ", 1)[-1] for bucket in run.buckets]
        gate_files.keep_tokens(planned.root, run.gate, tokens)


def statuses(
    root: Path, names: Sequence[str], wanted: Requirement | None, all_known: bool
) -> list[Status]:
    """What the ledger says of the gates named; by default of those configured and those in the
    ledger, and with `all_known` of all that are found here."""
    entries, _ = gate_files.read_ledger(root)
    targets: list[Target] = []
    if names:
        chosen = _wanted(root, names)
    else:
        chosen = _wanted(root, ())
        known = {entry.gate for entry in chosen}
        others = {entry.gate for entry in entries}
        if all_known:
            # One without sources is of a library that is not installed.
            others |= {adapter.name for adapter in all_adapters() if adapter.sources()}
        for name in sorted(others - known):
            try:
                chosen += _wanted(root, (name,))
            except UserError:
                # Gone from here; its evidence is stale by that alone.
                chosen.append(_Wanted(name))
    for entry in chosen:
        target, _sources = _target(root, entry)
        targets.append(target)
        versus = {e.mirror for e in entries if e.gate == entry.gate and e.mirror != target.mirror}
        if entry.mirror is None:
            targets += [
                Target(target.gate, other, target.digest, "")
                for other in sorted(filter(None, versus))
            ]
    found = evidence.verify(targets, entries, wanted)
    # A gate that was only run against another was run all the same.
    return [
        status
        for status in found
        if status.entry is not None
        or not any(e.gate == status.target.gate for e in entries)
        or bool(names)
    ]


def not_installed() -> str:
    """`7 gates of vllm, which is not installed`; "" where there are none."""
    missing = [a.name.partition(":")[0] for a in all_adapters() if not a.sources()]
    return ", ".join(
        f"{plural(count, 'gate')} of {library}, which is not installed"
        for library, count in sorted(Counter(missing).items())
    )


def installed_versions() -> dict[str, str]:
    """Of Python, this tool and the packages that decide about a result."""
    versions = {"python": platform.python_version(), "contract-guard": __version__}
    for name in VERSIONED:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def _wanted(root: Path, names: Sequence[str]) -> list[_Wanted]:
    tables = gate_files.gate_tables(root)
    by_gate = {str(table["gate"]): name for name, table in tables.items()}
    if not names:
        return [_configured(root, tables[name]) for name in tables]
    found: list[_Wanted] = []
    known: list[str] | None = None
    for name in names:
        if name in tables or name in by_gate:
            table = tables[name if name in tables else by_gate[name]]
            found.append(_configured(root, table))
        elif any(c in name for c in "*?["):
            known = known if known is not None else [adapter.name for adapter in all_adapters()]
            matches = fnmatch.filter([*tables, *known], name)
            if not matches:
                raise UserError(f"no gate fits {name!r}")
            found += [
                _configured(root, tables[match]) if match in tables else _Wanted(match)
                for match in matches
            ]
        else:
            _adapter(name, None, root)
            found.append(_Wanted(name))
    return found


def _versus(root: Path, name: str | None) -> tuple[str | None, Mapping[str, object]]:
    """The other gate by its own name, with its options where the configuration names it."""
    table = gate_files.gate_tables(root).get(name or "")
    if table is None:
        return name, {}
    return str(table["gate"]), cast("Mapping[str, object]", table.get("options", {}))


def _configured(root: Path, table: Mapping[str, object]) -> _Wanted:
    # A library's gate has its adapter; a table that only adds a mirror to it is no binding.
    is_binding = any(key in table for key in ("build", "inputs", "parameters", "spec"))
    mirror = lifted_mirror(root, table) if "mirror" in table else None
    return _Wanted(
        str(table["gate"]),
        table if is_binding else None,
        mirror,
        bind=cast("Mapping[str, object]", table.get("bind", {})),
        expects=cast("Mapping[str, str]", table.get("expects", {})),
        options=cast("Mapping[str, object]", table.get("options", {})),
        tolerance=_tolerance(table),
    )


def _tolerance(table: Mapping[str, object]) -> float:
    """The factor on the error bound that the configuration allows."""
    value = table.get("tolerance", 1.0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        raise UserError(f"gate {table['gate']}: tolerance: expected a number above 0")
    return float(value)


def _adapter(name: str, table: Mapping[str, object] | None, root: Path) -> GateAdapter:
    import sys

    for path in reversed(_import_paths(root)):
        if path not in sys.path:
            sys.path.insert(0, path)
    try:
        return configured(name, table)
    except CannotBuild as error:
        raise UserError(str(error)) from error


def _target(root: Path, wanted: _Wanted) -> tuple[Target, Mapping[str, bytes]]:
    try:
        sources = gate_files.read_sources(_adapter(wanted.gate, wanted.table, root).sources())
        digest = evidence.digest(sources)
    except UserError:
        sources, digest = dict[str, bytes](), ""
    mirror = wanted.mirror
    name = mirror.name if mirror else None
    return Target(wanted.gate, name, digest, mirror.fingerprint if mirror else ""), sources


def _import_paths(root: Path) -> tuple[str, ...]:
    return tuple(str(place) for place in (root, root / "src") if place.is_dir())
