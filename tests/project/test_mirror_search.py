"""The search for mirrors with what was kept of it: always what a search of all files would find."""

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_guard.findings import Finding
from contract_guard.mirrors.search import Search
from contract_guard.project import gather, mirror_search, pool
from contract_guard.project.check import check
from contract_guard.project.config import Config

Write = Callable[[Mapping[str, str | bytes]], Path]

OPS = """
import torch

EPS = 1e-6


def gated(x, gate, scale):
    act = gate.clamp(max=7.0) * torch.sigmoid(1.702 * gate)
    return x / (x.pow(2).mean(-1, keepdim=True) + EPS).sqrt() * (act + 1) * scale
"""
PADDING = """
def padded(rows, block, ranks):
    share = (rows + block - 1) // block * block
    return (share + ranks - 1) // ranks * ranks - rows % 3
"""
GATED = """
import torch
from pkg.ops import gated


def test_gated():
    x, gate = torch.randn(2, 8), torch.randn(2, 8)
    act = gate.clamp(max=7.0) * torch.sigmoid(1.702 * gate)
    expected = x / (x.pow(2).mean(-1, keepdim=True) + 1e-6).sqrt() * (act + 1) * 2
    assert torch.allclose(gated(x, gate, 2), expected)
"""
PADDED = """
from pkg.padding import padded


def test_padded():
    rows, block, ranks = 100, 16, 8
    share = (rows + block - 1) // block * block
    expected = (share + ranks - 1) // ranks * ranks - rows % 3
    assert padded(rows, block, ranks) == expected
"""
MASKS = """
PAD_ID = 129257


class Gate:
    def __init__(self, weight):
        self.weight = weight

    def masked(self, ids, scores):
        return (ids == PAD_ID) | (scores * self.weight < scores.mean())

    def routed(self, ids, scores):
        return self.masked(ids, scores) * (scores - scores.mean()) / scores.std()
"""
MASKED = """
from pkg.masks import PAD_ID, Gate


def test_masked():
    gate = Gate(3)
    ids, scores = given()
    expected = (ids == PAD_ID) | (scores * gate.weight < scores.mean())
    assert (gate.masked(ids, scores) == expected).all()
    assert (gate.routed(ids, scores) == expected * (scores - scores.mean()) / scores.std()).all()
"""
TREE = {
    "pkg/__init__.py": "",
    "pkg/ops.py": OPS,
    "pkg/padding.py": PADDING,
    "tests/test_ops.py": GATED,
    "tests/test_padding.py": PADDED,
    "tests/test_other.py": "def test_other():\n    assert 1 + 1 == 2\n",
}
# None for a file that goes; each path with the contents that an edit may give it.
CONTENTS: dict[str, list[str | None]] = {
    "pkg/ops.py": [OPS, OPS.replace("1.702", "1.5"), OPS.replace("gated", "other"), "# none\n"],
    "pkg/padding.py": [PADDING, "\n\n" + PADDING, PADDING.replace("% 3", "% 5"), None],
    "pkg/copied.py": [PADDING, OPS, None],
    "pkg/masks.py": [
        MASKS,
        "\n" + MASKS,
        MASKS.replace("mean", "sum"),
        MASKS.replace("Gate", "Way"),
    ],
    "pkg/more.py": [MASKS, MASKS.replace("self.masked(ids, scores)", "ids"), None],
    "tests/test_masks.py": [MASKED, MASKED.replace("mean", "sum"), None],
    "tests/test_ops.py": [GATED, "# later\n" + GATED, PADDED, None],
    "tests/test_padding.py": [PADDED, GATED, PADDED.replace("% 3", "% 4")],
    "tests/pkg/padding.py": ["", None],  # hides production for one way of import
    "tests/test_other.py": [PADDED, "def test(): ...\n", None],
}
EDITS = st.lists(
    st.sampled_from([(path, text) for path, texts in CONTENTS.items() for text in texts]),
    min_size=1,
    max_size=8,
)


@pytest.fixture(autouse=True)
def _old_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """ctime cannot be set: a file of this test counts as settled as soon as it is written."""
    monkeypatch.setattr(gather, "is_settled", lambda file, read_at_ns: True)


