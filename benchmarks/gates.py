"""Every gate that can be found here, run on one device: verdicts, rows and speed as a table.

    python benchmarks/gates.py --device cuda:0 --json gates.json
    python benchmarks/gates.py --only planted          # 25 planted faults, and 10 seeds without
    python benchmarks/gates.py --only clean --rows 10000000   # no false drift in 10^7 rows
    python benchmarks/gates.py --only soak --seconds 600      # memory over ten minutes

One process, so that a table of 80 gates does not pay 80 times for imports. `kernels` is the time
that the device was busy (CUDA only, from torch's profiler, in a second and shorter run), and
`overhead` what the wall clock saw on top of it, as a multiple. Times are of one run each.
"""

import argparse
import gc
import json
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from fnmatch import fnmatch
from pathlib import Path

import planted
import torch

from contract_guard.gates.adapters import all_adapters
from contract_guard.gates.device import device_name, usable
from contract_guard.gates.model import Gate, GateAdapter, GateRun, GateShape
from contract_guard.gates.runner import run_gate
from contract_guard.gates.settings import Settings, settings_for

SEEDS = 10
SWEPT_AT_ONCE = 8_192


def memory_mib(device: str) -> tuple[float, float]:
    """Resident memory of this process at its peak, and allocated memory of the device, in MiB."""
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    on_device = torch.cuda.memory_allocated(device) / 2**20 if device.startswith("cuda") else 0.0
    return resident, on_device


def kernel_seconds(adapter: GateAdapter, settings: Settings) -> tuple[float, float]:
    """Time that the device was busy, and the wall clock without the profiler and without building
    the gate, for one run after one to warm up."""
    from torch.profiler import ProfilerActivity, profile

    building = 0.0

    def build(shape: GateShape) -> Gate:
        nonlocal building
        begin = time.perf_counter()
        gate = adapter.build(shape)
        torch.cuda.synchronize()
        building += time.perf_counter() - begin
        return gate

    timed = replace(adapter, build=build)
    run_gate(timed, settings)
    building = 0.0
    started = time.perf_counter()
    run_gate(timed, settings)
    torch.cuda.synchronize()
    wall = time.perf_counter() - started - building
    with profile(activities=[ProfilerActivity.CUDA]) as record:
        run_gate(adapter, settings)
        torch.cuda.synchronize()
    busy = sum(event.self_device_time_total for event in record.key_averages()) / 1e6
    return busy, wall


def line(run: GateRun, seconds: float) -> str:
    causes = ", ".join(f"{bucket.label} {bucket.count}" for bucket in run.buckets)
    return (
        f"{run.gate:<48} {run.verdict:<10} {run.rows:>10,} {seconds:>7.2f}s "
        f"{run.rows / max(seconds, 1e-9):>12,.0f}/s {run.excused:>8.3%}  "
        + (causes or run.reason or "")
    )


