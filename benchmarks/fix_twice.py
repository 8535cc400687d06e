"""Run `check --fix`, then `check --fix --unsafe-fixes`, each twice, over copies of projects.

    python benchmarks/fix_twice.py DIR [DIR ...] [--show]

Each DIR is the root of a project: for an unpacked wheel the directory that holds the package.
For each run: findings mended, files changed (`--show` prints the differences). A file that changed
has to parse, by `ast` and by contract-guard, and a second run has to change nothing.
"""

import argparse
import ast
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from contract_guard.facts.extract import extract
from contract_guard.facts.model import ModuleFacts

RUNS = (("--fix",), ("--fix",), ("--fix", "--unsafe-fixes"), ("--fix", "--unsafe-fixes"))
LEFT_OUT = shutil.ignore_patterns(".git", "*.pyc", "*.so", "*.c", "*.csv", "*.json", "*.ipynb")


def contents(root: Path) -> dict[str, bytes]:
    paths = sorted(p for p in root.rglob("*.py*") if p.suffix in (".py", ".pyi"))
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in paths if p.is_file()}


def run(root: Path, cache: Path, options: tuple[str, ...]) -> tuple[int, int]:
    """The exit code, and how many findings were mended."""
    command = [sys.executable, "-m", "contract_guard", "check", "--root", str(root), *options]
    done = subprocess.run(
        [*command, "--cache-dir", str(cache)], capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        print(done.stderr)
    mended = re.search(r"(\d[\d,]*) findings? mended", done.stderr)
    return done.returncode, int(mended[1].replace(",", "")) if mended else 0


def parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return isinstance(extract(source), ModuleFacts)


def show(path: str, before: bytes, after: bytes) -> None:
    pair = (each.decode("utf-8", "replace").splitlines() for each in (before, after))
    print("\n".join(difflib.unified_diff(*pair, path, path, lineterm="", n=1)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("roots", type=Path, nargs="+")
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    is_wrong = False
    for original in arguments.roots:
        with tempfile.TemporaryDirectory() as directory:
            root, cache = Path(directory) / "copy", Path(directory) / "cache"
            shutil.copytree(original, root, symlinks=True, ignore=LEFT_OUT)
            before = contents(root)
            print(f"{original.name}: {len(before):,} files", flush=True)
            for number, options in enumerate(RUNS):
                code, mended = run(root, cache, options)
                after = contents(root)
                changed = [path for path in after if after[path] != before.get(path)]
                broken = [path for path in changed if not parses(after[path])]
                is_wrong |= code == 2 or bool(broken) or (number % 2 == 1 and bool(changed))
                print(
                    f"    {' '.join(options)}: exit {code}, {mended} mended,"
                    f" {len(changed)} files changed, {len(broken)} do not parse",
                    flush=True,
                )
                if arguments.show:
                    for path in changed:
                        show(path, before[path], after[path])
                before = after
    return 1 if is_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