@pytest.fixture
def cache_dir(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were searched, not those whose results were kept."""
    paths: list[str] = []
    copies_in = mirror_search.copies_in

    def noted(search: Search, path: str) -> mirror_search.FileCopies:
        paths.append(path)
        return copies_in(search, path)

    monkeypatch.setattr(mirror_search, "copies_in", noted)
    return paths


def mirrors(
    root: Path, cache_dir: Path | None = None, jobs: int | None = None
) -> tuple[Finding, ...]:
    checked = check(root, Config(), select=["CG3"], cache_dir=cache_dir, jobs=jobs)
    assert checked.warnings == ()
    return checked.findings


def test_both_are_found(write: Write) -> None:
    found = mirrors(write(TREE))
    assert [(f.path, f.symbol) for f in found] == [
        ("tests/test_ops.py", "pkg.ops:gated"),
        ("tests/test_padding.py", "pkg.padding:padded"),
    ]


@settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)
@given(edits=EDITS)
def test_warm_is_cold(
    edits: list[tuple[str, str | None]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.mktemp("edited")
    root, cache_dir = base / "project", base / "cache"

    def put(path: str, text: str | None) -> None:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        if text is not None:
            place.write_text(text)

    for path, text in TREE.items():
        put(path, text)
    mirrors(root, cache_dir)
    for path, text in edits:
        put(path, text)
        assert mirrors(root, cache_dir) == mirrors(root)


def test_a_changed_test_costs_that_test(write: Write, cache_dir: Path, searched: list[str]) -> None:
    root = write(TREE)
    first = mirrors(root, cache_dir)
    assert sorted(searched) == [path for path in sorted(TREE) if path.startswith("tests/")]
    searched.clear()
    write({"tests/test_padding.py": PADDED + "\n\ndef test_more():\n    assert True\n"})
    assert mirrors(root, cache_dir) == first
    assert searched == ["tests/test_padding.py"]


def test_a_new_test_costs_that_test(write: Write, cache_dir: Path, searched: list[str]) -> None:
    root = write(TREE)
    mirrors(root, cache_dir)
    searched.clear()
    write({"tests/test_new.py": PADDED.replace("test_padded", "test_new")})
    assert len(mirrors(root, cache_dir)) == 3
    assert searched == ["tests/test_new.py"]


def test_a_change_of_production_is_seen(write: Write, cache_dir: Path) -> None:
    root = write(TREE)
    mirrors(root, cache_dir)
    write({"pkg/padding.py": "def padded(rows, block, ranks):\n    return TABLE[rows]\n"})
    assert [f.symbol for f in mirrors(root, cache_dir)] == ["pkg.ops:gated"]


def test_a_change_of_production_costs_the_tests_that_it_may_concern(
    write: Write, cache_dir: Path, searched: list[str]
) -> None:
    root = write({**TREE, "pkg/other.py": "def other(x):\n    return x + 1\n"})
    first = mirrors(root, cache_dir)
    searched.clear()
    write({"pkg/other.py": "# moved\n\ndef other(x):\n    return x.strip()\n"})
    assert mirrors(root, cache_dir) == first
    assert searched == []
    write({"pkg/padding.py": "# moved\n" + PADDING})
    ops, padding = mirrors(root, cache_dir)
    assert searched == ["tests/test_padding.py"]
    assert ops == first[0]
    assert padding.related[0].line == first[1].related[0].line + 1


def test_damaged_results_are_made_again(write: Write, cache_dir: Path) -> None:
    root = write(TREE)
    first = mirrors(root, cache_dir)
    with mirror_search.Cache(cache_dir) as cache:
        cache._write(lambda c: c.execute("UPDATE copies SET result = x'00'"))  # type: ignore[attr-defined]
        cache._write(lambda c: c.execute("DELETE FROM results"))  # type: ignore[attr-defined]
    assert mirrors(root, cache_dir) == first


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_the_same_for_any_number_of_jobs(
    jobs: int, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "WORTH_WORKERS", 1)
    monkeypatch.setattr(pool, "SHARE_BYTES", 100)
    root = write(TREE)
    assert len(mirrors(root, jobs=jobs)) == 2


SPAWNED = """
import multiprocessing, sys
from pathlib import Path
from contract_guard.project import pool
from contract_guard.project.check import check
from contract_guard.project.config import Config

pool.WORTH_WORKERS = 1
pool.SHARE_BYTES = 100
pool._context = lambda: multiprocessing.get_context("spawn")

if __name__ == "__main__":
    found = check(Path(sys.argv[1]), Config(), select=["CG3"], jobs=2).findings
    print(*(finding.symbol for finding in found))
"""


def test_the_same_in_processes_that_do_not_fork(write: Write, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SPAWNED)
    done = subprocess.run(
        [sys.executable, str(script), str(write(TREE))], capture_output=True, text=True, check=True
    )
    assert done.stdout == "pkg.ops:gated pkg.padding:padded\n"
    assert done.stderr == ""


def test_tests_that_are_too_large_are_told_once(write: Write, cache_dir: Path) -> None:
    lines = "".join(f"    rows = rows * {n} + block // {n + 3}\n" for n in range(2, 5000))
    large = PADDED.replace("    assert", f"{lines}    assert")
    root = write({**TREE, "tests/test_a.py": large, "tests/test_b.py": large})
    told = (
        "mirrors: 2 tests were too large to be searched whole, first tests/test_a.py::test_padded"
    )
    first = check(root, Config(), select=["CG3"], cache_dir=cache_dir)
    assert first.warnings == (told,)
    again = check(root, Config(), select=["CG3"], cache_dir=cache_dir)
    assert (again.warnings, again.cache_misses) == ((told,), 0)


def test_a_search_that_does_not_end_is_told(
    write: Write, cache_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(TREE)
    monkeypatch.setattr(pool, "WORTH_WORKERS", 1)
    monkeypatch.setattr(mirror_search, "FILE_SECONDS", 0.0)
    checked = check(root, Config(), select=["CG3"], cache_dir=cache_dir, jobs=2)
    assert all("not searched for mirrors: no result after 0 s" in w for w in checked.warnings)
    monkeypatch.undo()
    assert len(check(root, Config(), select=["CG3"], cache_dir=cache_dir).findings) == 2
