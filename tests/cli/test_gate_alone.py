"""`contract-guard gate` where the analyzer's libraries are not installed, as on a GPU machine."""

import subprocess
import sys

BLOCKED = ("libcst", "msgspec", "pathspec", "unearth")


def test_gate_needs_none_of_the_analyzers_libraries() -> None:
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({BLOCKED!r}))\n"
        "from contract_guard.cli.main import main\n"
        "main(['gate', 'run', '--help'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: contract-guard gate run ")
