"""`check --confirm`: what running a copy beside production tells."""

import os
import select
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from contract_guard.errors import UserError
from contract_guard.findings import Confirmation, Finding, Related
from contract_guard.project import confirm
from contract_guard.project.confirm import confirmed, outcome

pytest.importorskip("torch")
pytest.importorskip("hypothesis")

PRODUCTION = """import os
import subprocess
import sys
import time
import torch

SENTINEL = 129252

def pages(tokens, size):
    return (tokens + size - 1) // size * size

def label(name, count):
    return f"{name}: {count} left"

def route(logits, bias, ids, top_k):
    scores = logits.sigmoid()
    image = (ids >= SENTINEL) & (ids < SENTINEL + 5)
    chosen = (scores + bias * image[:, None]).topk(top_k, dim=-1).indices
    return scores.gather(-1, chosen), chosen

def asks(x):
    try:
        input()
    except EOFError:
        return x * 2 + 1

def dies(x):
    os._exit(7)

def hangs(x):
    time.sleep(600)

def fills(x):
    return len(bytearray(64 << 30)) * x

def spins(x):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with open("started", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    while True:
        pass

def closes(x):
    os.closerange(0, 256)
    time.sleep(600)

def forks(x):
    return x * 2 + 1 if os.fork() else x

def tells(x):
    raise ValueError("\\ud800 \\x1b[31m")

def positive(x):
    if x > 3:
        raise ValueError("too large")
    return x * 2

class Scaler:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return x * self.factor + 1
"""
TESTS = """import torch
import pytest
from pkg.core import SENTINEL, Scaler, asks, dies, fills, hangs, label, pages, positive, route
from pkg.core import closes, forks, spins, tells

def test_pages():
    tokens, size = 10, 4
    expected = -(-tokens // size) * size
    assert pages(tokens, size) == expected

def test_pages_off_by_one():
    tokens, size = 10, 4
    expected = (tokens // size + 1) * size
    assert pages(tokens, size) == expected

def test_label():
    name, count = "queue", 3
    assert label(name, count) == "{}: {} left".format(name, count)

@pytest.mark.parametrize("top_k", [1, 2])
def test_route(top_k):
    logits, bias = torch.randn(3, 8), torch.randn(8)
    ids = torch.tensor([1, SENTINEL, 7])
    weights, chosen = route(logits, bias, ids, top_k)
    scores = torch.sigmoid(logits)
    mask = ids == SENTINEL
    expected = torch.topk(scores + mask[:, None] * bias, top_k, dim=-1).indices
    torch.testing.assert_close(chosen, expected)

def test_asks():
    x = 3
    assert asks(x) == 2 * x + 1

def test_dies():
    x = 3
    assert dies(x) == x * 3 + 1

def test_hangs():
    x = 3
    assert hangs(x) == x * 3 + 1

def test_fills():
    x = 3
    assert fills(x) == x * 3 + 1

def test_spins():
    x = 3
    assert spins(x) == x * 3 + 1

def test_closes():
    x = 3
    assert closes(x) == x * 2 + 1

def test_forks():
    x = 3
    assert forks(x) == x * 2 + 1

def test_tells():
    x = 3
    assert tells(x) == x * 2 + 1

def test_scaler():
    x, factor = 5, 3
    scaler = Scaler(factor)
    assert scaler(x) == x * factor + 1

class TestScaler:
    def setup_method(self):
        self.scaler = Scaler(4)

    def test_scaler(self):
        x = 5
        assert self.scaler(x) == x * 4 + 1

def test_positive():
    x = 2
    assert positive(x) == x + x

def test_reads(tmp_path):
    x = open("x").read()
    assert pages(int(x), 4) == int(x) // 4 * 4

def test_from_elsewhere(tokens):
    assert pages(tokens, 4) == (tokens + 3) // 4 * 4

def own_pages(count, size):
    return -(-count // size) * size

def test_shadow():
    tokens, size = 10, 4
    assert own_pages(tokens, size) >= tokens
    assert own_pages(12, 4) == 12

def stale_pages(tokens, size):
    return (tokens // size + 1) * size

def test_stale_shadow():
    with torch.no_grad():
        rounded = stale_pages(10, size=4)
    assert rounded == 12

def test_other_shadow():
    assert other_pages(10) == 12

def other_pages(tokens):
    return -(-tokens // 4) * 4
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for path, text in (
        ("pkg/__init__.py", ""),
        ("pkg/core.py", PRODUCTION),
        ("tests/test_core.py", TESTS),
    ):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    return root


def finding(name: str, rule: str = "CG301") -> Finding:
    lines = TESTS.split("\n")
    last = name.rpartition("::")[2]
    depth = "    " * name.count("::")
    start = next(n for n, line in enumerate(lines, 1) if line.startswith(f"{depth}def {last}("))
    end = next(
        (n for n in range(start + 1, len(lines) + 1) if not lines[n - 1].strip()), len(lines)
    )
    return Finding(
        rule=rule,
        severity="warning",
        path="tests/test_core.py",
        line=start + 1,
        column=5,
        end_line=end - 1,
        end_column=10,
        symbol="pkg.core:f",
        test=f"tests/test_core.py::{name}",
        message="a copy",
        help="",
        fingerprint="0123456789abcdef",
        related=(Related("pkg/core.py", 8, 9, "f", "the same rule"),),
    )


NAMES = (
    "test_pages",
    "test_pages_off_by_one",
    "test_label",
    "test_route",
    "test_asks",
    "test_dies",
    "test_scaler",
    "TestScaler::test_scaler",
    "test_positive",
    "test_reads",
    "test_from_elsewhere",
)


@pytest.fixture(scope="module")
def told(project: Path) -> dict[str, Finding]:
    found = confirmed(project, [finding(name) for name in NAMES])
    return dict(zip(NAMES, found, strict=True))


def result(told: dict[str, Finding], name: str) -> Confirmation:
    confirmation = told[name].confirmed
    assert isinstance(confirmation, Confirmation)
    return confirmation


@pytest.mark.parametrize(
    "name", ["test_pages", "test_label", "test_asks", "test_scaler", "TestScaler::test_scaler"]
)
def test_both_still_agree(told: dict[str, Finding], name: str) -> None:
    assert result(told, name).status == "agree"
    assert result(told, name).inputs >= 17
    said = f"run: both still agree on {result(told, name).inputs} inputs"
    assert told[name].message.startswith(f"a copy; {said}")


def test_they_part_on_the_smallest_input(told: dict[str, Finding]) -> None:
    found = result(told, "test_pages_off_by_one")
    assert (found.status, found.at) == ("part", {"tokens": "0", "size": "1"})
    assert (found.expected, found.actual) == ("1", "0")
    assert told["test_pages_off_by_one"].severity == "warning"


def test_a_stale_mask_parts_on_an_id_that_the_test_never_draws(told: dict[str, Finding]) -> None:
    found = result(told, "test_route")
    assert found.status == "part"
    ids = [int(word) for word in found.at["ids"].strip("[]").split(",")]
    assert any(129252 < number < 129257 for number in ids)
    assert "by seed" in found.at["logits"]


def test_a_process_that_dies_costs_one_finding(told: dict[str, Finding]) -> None:
    found = result(told, "test_dies")
    assert (found.status, found.reason) == ("stopped", "the process ended: exit code 7")
    said = "a copy; run, and nothing was compared: the process ended: exit code 7"
    assert told["test_dies"].message == said
    assert result(told, "test_scaler").status == "agree"


def test_inputs_that_production_refuses_are_counted(told: dict[str, Finding]) -> None:
    found = result(told, "test_positive")
    assert found.status == "agree"
    assert found.refused > 0
    assert f"({found.refused} on which a side raises left out)" in told["test_positive"].message


def test_what_cannot_be_lifted_is_named(told: dict[str, Finding]) -> None:
    assert result(told, "test_reads").reason == "open"
    assert told["test_reads"].message == "a copy; not run, cannot be lifted: open"
    assert result(told, "test_from_elsewhere").reason == "nothing tells what tokens could be"


def test_a_hang_ends(project: Path) -> None:
    hung, fine = confirmed(project, [finding("test_hangs"), finding("test_pages")], patience=4.0)
    assert isinstance(hung.confirmed, Confirmation)
    assert hung.confirmed.status == "stopped"
    assert hung.message == "a copy; run, and nothing was compared: no answer within 4 s"
    assert isinstance(fine.confirmed, Confirmation)
    assert fine.confirmed.status == "agree"


def test_a_process_that_closes_its_output(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "_ENDING", 0.5)
    (closed,) = confirmed(project, [finding("test_closes")], patience=20.0)
    said = "nothing was compared: the process ended: it closed its output, and ran on"
    assert closed.message == f"a copy; run, and {said}"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="unverified: needs fork")
def test_what_production_forks_does_not_answer(project: Path) -> None:
    forked, fine = confirmed(project, [finding("test_forks"), finding("test_pages_off_by_one")])
    assert isinstance(forked.confirmed, Confirmation)
    assert forked.confirmed.status == "agree"
    assert isinstance(fine.confirmed, Confirmation)
    assert (fine.confirmed.status, fine.confirmed.expected) == ("part", "1")


def test_what_no_report_can_show(project: Path) -> None:
    (told,) = confirmed(project, [finding("test_tells")])
    said = "production raises ValueError: ? ?[31m"
    assert told.message == f"a copy; run, and nothing was compared: {said}"


def test_memory_is_bounded(project: Path) -> None:
    filled, fine = confirmed(project, [finding("test_fills"), finding("test_pages")])
    assert filled.message == (
        "a copy; run, and nothing was compared: production raises MemoryError: MemoryError"
    )
    assert isinstance(fine.confirmed, Confirmation)
    assert fine.confirmed.status == "agree"


def has_ended(process: int) -> bool:
    """Waits until a process that need not be a child of this one is gone, 20 s at most."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], 20)[0])
    finally:
        os.close(handle)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="unverified: needs Linux")
