"""From an error's text to the commit that took the name away."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.config import Config
from contract_guard.project.explain_failure import explain
from contract_guard.report.failures import render_failures

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

TEST = "from pkg.ids import PAD\ndef test_a(): ...\n"
IMPORT = "ImportError: cannot import name 'PAD' from 'pkg.ids' (pkg/ids.py)"


@pytest.fixture
def commit(write: Write, git: Git) -> Callable[..., str]:
    def make(subject: str, files: Mapping[str, str], *, remove: str = "") -> str:
        write(files)
        if remove:
            git("rm", "-q", remove)
        git("add", "-A")
        git("commit", "-qm", subject)
        return git("rev-parse", "HEAD").strip()

    return make


def test_a_renamed_constant(root: Path, commit) -> None:
    commit(
        "start", {"pkg/__init__.py": "", "pkg/ids.py": "PAD = 129279\n", "tests/test_a.py": TEST}
    )
    commit("other", {"pkg/ids.py": "PAD = 129279\nX = 1\n"})
    renaming = commit("Rename PAD", {"pkg/ids.py": "PAD_ID = 129279\nX = 1\n"})
    commit("later", {"pkg/ids.py": "PAD_ID = 129279\nX = 2\n", "tests/test_b.py": TEST})
    (failure,) = explain(root, Config(), IMPORT)
    assert (failure.symbol, failure.status) == ("pkg.ids:PAD", "missing")
    assert failure.commit is not None
    assert (failure.commit.oid, failure.commit.subject) == (renaming, "Rename PAD")
    assert failure.change is not None
    assert (failure.change.kind, failure.change.replacement) == ("renamed", "pkg.ids:PAD_ID")
    assert failure.old is not None
    assert failure.old.value == "129279"
    assert [finding.path for finding in failure.findings] == ["tests/test_a.py", "tests/test_b.py"]
    assert failure.repair == "use `PAD_ID` in place of `PAD`"


def test_a_module_that_went(root: Path, commit) -> None:
    files = {"pkg/__init__.py": "", "pkg/ids.py": "PAD = 1\n", "tests/test_a.py": TEST}
    commit("start", files)
    removing = commit("Drop ids", {}, remove="pkg/ids.py")
    commit("later", {"pkg/other.py": ""})
    (failure,) = explain(root, Config(), "ModuleNotFoundError: No module named 'pkg.ids'")
    assert failure.commit is not None
    assert failure.commit.oid == removing
    assert [finding.rule for finding in failure.findings] == ["CG104"]


def test_a_name_that_is_there(root: Path, commit) -> None:
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "PAD = 1\n"})
    (failure,) = explain(root, Config(), IMPORT)
    assert (failure.status, failure.commit) == ("exists", None)


def test_a_name_that_never_was(root: Path, commit) -> None:
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "", "tests/test_a.py": TEST})
    (failure,) = explain(root, Config(), IMPORT)
    assert (failure.status, failure.commit) == ("missing", None)
    assert len(failure.findings) == 1


@pytest.mark.parametrize(
    ("text", "repair"),
    [
        ("cannot import name 'IMAG_ID' from 'pkg.ids'", "did you mean `IMAGE_ID`?"),
        ("cannot import name 'OTHER' from 'pkg.ids'", "remove what depends on `OTHER`"),
        ("No module named 'pkg.idss'", "did you mean `pkg.ids`?"),
        ("No module named 'pkgs'", "did you mean `pkg`?"),
        ("No module named 'pkg.numbers'", "remove what depends on `pkg.numbers`"),
    ],
)
def test_a_name_that_is_misspelled(root: Path, commit, text: str, repair: str) -> None:
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "IMAGE_ID = 1\n"})
    kind = "ImportError" if text.startswith("cannot") else "ModuleNotFoundError"
    (failure,) = explain(root, Config(), f"{kind}: {text}")
    assert failure.repair == repair


def test_a_text_without_an_error(root: Path) -> None:
    with pytest.raises(UserError, match="no ImportError"):
        explain(root, Config(), "all is well")


def test_a_name_that_came_late(root: Path, commit) -> None:
    """History is older than the name: the commit is found wherever the name came in."""
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "", "tests/test_a.py": TEST})
    for number in range(12):
        commit(f"before {number}", {"pkg/ids.py": f"X = {number}\n"})
    commit("Add PAD", {"pkg/ids.py": "X = 11\nPAD = 129279\n"})
    removing = commit("Drop PAD", {"pkg/ids.py": "X = 11\n"})
    (failure,) = explain(root, Config(), IMPORT)
    assert failure.commit is not None
    assert failure.commit.oid == removing
    assert failure.old is not None
    assert (failure.old.line, failure.old.value) == (2, "129279")


def test_a_name_that_came_late_and_was_renamed_unused(root: Path, commit) -> None:
    """The repair is the rename, though nobody named it by then."""
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": ""})
    for number in range(6):
        commit(f"before {number}", {"pkg/ids.py": f"X = {number}\n"})
    commit("Add PAD", {"pkg/ids.py": "X = 5\nPAD = 129279\n"})
    renaming = commit("Rename PAD", {"pkg/ids.py": "X = 5\nPAD_ID = 129279\n"})
    commit("later", {"pkg/ids.py": "X = 6\nPAD_ID = 129279\n", "tests/test_a.py": TEST})
    (failure,) = explain(root, Config(), IMPORT)
    assert failure.commit is not None
    assert failure.commit.oid == renaming
    assert failure.repair == "use `PAD_ID` in place of `PAD`"


def test_a_name_that_went_twice(root: Path, commit) -> None:
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "PAD = 1\n", "tests/test_a.py": TEST})
    commit("Drop PAD", {"pkg/ids.py": "# PAD\n"})
    for number in range(5):
        commit(f"between {number}", {"pkg/ids.py": f"# PAD\nX = {number}\n"})
    commit("Add PAD again", {"pkg/ids.py": "PAD = 2\n"})
    removing = commit("Drop PAD again", {"pkg/ids.py": "# PAD\n"})
    commit("later", {"pkg/ids.py": "# PAD\nX = 1\n"})
    (failure,) = explain(root, Config(), IMPORT)
    assert failure.commit is not None
    assert failure.commit.oid == removing


def test_a_name_that_a_merged_branch_took_away(root: Path, commit, git: Git) -> None:
    """The commit of the branch, not the merge, though the main line goes on with the name."""
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "", "tests/test_a.py": TEST})
    text = "PAD = 1\n" + "#\n" * 9 + "X = {}\n"
    commit("Add PAD", {"pkg/ids.py": text.format(0)})
    git("checkout", "-qb", "branch")
    removing = commit("Drop PAD", {"pkg/ids.py": text.format(0).removeprefix("PAD = 1\n")})
    git("checkout", "-q", "-")
    commit("main line", {"pkg/ids.py": text.format(1)})
    git("merge", "-q", "--no-edit", "branch")
    (failure,) = explain(root, Config(), IMPORT)
    assert failure.commit is not None
    assert failure.commit.oid == removing


def test_an_attribute_of_a_class_that_came_late(root: Path, commit) -> None:
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": ""})
    for number in range(6):
        commit(f"before {number}", {"pkg/ids.py": f"X = {number}\n"})
    commit("Add it", {"pkg/ids.py": "class Ids:\n    pad = 1\n    eos = 2\n"})
    removing = commit("Drop it", {"pkg/ids.py": "class Ids:\n    eos = 2\n"})
    text = "AttributeError: <class 'pkg.ids.Ids'> does not have the attribute 'pad'"
    (failure,) = explain(root, Config(), text)
    assert failure.symbol == "pkg.ids:Ids.pad"
    assert failure.commit is not None
    assert failure.commit.oid == removing


@pytest.mark.parametrize("module", ["pkg.ids", "pkg"])
def test_a_module_that_is_no_valid_python(root: Path, commit, module: str) -> None:
    """The file and its line are told, for a name that a package passes on too."""
    files = {"pkg/__init__.py": "from pkg.ids import PAD\n", "tests/test_a.py": TEST}
    commit("start", files | {"pkg/ids.py": "PAD = 1\n"})
    commit("break", {"pkg/ids.py": "X = 1\ndef broken(:\nPAD = 1\n"})
    (failure,) = explain(root, Config(), f"cannot import name 'PAD' from '{module}'")
    assert (failure.status, failure.commit) == ("unreadable", None)
    assert not failure.is_uncommitted
    assert failure.old is not None
    assert (failure.old.path, failure.old.line) == ("pkg/ids.py", 2)
    text = render_failures([failure])
    assert "pkg/ids.py:2: this file is no valid Python (invalid syntax)" in text


@pytest.mark.parametrize(("name", "is_known"), [("PAD", True), ("OTHER", False)])
def test_a_module_that_became_a_package(root: Path, commit, name: str, is_known: bool) -> None:
    """The commit is named for what it took away, not for a name that never was."""
    commit("start", {"pkg/__init__.py": "", "pkg/ids.py": "PAD = 1\nEOS = 2\n"})
    commit("split", {"pkg/ids/__init__.py": "EOS = 2\n"}, remove="pkg/ids.py")
    (failure,) = explain(root, Config(), f"cannot import name '{name}' from 'pkg.ids'")
    assert (failure.commit is not None) == is_known