def all_gates(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Every gate whose name fits, until the time limit."""
    started = time.perf_counter()
    for adapter in all_adapters():
        if not fnmatch(adapter.name, arguments.gates):
            continue
        if time.perf_counter() - started > arguments.limit:
            print(f"{adapter.name:<48} not run: the time limit is over")
            yield {"gate": adapter.name, "verdict": "not-run"}
            continue
        settings = settings_for(arguments.device, arguments.rows, arguments.seed)
        begin = time.perf_counter()
        run = run_gate(adapter, settings)
        seconds = time.perf_counter() - begin
        print(line(run, seconds), flush=True)
        for name, status in run.properties.items():
            if status.startswith(("drift", "error")):
                print(f"    {name}: {status}")
        for bucket in run.buckets:
            shown = {k: v for k, v in bucket.minimal.items() if k != "where"}
            print(f"    {bucket.label}: {json.dumps(shown, default=str)[:600]}")
            print(f"    {bucket.replay}")
        yield asdict(run) | {"seconds": seconds}
    print(f"all: {time.perf_counter() - started:.1f} s")


def faults(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Each planted fault, then the gate without one on several seeds."""
    settings = replace(settings_for(arguments.device, arguments.rows), shrink_seconds=0.3)
    # The sweep over all token ids is most of it on a CPU: fewer and larger batches.
    settings = replace(settings, tokens=max(settings.tokens, SWEPT_AT_ONCE))
    started = time.perf_counter()
    for fault, meaning in planted.FAULTS.items():
        begin = time.perf_counter()
        run = run_gate(planted.adapter(fault), settings)
        found = "found" if run.buckets else "MISSED"
        print(f"{found} {fault:<18} {time.perf_counter() - begin:6.2f}s  {meaning}", flush=True)
        yield {"fault": fault, "found": bool(run.buckets), "causes": [b.label for b in run.buckets]}
    print(f"{len(planted.FAULTS)} faults: {time.perf_counter() - started:.1f} s")
    for seed in range(SEEDS):
        run = run_gate(planted.adapter(), replace(settings, seed=seed))
        print(f"no fault, seed {seed}: {run.verdict}, {run.rows} rows", flush=True)
        yield {"fault": None, "seed": seed, "verdict": run.verdict}


def clean(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """The example gate without a fault, in float32 and bfloat16, with its logits and without."""
    for dtype in ("float32", "bfloat16"):
        for give_logits in (False, True):
            settings = settings_for(arguments.device, arguments.rows, arguments.seed)
            run = run_gate(planted.adapter(None, give_logits, (dtype,)), settings)
            print(f"{dtype:<9} logits {give_logits!s:<5} " + line(run, run.seconds), flush=True)
            for bucket in run.buckets:
                print(f"    {bucket.label}: {bucket.minimal}\n    {bucket.replay}")
            yield asdict(run) | {"dtype": dtype, "logits": give_logits}


def overhead(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """Harness overhead on CUDA, for gates whose name fits."""
    for adapter in all_adapters():
        if fnmatch(adapter.name, arguments.gates) and "cuda" in adapter.domain.devices:
            settings = settings_for(arguments.device, arguments.rows, arguments.seed)
            busy, wall = kernel_seconds(adapter, settings)
            ratio = wall / max(busy, 1e-9) - 1
            print(
                f"{adapter.name:<48} kernels {busy:6.2f}s wall {wall:6.2f}s overhead {ratio:.2f}x"
            )
            yield {"gate": adapter.name, "kernels": busy, "wall": wall, "overhead": ratio}


def soak(arguments: argparse.Namespace) -> Iterator[dict[str, object]]:
    """The example gate over and over: memory must not grow."""
    end = time.perf_counter() + arguments.seconds
    turn = 0
    while time.perf_counter() < end:
        run_gate(planted.adapter(), settings_for(arguments.device, arguments.rows, turn))
        gc.collect()
        resident, on_device = memory_mib(arguments.device)
        if turn % 5 == 0:
            print(f"run {turn}: peak resident {resident:.0f} MiB, device {on_device:.0f} MiB")
        yield {"run": turn, "resident": resident, "device": on_device}
        turn += 1


PARTS = {"gates": all_gates, "planted": faults, "clean": clean, "overhead": overhead, "soak": soak}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--only", default="gates", help="parts, by comma: " + ", ".join(PARTS))
    parser.add_argument("--gates", default="*", help="a pattern of gate names")
    parser.add_argument("--rows", type=int, help="rows a gate")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=600.0, help="of the soak")
    parser.add_argument("--limit", type=float, default=540.0, help="seconds for all gates")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    reason = usable(arguments.device)
    if reason is not None:
        sys.exit(f"benchmarks/gates.py: {reason}")
    print(f"{device_name(arguments.device)}, torch {torch.__version__}")
    results: dict[str, object] = {
        "device": device_name(arguments.device),
        "torch": torch.__version__,
    }
    for part in arguments.only.split(","):
        results[part] = list(PARTS[part](arguments))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(results, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
