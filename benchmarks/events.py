"""How many recorded breakages `diff` sees, and what else it says of the same commits.

    python benchmarks/events.py --events FILE --repos DIR [--cache-dir DIR] [--verbose]
    python benchmarks/events.py --ordinary 100 --repos DIR --repo NAME [--repo NAME]

FILE holds a JSON object a line: `repo`, `breaking_sha`, `consumer` (path), `line`, `target`
(dotted), `ref_kind`, and where they are known `why`, `guards`, `keyword`, `mode`. DIR holds a clone
of each repository. An event is *found* where the diff of the breaking commit against its parent has
a broken consumer in that file on that name, on one that ends alike (a package may pass it on), or
on a module above it; under `if TYPE_CHECKING:` nothing breaks, and nothing is expected.

With `"mode": "apart"` the commit mended its consumers itself, and is looked at as it would be
without that: with the consumers' files as they were at its parent. With `--merged`, such a commit
is a branch that has been merged, and a change that set out from its parent adds a copy of each of
these files: both are whole alone.

With `--ordinary`, the newest commits that touch Python files and have one parent are compared
with their parents, and everything that is said to break is listed, to be read by hand.
"""

import argparse
import gc
import json
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from contract_guard.project.config import Config
from contract_guard.project.diff import Diffed, diff
from contract_guard.registry.boundary import BROKEN


def compared(repo: Path, commit: str, cache_dir: Path | None, base: str | None = None) -> Diffed:
    """The commit against `base`, its parent if there is none."""
    diffed = diff(repo, Config(), base or f"{commit}~1", commit, cache_dir=cache_dir)
    # A command ends after one diff, and keeps its trees out of the collector's sight till then.
    gc.unfreeze()
    gc.collect()
    return diffed


def taken_apart(
    repo: Path, commit: str, paths: Iterable[str], place: Path, *, merged: bool = False
) -> str:
    """A commit in a clone at `place`: `commit` with the files at `paths` as its parent has them;
    or its parent with copies of these files beside them."""
    if not place.exists():
        git(repo, "clone", "--quiet", "--shared", "--no-checkout", str(repo), str(place))
    git(place, "read-tree", f"{commit}~1" if merged else commit)
    for path in paths:
        listed = git(place, "ls-tree", f"{commit}~1", "--", path).split()
        if listed:
            name = copy_of(path) if merged else path
            git(place, "update-index", "--add", "--cacheinfo", f"{listed[0]},{listed[2]},{name}")
    parent = git(place, "rev-parse", f"{commit}~1").strip()
    return git(
        place, "commit-tree", git(place, "write-tree").strip(), "-p", parent, "-m", "x"
    ).strip()


def copy_of(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.removesuffix('.py')}_again.py"


def git(repo: Path, *arguments: str) -> str:
    who = ["-c", "user.name=x", "-c", "user.email=x@x"]
    command = ["git", "-C", str(repo), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


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
    last = name.rpartition(".")[2]
    target = target.replace(":", ".")
    return target == name or target.startswith(f"{name}.") or target.rpartition(".")[2] == last


def score_events(arguments: argparse.Namespace) -> None:
    groups: dict[tuple[str, str, str], list[dict]] = defaultdict(list)
    for line in arguments.events.read_text("utf-8").splitlines():
        event = json.loads(line)
        groups[event["repo"], event["breaking_sha"], event.get("mode", "")].append(event)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as directory:
        for (name, commit, mode), events in groups.items():
            started = time.process_time()
            repo, state, base = arguments.repos / name, commit, None
            if mode == "apart":
                place, paths = Path(directory, name), {e["consumer"] for e in events}
                state = taken_apart(repo, commit, paths, place, merged=arguments.merged)
                repo = place
                if arguments.merged:
                    base = commit
                    events = [e | {"consumer": copy_of(e["consumer"])} for e in events]
            diffed = compared(repo, state, arguments.cache_dir, base)
            score(name, commit, events, list(broken(diffed)), counts, arguments.verbose)
            spent = time.process_time() - started
            print(f"{name} {commit[:10]} {mode}: {len(events)} events, {spent:.1f} s", flush=True)
    for (kind, verdict), count in sorted(counts.items()):
        print(f"{kind:30} {verdict:20} {count}")


def score(
    repo: str,
    commit: str,
    events: list[dict],
    said: list[tuple[str, int, str, str]],
    counts: Counter[tuple[str, str]],
    verbose: bool,
) -> None:
    for event in events:
        why = f" of a {event['why']}" if "why" in event else ""
        hit = any(path == event["consumer"] and is_of(event["target"], n) for path, _, n, _ in said)
        is_typing = any("TYPE_CHECKING" in guard for guard in event.get("guards", ()))
        verdict = "found" if hit else "type checkers only" if is_typing else "missed"
        counts[f"{event.get('mode', '')} {event['ref_kind']}{why}".strip(), verdict] += 1
        if verdict == "missed" or verbose:
            details = [event[key] for key in ("keyword", "guards", "scope") if event.get(key)]
            place = f"{event['consumer']}:{event['line']}"
            print(f"{verdict}: {repo} {commit[:10]} {place}", event["target"], *details)
    known = {(event["consumer"], event["target"]) for event in events}
    others = {
        (path, line, name)
        for path, line, name, _ in said
        if not any(path == p and is_of(target, name) for p, target in known)
    }
    for path, line, name in sorted(others):
        counts["said beside the events", "to be read"] += 1
        print(f"beside: {repo} {commit[:10]} {path}:{line} {name}")


def list_ordinary(arguments: argparse.Namespace) -> None:
    alarmed = total = 0
    for repo in arguments.repo:
        place = arguments.repos / repo
        log = ["log", "--no-merges", "--format=%H", "HEAD", "--", "*.py"]
        for commit in git(place, *log).split()[: arguments.ordinary]:
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
    parser.add_argument("--merged", action="store_true")
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
