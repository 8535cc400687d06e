"""How many recorded breakages `diff` sees, and what else it says of the same commits.

    python benchmarks/events.py --events FILE --repos DIR [--cache-dir DIR] [--verbose]
    python benchmarks/events.py --ordinary 100 --repos DIR --repo NAME [--repo NAME]

FILE holds a JSON object a line: `repo`, `breaking_sha`, `consumer` (path), `line`, `target`
(dotted), `ref_kind`, `guards`. DIR holds a clone of each repository. An event is *found* where the
diff of the breaking commit against its parent has a broken consumer in that file on that name or on
a module above it; under `if TYPE_CHECKING:` nothing breaks, and nothing is expected.

With `--ordinary`, the newest commits that touch Python files and have one parent are compared
with their parents, and everything that is said to break is listed, to be read by hand.
"""

import argparse
import gc
import json
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from contract_guard.project.config import Config
from contract_guard.project.diff import Diffed, diff
from contract_guard.registry.boundary import BROKEN


def compared(repo: Path, commit: str, cache_dir: Path | None) -> Diffed:
    """The commit against its parent."""
    diffed = diff(repo, Config(), f"{commit}~1", commit, cache_dir=cache_dir)
    # A command ends after one diff, and keeps its trees out of the collector's sight till then.
    gc.unfreeze()
    gc.collect()
    return diffed


def broken(diffed: Diffed) -> Iterator[tuple[str, int, str, str]]:
    """Path, line, dotted name and form of each broken consumer."""
    for change in diffed.changes:
        for consumer in change.consumers:
            if consumer.impact in BROKEN and not consumer.updated:
                name = change.symbol.replace(":", ".")
                yield consumer.path, consumer.line, name, consumer.form
    for finding in diffed.findings:
        yield finding.path, finding.line, finding.symbol.replace(":", "."), finding.rule


def is_of(target: str, name: str) -> bool:
    return target == name or target.startswith(f"{name}.")


def score_events(arguments: argparse.Namespace) -> None:
    groups: dict[tuple[str, str], list[dict]] = defaultdict(list)
    for line in arguments.events.read_text("utf-8").splitlines():
        event = json.loads(line)
        groups[event["repo"], event["breaking_sha"]].append(event)
    counts: Counter[tuple[str, str]] = Counter()
    for (repo, commit), events in groups.items():
        started = time.perf_counter()
        diffed = compared(arguments.repos / repo, commit, arguments.cache_dir)
        said = list(broken(diffed))
        known = {(event["consumer"], event["target"]) for event in events}
        for event in events:
            kind = f"{event['ref_kind']} of a {event['why']}"
            hit = any(
                path == event["consumer"] and is_of(event["target"], n) for path, _, n, _ in said
            )
            is_typing = any("TYPE_CHECKING" in guard for guard in event["guards"])
            verdict = "found" if hit else "type checkers only" if is_typing else "missed"
            counts[kind, verdict] += 1
            if verdict == "missed" or arguments.verbose:
                print(
                    f"{verdict}: {repo} {commit[:10]} {event['consumer']}:{event['line']}",
                    event["target"],
                    event["guards"],
                    event["scope"],
                )
        matched = {
            (path, line)
            for path, line, name, _ in said
            if any(path == p and is_of(target, name) for p, target in known)
        }
        others = {(path, line, n) for path, line, n, _ in said if (path, line) not in matched}
        for path, line, name in sorted(others):
            counts["said beside the events", "to be read"] += 1
            print(f"beside: {repo} {commit[:10]} {path}:{line} {name}")
        print(f"{repo} {commit[:10]}: {len(events)} events, {time.perf_counter() - started:.1f} s")
    for (kind, verdict), count in sorted(counts.items()):
        print(f"{kind:30} {verdict:20} {count}")


def list_ordinary(arguments: argparse.Namespace) -> None:
    alarmed = total = 0
    for repo in arguments.repo:
        place = arguments.repos / repo
        log = ["log", "--no-merges", "--format=%H", "HEAD", "--", "*.py"]
        output = subprocess.run(
            ["git", "-C", str(place), *log], capture_output=True, text=True, check=True
        )
        for commit in output.stdout.split()[: arguments.ordinary]:
            diffed = compared(place, commit, arguments.cache_dir)
            said = sorted({(path, line, name) for path, line, name, _ in broken(diffed)})
            total += 1
            alarmed += bool(said)
            for path, line, name in said:
                print(f"{repo} {commit[:10]} {path}:{line} {name}", flush=True)
        print(f"{repo}: {total} commits so far", flush=True)
    print(f"{total} commits, {alarmed} with something that breaks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=Path)
    parser.add_argument("--ordinary", type=int)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("--cache-dir", type=Path)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    if arguments.events:
        score_events(arguments)
    if arguments.ordinary:
        list_ordinary(arguments)


if __name__ == "__main__":
    main()
