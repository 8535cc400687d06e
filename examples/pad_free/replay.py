"""Replays the history of pad_free as a git repository: `python replay.py DIRECTORY`.

Needs git and nothing else. The four commits carry the tags `before`, `removal`, `repair` and
`five-ids`, and have the same ids wherever and whenever they are made.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FIRST_COMMIT = "A gate that reads text and images"
FIRST_DATE = "2026-03-01T09:00:00+00:00"
IDENTITY = {
    "GIT_AUTHOR_NAME": "Pad Free",
    "GIT_AUTHOR_EMAIL": "dev@pad-free.example",
    "GIT_COMMITTER_NAME": "Pad Free",
    "GIT_COMMITTER_EMAIL": "dev@pad-free.example",
}
# A user's own hooks, signing keys and line endings must not change what is made here.
NO_USER_SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def replay(target: Path) -> None:
    """Makes the repository in `target`, which must not exist or be empty."""
    shutil.copytree(
        HERE / "before", target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    # git's own variables (set inside a hook, say) would lead these commands to another repository.
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = outside | IDENTITY | NO_USER_SETTINGS

    def git(*arguments: str, date: str | None = None) -> None:
        dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date} if date else {}
        subprocess.run(["git", *arguments], cwd=target, env=environment | dates, check=True)

    git("init", "--quiet", "--initial-branch=main")
    git("add", "--all")
    git("commit", "--quiet", f"--message={FIRST_COMMIT}", date=FIRST_DATE)
    git("tag", "before")
    for patch in sorted((HERE / "commits").glob("*.patch")):
        git("am", "--quiet", "--committer-date-is-author-date", str(patch))
        git("tag", patch.stem.split("-", 1)[1])


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("usage: python replay.py DIRECTORY")
    target = Path(sys.argv[1])
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        sys.exit(f"replay.py: {target} is not an empty directory: name a new one")
    if shutil.which("git") is None:
        sys.exit("replay.py: git is needed to make the repository: install it first")
    try:
        replay(target)
    except subprocess.CalledProcessError as error:
        sys.exit(f"replay.py: git {error.cmd[1]} failed with exit code {error.returncode}")
    print(f"{target}: 4 commits, tagged before, removal, repair, five-ids")


if __name__ == "__main__":
    main()
