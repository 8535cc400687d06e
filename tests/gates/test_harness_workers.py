"""Gates in processes of their own, and the command around them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from contract_guard.cli.gate import command
from contract_guard.errors import UserError
from contract_guard.gates.evidence import LEDGER
from contract_guard.gates.worker import Job
from contract_guard.project import gate_files
from contract_guard.project.gate_runs import devices
from contract_guard.project.gate_workers import run_jobs

PLANTED = Path(__file__).parents[2] / "benchmarks"

GATES = """
import os, sys, time
sys.path.insert(0, {planted!r})
import dataclasses
import planted
from contract_guard.gates.model import Domain

SMALL = Domain((16,), (2,), (64,), ("float32",))

def sound():
    return dataclasses.replace(planted.adapter(), name="mine:sound", domain=SMALL,
                               sources=lambda: (__file__,))

def faulty():
    return dataclasses.replace(planted.adapter("duplicate"), name="mine:faulty", domain=SMALL)

def calling(act):
    def build(shape):
        gate = planted.adapter().build(shape)
        return dataclasses.replace(gate, call=lambda inputs: act())
    return dataclasses.replace(planted.adapter(), domain=SMALL, build=build)

def hanging():
    return calling(lambda: time.sleep(600))

def dying():
    print("noise on the pipe")
    return calling(lambda: os._exit(7))
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(GATES.format(planted=str(PLANTED)), encoding="utf-8")
    (tmp_path / "contract_guard.toml").write_text(
        '[gates.sound]\ngate = "mine:sound"\n', encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "mine", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setenv("CI", "1")
    monkeypatch.setenv("COLUMNS", "200")
    return tmp_path


def job(gate: str, root: Path) -> Job:
    return Job(gate, "cpu", rows=200, paths=(str(root),))


def test_a_gate_that_hangs_or_dies_costs_itself_alone(project):
    names = ["mine:hanging", "mine:dying", "mine:sound"]
    told: list[str] = []
    results = run_jobs(
        [job(name, project) for name in names],
        ["cpu"],
        patience=3.0,
        on_run=lambda done, run: told.append(done.gate),
    )
    hung, died, sound = (run for _, run in results)
    assert hung.verdict == "error"
    assert hung.reason.startswith("hangs: no answer for 3 s")
    if sys.platform != "win32":
        assert hung.reason.endswith(", in mine.py, line 24, in <lambda>")
    assert died.verdict == "error"
    assert died.reason.startswith("the process ended: exit code 7")
    assert sound.verdict == "agree"
    assert told == names


def gate(*arguments: str):
    return CliRunner().invoke(command, arguments, standalone_mode=False)


def test_run_verify_list_and_report(project):
    assert gate("verify").return_value == 1
    ran = gate("run", "--device", "cpu", "--rows", "200", "--require", "cuda", "--format", "json")
    (run,) = json.loads(ran.stdout)["runs"]
    assert (run["verdict"], run["gate"]) == ("agree", "mine:sound")
    assert (ran.return_value, "not verified on cuda: mine:sound" in ran.stderr) == (2, True)
    assert gate("verify").return_value == 0
    assert gate("verify", "--require", "cpu").return_value == 0
    assert gate("verify", "--require", "cuda:sm90").return_value == 2
    listed = gate("list", "--format", "json")
    states = {row["gate"]: row["state"] for row in json.loads(listed.stdout)["gates"]}
    assert states["mine:sound"] == "fresh"
    assert "not-run" in states.values()
    assert gate("report", "--html", "out.html").return_value == 0
    assert "mine:sound" in (project / "out.html").read_text(encoding="utf-8")

    source = project / "mine.py"
    source.write_text(source.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    stale = gate("verify", "--format", "json")
    assert stale.return_value == 1
    assert [row["state"] for row in json.loads(stale.stdout)["gates"]] == ["stale"]


def test_drift_is_kept_and_replayed_in_another_process(project):
    ran = gate("run", "mine:faulty", "--device", "cpu", "--rows", "200")
    assert ran.return_value == 1
    first = next(
        line for line in ran.stdout.splitlines() if line.startswith("  number of experts: ")
    )
    words = first.split(": ", 2)[2].split()
    assert words[:4] == ["contract-guard", "gate", "run", "mine:faulty"]
    again = subprocess.run(
        [sys.executable, "-m", "contract_guard", *words[1:], "--format", "json"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    (run,) = json.loads(again.stdout)["runs"]
    assert (run["rows"], run["buckets"][0]["label"]) == (1, "number of experts")
    assert again.returncode == 1
    assert words[-1] in gate_files.kept_tokens(project, "mine:faulty")
    lines = (project / LEDGER).read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "transformers:NoSuchRouter"), "no gate 'transformers:NoSuchRouter'"),
        (("run", "nothing*"), "no gate fits 'nothing*'"),
        (("run", "--device", "tpu"), "'tpu' is no device"),
        (("run", "--device", "cpu", "--devices", "cpu"), "give one of the two"),
        (("run", "--require", "gpu"), "'gpu' is no hardware"),
        (("run", "--replay", "xyz"), "not a replay token"),
        (("verify", "--root", "nowhere"), "no such directory"),
        (("report", "--html", "o.html"), "there is no evidence yet"),
        (("mirror", "mine.py"), "name a test"),
        (("mirror", "mine.py::test_no"), "no such test"),
        (("mirror", "no.py::test_no"), "cannot be read"),
    ],
)
def test_mistakes_are_one_line(project, arguments, message):
    result = gate(*arguments)
    assert isinstance(result.exception, UserError)
    assert message in str(result.exception)
    assert "\n" not in str(result.exception)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gates = 3", "gates: expected a table"),
        ("[gates]\nx = 3", r"gates\.x: expected a table"),
        ("[gates.x]\nbuild = {}", r"gates\.x: gate = "),
        ("[gates.x", "contract_guard.toml: "),
    ],
)
def test_a_broken_configuration_is_a_user_error(project, text, message):
    (project / "contract_guard.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        gate_files.gate_tables(project)


def test_no_gate_configured_says_what_to_do(project):
    (project / "contract_guard.toml").unlink()
    result = gate("run")
    assert "no gate is configured: name one" in str(result.exception)


def test_devices_are_named_with_their_number():
    assert devices("cuda", None) == ("cuda:0",)
    assert devices(None, "cuda:0, cuda:1") == ("cuda:0", "cuda:1")
    assert devices("cpu", None) == ("cpu",)


def test_sources_are_followed_along_first_party_imports(tmp_path):
    package = tmp_path / "gate"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "router.py").write_text(
        "import os\nfrom . import masks\nfrom gate.constants import FIRST\n", encoding="utf-8"
    )
    (package / "masks.py").write_text("X = 1\n", encoding="utf-8")
    (package / "constants.py").write_text("FIRST = 1\n", encoding="utf-8")
    (package / "other.py").write_text("", encoding="utf-8")
    found = gate_files.read_sources([str(package / "router.py")])
    assert set(found) == {
        "gate/__init__.py", "gate/router.py", "gate/masks.py", "gate/constants.py"
    }  # fmt: skip


def test_the_command_needs_nothing_of_the_analyzer(tmp_path):
    code = (
        "import sys\n"
        "class Block:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('libcst', 'msgspec', 'pathspec'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from contract_guard.cli.main import main\n"
        "main(['gate', 'verify', '--root', sys.argv[1]])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
        check=False,
    )
    assert done.returncode == 2
    assert "name one" in done.stderr
    assert "Traceback" not in done.stderr