def test_nothing_is_left_of_an_endless_loop(project: Path) -> None:
    (spun,) = confirmed(project, [finding("test_spins")], patience=4.0)
    assert spun.message == "a copy; run, and nothing was compared: no answer within 4 s"
    started = (project / "started").read_text().split()
    (project / "started").unlink()
    assert len(started) == 2
    assert all(has_ended(int(process)) for process in started)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="unverified: needs Linux")
def test_an_endless_loop_ends_with_the_one_that_asks(project: Path) -> None:
    os.mkfifo(project / "started")
    script = (
        "import pathlib, sys, msgspec\n"
        "from contract_guard.findings import Finding\n"
        "from contract_guard.project.confirm import confirmed\n"
        "found = msgspec.json.decode(sys.stdin.buffer.read(), type=Finding)\n"
        "confirmed(pathlib.Path(sys.argv[1]), [found])\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(project)], stdin=subprocess.PIPE
    ) as asking:
        assert asking.stdin is not None
        asking.stdin.write(msgspec.json.encode(finding("test_spins")))
        asking.stdin.close()
        started = (project / "started").read_text().split()
        asking.kill()
    (project / "started").unlink()
    assert len(started) == 2
    assert all(has_ended(int(process)) for process in started)


def test_other_rules_are_left_alone(project: Path) -> None:
    other = finding("test_pages", rule="CG303")
    assert confirmed(project, [other]) == (other,)
    assert b"confirmed" not in msgspec.json.encode(other)


