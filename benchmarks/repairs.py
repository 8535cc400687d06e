"""How repairs by `diff BASE --fix` compare with those that people wrote.

    python benchmarks/repairs.py --repos DIR --events FILE --repo NAME [--repo NAME] [--unsafe]
    python benchmarks/repairs.py --repos DIR --history 400 --repo NAME [--repo NAME] [--unsafe]

With `--events` (a JSON object a line, as for events.py, with `fixed_sha`), the state is that of the
breaking commit, and the person's repair is the file at the repairing commit. With `--history`, the
newest commits are taken apart that take a definition away and change the tests that named it: the
state is the commit with its test files put back to what they were, the person's repair what the
commit made of them. Test files that nothing broke count for nothing.

A finding is *same* where what the fix did to its file is in the person's file line by line,
*equivalent* where the person's file takes the same definitions from elsewhere, *partial* where the
file has findings that were mended and others that were not, *none* where it was left alone, and
*other* where the person did something else: these are to be read by hand.
"""

import argparse
import difflib
import gc
import json
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec

from contract_guard.detectors.drift import BREAKING, Side, fresh
from contract_guard.detectors.run import run
from contract_guard.facts.model import ModuleFacts
from contract_guard.fixes.model import Knowledge
from contract_guard.project.config import Config, rule_ids
from contract_guard.project.extraction import extract
from contract_guard.project.fixing import changes_by_symbol
from contract_guard.project.mending import Mended, mend
from contract_guard.project.merging import State
from contract_guard.project.revisions import Revisions
from contract_guard.registry.former import build_after
from contract_guard.registry.index import Registry, build


def git(repo: Path, *arguments: str) -> str:
    return subprocess.run(
        ["git", "-C", repo, *arguments],
        capture_output=True,
        text=True,
        errors="replace",
        check=True,
    ).stdout


def find(registry: Registry, read, paths) -> list:
    found = run(registry.only(paths), read, rules=frozenset(BREAKING), known=rule_ids())
    return [finding for finding in found if finding.path in paths]


def mended(
    old: State, new: State, paths: set[str], *, unsafe: bool
) -> tuple[Mended, int, Registry]:
    """The fixes of what the step from `old` to `new` breaks in `paths`, and in what they import
    from, and how many that are."""
    before = build(old.tree)
    after = build_after(before, new.tree)
    paths = paths | {path for path in new.tree.files if not after.layout.is_test(path)}
    broken = find(after, new.read, paths)
    known = find(before, old.read, paths & old.tree.files.keys()) if broken else []
    broken = fresh(Side(after, broken), Side(before, known))
    if not broken:
        return Mended(), 0, after
    knowledge = Knowledge(after, new.read, 88, before, old.read, changes_by_symbol(before, after))
    return mend(knowledge, broken, find, unsafe=unsafe), len(broken), after


def changed_lines(before: str, after: str) -> tuple[Counter[str], Counter[str]]:
    removed, added = Counter[str](), Counter[str]()
    for line in difflib.ndiff(before.splitlines(), after.splitlines()):
        if line[:2] == "- ":
            removed[line[2:].strip()] += 1
        elif line[:2] == "+ ":
            added[line[2:].strip()] += 1
    return removed, added


def definitions(registry: Registry, path: str, source: bytes) -> set[str]:
    """The definitions of the project that a file imports or patches, wherever it takes them."""
    facts = extract(source)
    if not isinstance(facts, ModuleFacts):
        return set()
    tree = msgspec.structs.replace(registry.tree, files={**registry.tree.files, path: facts})
    there = build(tree)
    found = {
        producer.symbol
        for imp in facts.imports
        if imp.name is not None
        and (producer := there.resolve_import(path, imp).producer) is not None
    }
    found |= {use.symbol for each in facts.uses if (use := there.resolve_use(path, each)).producer}
    return found | {there.resolve_patch(path, patch).symbol for patch in facts.patches}


def verdict(
    registry: Registry, path: str, before: bytes, ours: bytes, theirs: bytes, left: bool
) -> str:
    text, our_text, their_text = (s.decode("utf-8", "replace") for s in (before, ours, theirs))
    removed, added = changed_lines(text, our_text)
    lines = Counter(line.strip() for line in their_text.splitlines())
    gone, _ = changed_lines(text, their_text)
    if all(lines[line] >= 1 for line in added) and all(gone[line] >= 1 for line in removed):
        return "partial" if left else "same"
    gained = definitions(registry, path, ours) - definitions(registry, path, before)
    if gained and gained <= definitions(registry, path, theirs):
        return "partial" if left else "equivalent"
    return "other"


def show(kind: str, label: str, result: Mended, path: str, before: bytes, theirs: bytes) -> None:
    print(f"{kind}: {label} {path}")
    for finding, fix in result.fixed:
        if finding.path == path:
            print(f"    {finding.rule} {finding.line} {fix.safety}: {fix.title}")
    for finding, reason in (*result.refused, *((f, "unsafe") for f, _ in result.unsafe)):
        if finding.path == path:
            print(f"    {finding.rule} {finding.line} {finding.symbol} stays: {reason}")
    pair = result.files.get(path)
    texts = {"ours": pair[1] if pair else before, "theirs": theirs}
    for name, after in texts.items():
        lines = [
            line
            for line in difflib.unified_diff(
                before.decode("utf-8", "replace").splitlines(),
                after.decode("utf-8", "replace").splitlines(),
                n=0,
                lineterm="",
            )
            if line[:3] not in ("---", "+++") and line[:2] != "@@"
        ]
        for line in lines[:24]:
            print(f"    {name} {line}")


