"""Shows what contract-guard says at each commit of pad_free: `python demo.py [--run-tests]`.

Needs git, and contract-guard beside the Python that runs it; with --run-tests also pytest and
torch.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from replay import HERE, replay

TEST = "tests/test_gate.py::test_routing"


class Stop(NamedTuple):
    """A commit, what it did, and what to ask there."""

    tag: str
    story: str
    commands: tuple[tuple[str, ...], ...]


STOPS = (
    Stop(
        "before",
        "Two token ids stand for an image. The gate's test writes the gate out again.",
        (("check",),),
    ),
    Stop(
        "removal",
        "A change removes one of them, IMAGE_PAD_ID. The test still imports it.",
        (("check", "--select", "CG1"), ("diff", "HEAD~1")),
    ),
    Stop(
        "repair",
        "Three lines mend the test: the import, an input, the mask.",
        (("diff", "HEAD~1"),),
    ),
    Stop(
        "five-ids",
        "The gate takes five ids as images. The test's own mask still takes one, and stays green.",
        (("check", "--select", "CG4"), ("diff", "HEAD~1", "--fail-on", "silent")),
    ),
)


def run(project: Path, *command: str) -> None:
    """Runs a command of this Python's environment in the project, and shows both as a shell
    would."""
    print(f"$ {' '.join(command)}", flush=True)
    tool = Path(sys.executable).parent / command[0]
    code = subprocess.run([str(tool), *command[1:]], cwd=project).returncode
    print(f"(exit {code})\n", flush=True)


def main() -> None:
    with_tests = sys.argv[1:] == ["--run-tests"]
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory) / "pad_free"
        replay(project)
        for number, stop in enumerate(STOPS, 1):
            subprocess.run(["git", "checkout", "--quiet", stop.tag], cwd=project, check=True)
            print(f"=== Commit {number}, {stop.tag}. {stop.story}\n", flush=True)
            for command in stop.commands:
                run(project, "contract-guard", *command, "--format", "rich")
            if with_tests:
                run(project, "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
                if stop.tag in ("before", "repair"):
                    run(project, "contract-guard", "gate", "mirror", TEST, "--inputs")
        if with_tests:
            print("=== The gate itself, run against what its test expects of it.\n", flush=True)
            shutil.copy(HERE / "contract_guard.toml", project / ".contract_guard.toml")
            run(project, "contract-guard", "gate", "run", "--seed", "0", "--format", "rich")


if __name__ == "__main__":
    main()
