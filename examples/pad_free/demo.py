"""Shows what contract-guard says at each commit of pad_free: `python demo.py [--run-tests]`.

Needs git, and contract-guard beside the Python that runs it; with --run-tests also pytest and
torch.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from replay import replay

COMMITS = {
    "before": "Two token ids stand for an image. The gate's test writes the routing out again.",
    "removal": "A change removes IMAGE_PAD_ID from the gate. The test still imports it.",
    "repair": "Three lines mend the test: the import, the input, the mask.",
    "five-ids": "The gate takes five ids as images; the test's own mask still takes one.",
}


QUIET = """\
The last two commits go through here, as they do in their tests: no name is missing. What they leave
behind is one rule in two places. The rules for that, CG3xx, are not part of this version yet."""


def run(project: Path, *command: str) -> int:
    """Runs a command of this Python's environment in the project, shows both as a shell would, and
    gives the exit code."""
    print(f"$ {' '.join(command)}", flush=True)
    tool = Path(sys.executable).parent / command[0]
    code = subprocess.run([str(tool), *command[1:]], cwd=project).returncode
    print(f"(exit {code})\n", flush=True)
    return code


def main() -> None:
    with_tests = sys.argv[1:] == ["--run-tests"]
    with tempfile.TemporaryDirectory() as directory:
        project = Path(directory) / "pad_free"
        replay(project)
        for number, (tag, story) in enumerate(COMMITS.items(), 1):
            subprocess.run(["git", "checkout", "--quiet", tag], cwd=project, check=True)
            print(f"=== Commit {number}, {tag}: {story}\n", flush=True)
            code = run(project, "contract-guard", "check", "--format", "rich")
            if with_tests:
                run(project, "pytest", "-q", "--no-header", "-p", "no:cacheprovider")
        if code == 0:
            print(QUIET)


if __name__ == "__main__":
    main()
