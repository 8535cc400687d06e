"""Speed and memory of `contract-guard check`, in turn with its peers on the same files.

    python benchmarks/speed.py DIR [--package NAME] [--runs 5] [--peers ruff,griffe,pyright]

DIR is copied; one test file of the copy is changed between runs. Each figure is the median of
whole processes; `cpu` counts a process with its workers, `peak` is the largest sum of resident
sets, read ten times a second (Linux). Peers must be installed beside contract-guard. pyright is
run once.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

BIN = Path(sys.executable).parent
CHECK = [str(BIN / "contract-guard"), "check", "--quiet", "--exit-zero"]


class Cost(NamedTuple):
    wall: float
    cpu: float
    peak_mb: float


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--package", action="append", default=[], help="for griffe")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", default="ruff,griffe")
    options = parser.parse_args()
    peers = [peer for peer in options.peers.split(",") if peer]
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        shutil.copytree(
            options.directory, tree, symlinks=True, ignore=shutil.ignore_patterns(".git")
        )
        files = sorted(tree.rglob("*.py"))
        lines = sum(path.read_bytes().count(b"\n") for path in files)
        print(f"{len(files):,} files, {lines:,} lines, {os.cpu_count()} cores")
        measured = measure(tree, Path(scratch), options.package, options.runs, peers)
    print(f"{'':28}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, cost in measured.items():
        print(f"{name:28}{cost.wall:9.2f}{cost.cpu:9.2f}{cost.peak_mb:9.0f}")
    report_ratios(measured)


def measure(
    tree: Path, scratch: Path, packages: list[str], runs: int, peers: list[str]
) -> dict[str, Cost]:
    cache = scratch / "cache"
    check = [*CHECK, "--root", str(tree), "--cache-dir", str(cache)]
    test = next(path for path in sorted(tree.rglob("test_*.py")))

    def forget() -> None:
        shutil.rmtree(cache, ignore_errors=True)

    def change() -> None:
        with test.open("a") as file:
            file.write("# changed\n")

    rows: dict[str, tuple[list[str], Callable[[], None]]] = {
        "check, cold": (check, forget),
        "check CG1, cold": ([*check, "--select", "CG1"], forget),
        "check, nothing changed": (check, lambda: None),
        "check, one test changed": (check, change),
    }
    if "ruff" in peers:
        ruff = [str(BIN / "ruff"), "check", "--no-cache", "--isolated", "--quiet", "--exit-zero"]
        rows["ruff check --no-cache"] = ([*ruff, str(tree)], lambda: None)
    if "griffe" in peers:
        griffe = [str(BIN / "griffe"), "dump", "-o", os.devnull, "-L", "CRITICAL", "-s", str(tree)]
        rows["griffe dump"] = ([*griffe, *packages], lambda: None)
    found: dict[str, list[Cost]] = {name: [] for name in rows}
    for turn in range(runs + 1):  # the first turn warms the file system's cache
        for name, (command, before) in rows.items():
            before()
            if name == "check, nothing changed":
                run(command)
            cost = run(command)
            if turn:
                found[name].append(cost)
    medians = {
        name: Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))
        for name, costs in found.items()
    }
    if "pyright" in peers:
        medians["pyright"] = run([str(BIN / "pyright"), *(str(tree / name) for name in packages)])
    return medians


def run(command: list[str]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = [0.0]
    watcher = threading.Thread(target=watch, args=(process, peak))
    watcher.start()
    process.wait()
    wall = time.perf_counter() - started
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(wall, cpu, peak[0])


def watch(process: "subprocess.Popen[bytes]", peak: list[float]) -> None:
    while process.poll() is None:
        peak[0] = max(peak[0], resident_mb(process.pid))
        time.sleep(0.1)


def resident_mb(pid: int) -> float:
    """Resident memory of a process and its children."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = pages * resource.getpagesize() / 2**20
    return own + sum(resident_mb(int(child)) for child in children)


def report_ratios(measured: dict[str, Cost]) -> None:
    def ratio(name: str, peer: str) -> None:
        if name in measured and peer in measured:
            print(f"{name} / {peer}: {measured[name].wall / measured[peer].wall:.2f}")

    print()
    for name in ("check, cold", "check CG1, cold"):
        ratio(name, "griffe dump")
        ratio(name, "pyright")
    for name in ("check, nothing changed", "check, one test changed"):
        ratio(name, "ruff check --no-cache")


if __name__ == "__main__":
    main()
