import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty project, below nothing that git or this tool could take for its own."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture
def write(root: Path) -> Write:
    """Write files below the root, by path."""

    def write_files(files: Mapping[str, str | bytes]) -> Path:
        for path, content in files.items():
            place = root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.encode() if isinstance(content, str) else content)
        return root

    return write_files


@pytest.fixture
def git(root: Path) -> Git:
    """Run git in the root, a repository of its own, untouched by the machine's settings."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root.parent),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }

    def run(*arguments: str, check: bool = True) -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=root, env=environment, capture_output=True, check=check
        )
        return done.stdout.decode()

    run("init", "-q")
    return run
