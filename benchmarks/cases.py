"""Replay recorded cases of drift through the rules CG101-106 and count found, missed, false.

    python benchmarks/cases.py --cases cases.jsonl --open-refs head_open_refs.jsonl --repos DIR

DIR holds git clones by the name of their repository (`flashinfer`, `vllm-ascend`, ...). Each case
that can be replayed is checked at the commit that broke it, in a temporary directory, from
`git archive`; cases without such a commit just before they were repaired; those that are still
open, and the open references, at the newest commit. What a clone lacks is said (*not played*), and
the run goes on.
`--against vllm-ascend vllm==0.33.0` is given to the command for that repository: what the cases of
a plug-in need.

Exit code 1 if anything is missed or false.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from contract_guard.findings import Finding

KINDS = ("K1", "K2", "K6", "K7")
SELECT = "CG1"
PREDICATES = {"vllm-ascend": 'version-predicates = ["vllm_ascend.utils.vllm_version_is"]\n'}
LINES_APART = 3  # a case may name the first line of a statement that is spread over several

# Clones that leave out large objects cannot archive them.
_NO_DATA = [f":(exclude,glob)**/*.{suffix}" for suffix in ("arrow", "bin", "safetensors", "pt")]

_PLACE = re.compile(r"([\w./-]+\.py)(?::(\d+))?")
_DOTTED = re.compile(r"\b[a-z_]\w*(?:\.[A-Za-z_]\w*)+")


class Row(NamedTuple):
    """One thing to look up in the findings of `repo` at `revision`.

    `places` are (path, line or None); `symbols` are dotted names. A row that must be reported
    needs one finding at its first place for its symbol; one that must not may have none.
    """

    id: str
    kind: str
    repo: str
    revision: str
    report: bool
    places: tuple[tuple[str, int | None], ...]
    symbols: tuple[str, ...]


def case_rows(path: Path) -> Iterator[Row | str]:
    """Rows of a cases file; a string says why a case is left out."""
    for case in map(json.loads, path.read_text("utf-8").splitlines()):
        if case["kind"] not in KINDS:
            continue
        if not case["replayable"]:
            yield f"{case['id']}: cannot be replayed"
            continue
        expected, commit = case["expected"], case["breaking_commit"]
        fixed = case["fixing_commit"]
        revision = "HEAD"
        if isinstance(commit, dict) and (fixed or not expected["report"]):
            revision = str(commit["sha"])
        elif expected["report"] and fixed:
            revision = str(fixed["sha"]) + "^"
        places = [(expected.get("file"), expected.get("line"))] if expected.get("file") else []
        symbols = [expected["symbol"]] if expected.get("symbol") else []
        if not expected["report"]:
            text = case["consumer"]
            places = [(name, int(line) if line else None) for name, line in _PLACE.findall(text)]
            symbols = [name for name in _DOTTED.findall(text) if not name.endswith(".py")]
        yield Row(
            case["id"],
            case["kind"],
            case["repo"].rpartition("/")[2],
            revision,
            expected["report"],
            tuple(places),
            tuple(symbols),
        )


def open_rows(path: Path) -> Iterator[Row]:
    for number, ref in enumerate(map(json.loads, path.read_text("utf-8").splitlines()), start=1):
        target = ref["target"].removesuffix(".None")
        yield Row(
            f"open-{number:02}",
            "open",
            ref["repo"],
            "HEAD",
            ref["expect_report"],
            ((ref["file"], ref["line"]),),
            (target,) if ref["expect_report"] else (),
        )


def dotted(symbol: str) -> str:
    return symbol.replace(":", ".")


def matches(row: Row, finding: Finding) -> bool:
    """Whether the finding is about the row: same place, and the symbol or a part of its path."""
    name = dotted(finding.symbol)
    at_place = any(
        finding.path == path
        and (line is None or finding.line - LINES_APART <= line <= finding.end_line + LINES_APART)
        for path, line in row.places
    )
    fits = any(
        symbol == name or symbol.startswith(f"{name}.") or name.endswith(f".{symbol}")
        for symbol in row.symbols
    )
    if row.report:
        named = not row.symbols or fits or row.symbols[0].endswith(".*")
        return named and (at_place or not row.places)
    return at_place or (fits and not row.places)


class Unplayable(Exception):
    """A state that cannot be had from the clone; the message says why."""


class Checker:
    """Findings of a repository at a revision by `contract-guard check`, each computed once."""

    def __init__(self, repos: Path, against: dict[str, list[str]], scratch: Path | None) -> None:
        self._repos, self._against, self._scratch = repos, against, scratch
        self.findings = cache(self._findings)

    def _findings(self, repo: str, revision: str) -> list[Finding]:
        with tempfile.TemporaryDirectory(dir=self._scratch) as root:
            archive = subprocess.Popen(
                ["git", "-C", self._repos / repo, "archive", revision, "--", ".", *_NO_DATA],
                stdout=subprocess.PIPE,
            )
            subprocess.run(["tar", "-x", "-C", root], stdin=archive.stdout)
            if archive.wait() != 0:
                raise Unplayable(f"git archive {revision} failed: the clone lacks a blob or commit")
            if repo in PREDICATES:
                Path(root, ".contract_guard.toml").write_text(PREDICATES[repo], "utf-8")
            command = [sys.executable, "-m", "contract_guard", "check", "--root", root]
            command += ["--select", SELECT, "--format", "json", "--exit-zero"]
            for spec in self._against.get(repo, ()):
                command += ["--against", spec]
            done = subprocess.run(command, stdout=subprocess.PIPE)
            if done.returncode != 0:
                raise SystemExit(f"{repo}: {revision}: exit code {done.returncode}")
            return msgspec.convert(json.loads(done.stdout)["findings"], list[Finding])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--open-refs", type=Path)
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument(
        "--against", action="append", default=[], nargs=2, metavar=("REPO", "RELEASE")
    )
    parser.add_argument("--only", action="append", default=[], metavar="ID")
    parser.add_argument("--scratch", type=Path, help="where to unpack (default: the system's)")
    options = parser.parse_args()
    rows: list[Row] = []
    for row in case_rows(options.cases) if options.cases else ():
        if isinstance(row, str):
            print(f"left out  {row}")
        else:
            rows.append(row)
    if options.open_refs:
        rows += open_rows(options.open_refs)
    if options.only:
        rows = [row for row in rows if row.id in options.only]
    against: dict[str, list[str]] = {}
    for repo, spec in options.against:
        against.setdefault(repo, []).append(spec)
    checker = Checker(options.repos, against, options.scratch)
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        hits: list[Finding] = []
        if not (options.repos / row.repo).is_dir():
            verdict = "no clone"
        else:
            try:
                hits = [f for f in checker.findings(row.repo, row.revision) if matches(row, f)]
                verdict = (
                    ("found" if hits else "missed")
                    if row.report
                    else ("false" if hits else "quiet")
                )
            except Unplayable as why:
                verdict = "not played"
                print(f"{row.repo}: {why}")
        counts.setdefault(row.kind, Counter())[verdict] += 1
        print(f"{verdict:8}  {row.id:8} {row.repo} {row.revision[:12]} {' '.join(row.symbols)}")
        for hit in hits if verdict == "false" else ():
            print(f"          {hit.path}:{hit.line} {hit.rule} {hit.symbol}")
    print()
    for kind, count in counts.items():
        print(kind, ", ".join(f"{number} {verdict}" for verdict, number in sorted(count.items())))
    return int(any(count["missed"] or count["false"] for count in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