def scored(
    repo: Path,
    label: str,
    old: State,
    new: State,
    theirs: dict[str, bytes | None],
    arguments: argparse.Namespace,
    counts: Counter[str],
) -> None:
    result, number, registry = mended(old, new, set(theirs), unsafe=arguments.unsafe)
    if not number:
        return
    stay = Counter(f.path for f, _ in (*result.refused, *result.unsafe) if f.path in theirs)
    done = Counter(f.path for f, _ in result.fixed if f.path in theirs)
    for path in sorted(stay.keys() | done.keys()):
        person = theirs[path]
        if person is None:
            counts["file removed by the person"] += 1
            continue
        pair = result.files.get(path)
        before = new.read(path)
        kind = "none"
        if pair is not None:
            kind = verdict(registry, path, pair[0], pair[1], person, bool(stay[path]))
        counts[kind] += 1
        show(kind, f"{repo.name} {label}", result, path, before, person)


def hybrid(old: State, new: State, paths: set[str]) -> State:
    """`new` with some files put back to `old`."""
    files = {**new.tree.files, **{path: old.tree.files[path] for path in paths}}
    tree = msgspec.structs.replace(new.tree, files=dict(sorted(files.items())))

    def read(path: str) -> bytes:
        return old.read(path) if path in paths else new.read(path)

    return State(tree, read, new.unreadable)


_NAMING = re.compile(r"\b(import|patch|setattr|delattr)\b|^\s*[\w, ]+,?$")
_DEFINING = re.compile(r"^(?:\s*(?:async )?def|class)\s+(\w+)|^(\w+)\s*(?::[^=]+)?=[^=]")
_WORD = re.compile(r"[A-Za-z_]\w{3,}")


def commits_with_tests(repo: Path, newest: int) -> Iterator[tuple[str, set[str]]]:
    """Commits that take a definition or a file away and change test files that named it, by the
    lines that go: with the test files that they change."""
    log = git(
        repo, "log", "--no-merges", f"-{newest}", "-p", "-U0", "--format=%x00%H", "--", "*.py"
    )
    for entry in log.split("\0")[1:]:
        commit, *lines = entry.split("\n")
        path, tests, named, gone = "", set[str](), set[str](), set[str]()
        for line in lines:
            if line.startswith("--- a/"):
                path = line[6:]
            elif line.startswith("+++ /dev/null") or line.startswith("rename from "):
                gone.add(path.rpartition("/")[2].removesuffix(".py"))
            elif line.startswith("-") and "test" in path.lower():
                if _NAMING.search(line[1:]):
                    tests.add(path)
                    named |= set(_WORD.findall(line))
            elif line.startswith("-"):
                match = _DEFINING.match(line[1:])
                gone |= {name for name in (match.groups() if match else ()) if name}
        if tests and named & gone:
            yield commit, tests


def score_history(repo: Path, arguments: argparse.Namespace, counts: Counter[str]) -> None:
    for commit, tests in commits_with_tests(repo, arguments.history):
        if not git(repo, "rev-list", "--parents", "-1", commit).split()[1:]:
            continue
        with Revisions(
            repo, Config(), f"{commit}~1", commit, merge=False, cache_dir=arguments.cache_dir
        ) as both:
            old, new = both.old, both.new
            paths = {p for p in tests if p in old.tree.files and p in new.tree.files}
            theirs: dict[str, bytes | None] = {path: new.read(path) for path in paths}
            state = hybrid(old, new, paths)
            scored(repo, commit[:10], old, state, theirs, arguments, counts)
        gc.unfreeze()
        gc.collect()


def score_events(repo: Path, arguments: argparse.Namespace, counts: Counter[str]) -> None:
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for line in arguments.events.read_text("utf-8").splitlines():
        event = json.loads(line)
        if event["repo"] == repo.name and event.get("fixed_how") == "ref_removed":
            groups[event["breaking_sha"]][event["consumer"]] = event["fixed_sha"]
    for commit, consumers in groups.items():
        with Revisions(
            repo, Config(), f"{commit}~1", commit, merge=False, cache_dir=arguments.cache_dir
        ) as both:
            theirs: dict[str, bytes | None] = {}
            for path, fixed in consumers.items():
                shown = subprocess.run(
                    ["git", "-C", repo, "show", f"{fixed}:{path}"], capture_output=True
                )
                theirs[path] = shown.stdout if shown.returncode == 0 else None
            scored(repo, commit[:10], both.old, both.new, theirs, arguments, counts)
        gc.unfreeze()
        gc.collect()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--repos", type=Path, required=True)
    parser.add_argument("--repo", action="append", required=True)
    parser.add_argument("--events", type=Path)
    parser.add_argument("--history", type=int, default=0)
    parser.add_argument("--unsafe", action="store_true")
    parser.add_argument("--cache-dir", type=Path)
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    for name in arguments.repo:
        repo = arguments.repos / name
        if arguments.events is not None:
            score_events(repo, arguments, counts)
        if arguments.history:
            score_history(repo, arguments, counts)
    for kind, count in sorted(counts.items()):
        print(f"{count:5} {kind}")


if __name__ == "__main__":
    main()
