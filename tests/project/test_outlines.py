"""Outlines of a release answer as its whole facts do."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from contract_guard.detectors.run import run
from contract_guard.facts.extract import extract
from contract_guard.project.against import find
from contract_guard.project.config import Config
from contract_guard.project.outlines import outlines
from contract_guard.project.snapshot import load
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

HOST = {
    "host/__init__.py": "from host.ops import *\nfrom host.ops import kept as again\n",
    "host/ops.py": "import sys\nkept = 1\n__all__ = ['kept', 'Gate']\n"
    "class Base:\n    def run(self): ...\nclass Gate(Base): ...\n"
    "sys.modules['host.made'] = sys\n",
    "host/late.py": "import host.ops\nfrom host import deep\nhost.ops.late = 1\n",
    "host/deep/__init__.py": "def taker(): ...\n",
    "host/deep/inner.py": "x = 1\n",
    "host/alone.py": "from host.ops import kept\nfrom host.ops import Gate\nGate\n",
    "host/taker.py": "from host import alone\nprint(alone.Gate)\n",
    "host/broken.py": "def (:\n",
}
TEST = """\
from unittest import mock
import host.deep.inner, host.ops
import host.made.x as made, host.gone as gone
import host.alone as alone
from host import again, Gate, kept, nothing
from host.ops import late, never
from host.broken import anything

alone.read_by_nobody = 1

def test_it():
    host.deep.inner.x, host.deep.inner.y, host.deep.taker
    with mock.patch("host.alone.kept"), mock.patch("host.alone.Gate"):
        with mock.patch.object(Gate, "run"), mock.patch.object(Gate, "go"):
            pass
"""


def write(root: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def reported(project: Path, *others: Tree) -> list[tuple[str, str, str, str]]:
    snapshot = load(project, Config())
    found = run(build(snapshot.tree, *others), snapshot.read, select=("CG1",))
    return [(f.rule, f.severity, f.symbol, f.help) for f in found]


def test_the_same_findings_with_outlines_and_with_whole_facts(tmp_path: Path) -> None:
    write(tmp_path / "host", HOST)
    write(tmp_path / "project", {"tests/test_it.py": TEST})
    against = find([str(tmp_path / "host")], cache_dir=None)
    project = load(tmp_path / "project", Config()).tree
    whole = load(tmp_path / "host", Config()).tree
    expected = reported(tmp_path / "project", Tree(files=whole.files, origin="host"))
    for _ in range(2):  # the second time they come from the cache
        (outlined,) = outlines(against, project, jobs=1, cache_dir=tmp_path / "cache")
        assert reported(tmp_path / "project", outlined) == expected
    assert [(rule, symbol) for rule, _, symbol, _ in expected] == [
        ("CG104", "host.gone"),
        ("CG101", "host:nothing"),
        ("CG101", "host.ops:never"),
        ("CG103", "host.alone:read_by_nobody"),
        ("CG102", "host.deep.inner:y"),
        ("CG103", "host.alone:kept"),
        ("CG103", "host.ops:Gate.go"),
    ]


NAMES = st.sets(st.sampled_from(["a", "b", "c", "d"]))


@given(project=NAMES, versions=st.lists(NAMES, min_size=1, max_size=3))
def test_a_name_is_gone_where_no_version_has_it(
    project: set[str], versions: list[set[str]]
) -> None:
    source = "".join(f"from host import {name}\nimport host\nhost.{name}\n" for name in project)
    trees = [
        Tree(files={"host/__init__.py": extract("".join(f"{n} = 1\n" for n in v).encode())},
             origin=f"host=={number}")
        for number, v in enumerate(versions)
    ]  # fmt: skip
    registry = build(Tree(files={"tests/test_it.py": extract(source.encode())}), *trees)
    found = run(registry, {"tests/test_it.py": source.encode()}.__getitem__, select=("CG1",))
    gone = {f"host:{name}" for name in project - set().union(*versions)}
    assert {f.symbol for f in found if f.rule == "CG101"} == gone
    assert {f.symbol for f in found if f.rule == "CG102"} == gone
