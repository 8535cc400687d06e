"""Speed and memory of `contract-guard check`, in turn with its peers on the same files.

    python benchmarks/speed.py DIR [--package NAME ...] [--runs 5] [--peers ruff,griffe,pyright]
    python benchmarks/speed.py DIR --curve 100,300,1000,3000,10000

DIR is copied; one test file of the copy is changed between runs. With `--package`, what griffe
does not read of these packages is taken out of the copy first, so that all read the same files.
Each figure is the median of whole processes: `cpu` counts a process with its workers, `peak` is
the largest sum of their memory, read ten times a second, where pages that several share count
once (Linux; the proportional set size). Peers must be installed beside contract-guard. pyright is
run once.

`--curve` measures cold and unchanged runs of `check` alone over the first so many files of DIR.
"""

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

BIN = Path(sys.executable).parent
CHECK = [str(BIN / "contract-guard"), "check", "--quiet", "--exit-zero"]


class Cost(NamedTuple):
    wall: float
    cpu: float
    peak_mb: float


Row = tuple[list[str], Callable[[], None]]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=Path)
    parser.add_argument("--package", action="append", default=[], help="for griffe and pyright")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--peers", default="ruff,griffe")
    parser.add_argument("--curve", default="", help="numbers of files")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if options.curve:
            sizes = [int(size) for size in options.curve.split(",")]
            curve(options.directory, Path(scratch), sizes, options.runs)
            return
        tree = Path(scratch) / "tree"
        shutil.copytree(
            options.directory, tree, symlinks=True, ignore=shutil.ignore_patterns(".git")
        )
        peers = [peer for peer in options.peers.split(",") if peer]
        if options.package:
            keep_only(tree, read_by_griffe(tree, Path(scratch), options.package))
        describe(tree)
        rows = plan(tree, Path(scratch), options.package, peers)
        measured = in_turn(rows, options.runs)
        if "pyright" in peers:
            command = [str(BIN / "pyright"), *(str(tree / name) for name in options.package)]
            measured["pyright"] = run(command)
    show(measured)
    report_ratios(measured)


def plan(
    tree: Path, scratch: Path, packages: Sequence[str], peers: Sequence[str]
) -> dict[str, Row]:
    """What is run in each turn, with what is done before it."""
    cache = scratch / "cache"
    check = [*CHECK, "--root", str(tree), "--cache-dir", str(cache)]
    one_rule = [*check, "--select", "CG1"]
    test = next(path for path in sorted(tree.rglob("test_*.py")))

    def forget() -> None:
        shutil.rmtree(cache, ignore_errors=True)

    def change() -> None:
        with test.open("a") as file:
            file.write("# changed\n")

    def know() -> None:
        time.sleep(0.1)  # until the stamps of what was changed are settled
        run(check)

    rows: dict[str, Row] = {
        "check CG1, cold": (one_rule, forget),
        "check, cold": (check, forget),
        "check, nothing changed": (check, know),
        "check, one test changed": (check, change),
    }
    if "ruff" in peers:
        ruff = [str(BIN / "ruff"), "check", "--no-cache", "--isolated", "--quiet", "--exit-zero"]
        rows["ruff check --no-cache"] = ([*ruff, str(tree)], lambda: None)
    if "griffe" in peers:
        rows["griffe dump"] = (griffe(tree, Path(os.devnull), packages), lambda: None)
    return rows


def in_turn(rows: dict[str, Row], runs: int) -> dict[str, Cost]:
    found: dict[str, list[Cost]] = {name: [] for name in rows}
    for turn in range(runs + 1):  # the first turn warms the file system's cache
        for name, (command, before) in rows.items():
            before()
            cost = run(command)
            if turn:
                found[name].append(cost)
    return {
        name: Cost(*(statistics.median(values) for values in zip(*costs, strict=True)))
        for name, costs in found.items()
    }


def curve(directory: Path, scratch: Path, sizes: Sequence[int], runs: int) -> None:
    files = sorted(directory.rglob("*.py"))
    for size in sizes:
        tree, cache = scratch / str(size), scratch / "cache"
        for path in files[:size]:
            place = tree / path.relative_to(directory)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
        describe(tree)
        check = [*CHECK, "--root", str(tree), "--cache-dir", str(cache)]

        def forget(cache: Path = cache) -> None:
            shutil.rmtree(cache, ignore_errors=True)

        rows: dict[str, Row] = {
            "check, cold": (check, forget),
            "check, nothing changed": (check, lambda: None),
        }
        show(in_turn(rows, runs))
        if size >= len(files):
            break


def griffe(tree: Path, output: Path, packages: Sequence[str]) -> list[str]:
    options = ["-o", str(output), "-L", "CRITICAL", "-s", str(tree)]
    return [str(BIN / "griffe"), "dump", *options, *packages]


def read_by_griffe(tree: Path, scratch: Path, packages: Sequence[str]) -> set[Path]:
    output = scratch / "griffe.json"
    subprocess.run(griffe(tree, output, packages), check=True)
    return {Path(path).resolve() for path in module_files(json.loads(output.read_text()))}


def module_files(members: Any) -> Iterator[str]:
    """The source files of the modules in a dump; a namespace package has directories."""
    for member in members.values() if isinstance(members, dict) else members:
        if member.get("kind") == "module":
            if isinstance(member["filepath"], str):
                yield member["filepath"]
            yield from module_files(member.get("members", {}))


def keep_only(tree: Path, wanted: set[Path]) -> None:
    for path in [*tree.rglob("*.py"), *tree.rglob("*.pyi")]:
        if path.resolve() not in wanted:
            path.unlink()


def describe(tree: Path) -> None:
    files = list(tree.rglob("*.py"))
    lines = sum(path.read_bytes().count(b"\n") for path in files if path.is_file())
    print(f"{len(files):,} files, {lines:,} lines, {os.cpu_count()} cores")


def run(command: list[str]) -> Cost:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
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
    """Memory of a process and those that it started; shared pages count in parts."""
    try:
        fields = Path(f"/proc/{pid}/smaps_rollup").read_text().split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return 0.0
    own = int(fields[fields.index("Pss:") + 1]) / 1024 if "Pss:" in fields else 0.0
    return own + sum(resident_mb(int(child)) for child in children)


def show(measured: dict[str, Cost]) -> None:
    print(f"{'':28}{'wall s':>9}{'cpu s':>9}{'peak MB':>9}")
    for name, cost in measured.items():
        print(f"{name:28}{cost.wall:9.2f}{cost.cpu:9.2f}{cost.peak_mb:9.0f}")


def report_ratios(measured: dict[str, Cost]) -> None:
    def ratio(name: str, peer: str) -> None:
        if name in measured and peer in measured:
            a, b = measured[name], measured[peer]
            print(f"{name} / {peer}: {a.wall / b.wall:.2f} wall, {a.cpu / b.cpu:.2f} cpu")

    print()
    for name in ("check, cold", "check CG1, cold"):
        ratio(name, "griffe dump")
        ratio(name, "pyright")
    for name in ("check, nothing changed", "check, one test changed"):
        ratio(name, "ruff check --no-cache")


if __name__ == "__main__":
    main()