def shadow(name: str, copied: str) -> Finding:
    line = next(
        n for n, text in enumerate(TESTS.split("\n"), 1) if text.startswith(f"def {copied}(")
    )
    related = Related("pkg/core.py", 10, 11, "pages", "the same rule", ((line + 1, 10),))
    symbol = "pkg.core:pages"
    return msgspec.structs.replace(
        finding(name, "CG304"), line=line + 1, related=(related,), symbol=symbol
    )


def test_a_shadow_copy_is_run_beside_what_it_copies(project: Path) -> None:
    agreed, stale = confirmed(
        project, [shadow("test_shadow", "own_pages"), shadow("test_stale_shadow", "stale_pages")]
    )
    assert isinstance(agreed.confirmed, Confirmation)
    assert (agreed.confirmed.status, agreed.severity) == ("agree", "warning")
    assert isinstance(stale.confirmed, Confirmation)
    assert (stale.confirmed.status, stale.severity) == ("part", "error")
    # The numbers of its one call: 10 rows of 4 agree, and so parting is a matter of what is drawn.
    assert stale.confirmed.expected != stale.confirmed.actual


@pytest.mark.parametrize(
    ("name", "copied", "reason"),
    [
        ("test_other_shadow", "other_pages", "`other_pages` and `pages` take other arguments"),
        ("test_pages", "test_pages", "the test calls nothing of production, and has no function"),
    ],
)
def test_a_shadow_copy_says_why_it_is_not_run(
    project: Path, name: str, copied: str, reason: str
) -> None:
    (found,) = confirmed(project, [shadow(name, copied)])
    assert isinstance(found.confirmed, Confirmation)
    assert found.confirmed.status == "cannot"
    assert found.confirmed.reason.startswith(reason)


def test_missing_extra(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirm, "_NEEDED", ("torch", "no_such_module_here"))
    with pytest.raises(UserError, match=r"no_such_module_here: pip install 'contract-guard\[gate"):
        confirmed(project, [])


def test_one_input_in_words() -> None:
    assert outcome(Confirmation(status="agree", inputs=1)) == "run: both still agree on 1 input"
