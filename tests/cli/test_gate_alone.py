"""`contract-guard gate` where the analyzer's libraries are not installed, as on a GPU machine."""

import subprocess
import sys

import pytest

BLOCKED = ("libcst", "msgspec", "pathspec", "unearth")
EXTRA = ("torch", "hypothesis", "transformers")


def gate_without(blocked: tuple[str, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    program = (
        "import sys\n"
        f"sys.modules.update(dict.fromkeys({blocked!r}))\n"
        "from contract_guard.cli.main import main\n"
        f"main(['gate', *{arguments!r}])\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


def test_gate_needs_none_of_the_analyzers_libraries() -> None:
    done = gate_without(BLOCKED, "list", "transformers:no*such")
    assert done.stderr == "contract-guard: no gate fits 'transformers:no*such'\n"
    assert done.returncode == 2


@pytest.mark.parametrize("subcommand", ["run", "list", "verify", "mirror", "report"])
def test_help_needs_no_library_of_the_extra(subcommand: str) -> None:
    done = gate_without((*BLOCKED, *EXTRA), subcommand, "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: contract-guard gate {subcommand} ")


def test_what_the_extra_installs_is_named() -> None:
    done = gate_without(("torch",), "run")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "contract-guard: 'gate' needs torch, which is not installed: "
        "pip install 'contract-guard[gate]'\n"
    )
