"""Which recorded cases of values and copies that drifted (K3 to K5) `diff` and `check` see.

    python benchmarks/diff_cases.py --cases cases.jsonl --repos DIR [--cache-dir DIR]

DIR holds git clones by the name of their repository. A case with a breaking commit is *found* where
the diff of that commit against its parent lists the case's symbol as changed, or its file as a
consumer, silent or not, or has a finding there (`--at ID=COMMIT` takes another commit than the one
that is recorded: the copy may have come later); one that is open in the newest commit, where
`check` has a finding of CG4 in the file, or on the symbol. What a clone lacks is said, and the run
goes on.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

from contract_guard.errors import UserError
from contract_guard.project.config import Config
from contract_guard.project.diff import diff

KINDS = ("K3", "K4", "K5")


def by_diff(repo: Path, commit: str, path: str, symbol: str, cache_dir: Path | None) -> list[str]:
    """What the commit is said to do to the file, or to the symbol."""
    diffed = diff(repo, Config(), f"{commit}~1", commit, cache_dir=cache_dir)
    found = [
        f"{change.kind} {change.symbol}: {consumer.impact} at line {consumer.line}"
        for change in diffed.changes
        for consumer in change.consumers
        if (consumer.path == path and not consumer.updated)
        or change.symbol.partition(":")[2] == symbol
    ]
    return found + [f"{f.rule} {f.symbol}" for f in diffed.findings if f.path == path]


def by_check(repo: Path, path: str, symbol: str, cache_dir: Path | None) -> list[str]:
    """Findings of CG4 at the newest commit in the file, or on the symbol's own name."""
    command = [sys.executable, "-m", "contract_guard", "check", "--root", str(repo)]
    command += ["--select", "CG4", "--format", "json", "--exit-zero"]
    command += ["--cache-dir", str(cache_dir)] if cache_dir is not None else []
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise UserError(done.stderr.strip())
    name = symbol.rpartition(".")[2].rpartition(":")[2]
    return [
        f"{finding['rule']} {finding['symbol']} {finding['path']}:{finding['line']}"
        for finding in json.loads(done.stdout)["findings"]
        if (path and finding["path"] == path)
        or (name and finding["symbol"].rpartition(":")[2] == name)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=Path, required=True)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--cache-dir", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--at", action="append", default=[], metavar="ID=COMMIT")
    options = parser.parse_args()
    instead = dict(given.split("=", 1) for given in options.at)
    counts: Counter[tuple[str, str]] = Counter()
    for case in map(json.loads, options.cases.read_text("utf-8").splitlines()):
        if case["kind"] not in KINDS or not case["replayable"]:
            continue
        if options.only and case["id"] not in options.only:
            continue
        repo = options.repos / case["repo"].rpartition("/")[2]
        expected, commit = case["expected"], (case["breaking_commit"] or {}).get("sha")
        commit = instead.get(case["id"], commit)
        path, symbol = expected.get("file") or "", expected.get("symbol") or ""
        hits: list[str] = []
        if not repo.is_dir():
            verdict = "no clone"
        else:
            try:
                if commit and case["kind"] != "K5":
                    hits = by_diff(repo, commit, path, symbol, options.cache_dir)
                    verdict = "found" if hits else "missed"
                elif case["fixing_commit"] is None:
                    hits = by_check(repo, path, symbol, options.cache_dir)
                    verdict = "found" if hits else "missed"
                else:
                    verdict = "no breaking commit is recorded"
            except UserError as error:
                verdict = f"could not be replayed ({error})"
        counts[case["kind"], verdict.partition(" (")[0]] += 1
        print(f"{verdict}: {case['id']} {case['repo']} {case['title']}", flush=True)
        for hit in hits[:5]:
            print(f"    {hit}")
    for (kind, verdict), count in sorted(counts.items()):
        print(f"{kind} {verdict}: {count}")


if __name__ == "__main__":
    main()
