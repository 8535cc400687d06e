"""Links of a revision against the same links in a checkout."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.config import Config
from contract_guard.project.discovery import discover
from contract_guard.project.git_links import follow_links
from contract_guard.project.git_objects import Repository
from contract_guard.project.revisions import Revisions


@pytest.mark.parametrize(
    ("links", "files", "outside"),
    [
        ({"link.py": "pkg/a.py"}, {"link.py": "1"}, []),
        ({"pkg/link.py": "a.py"}, {"pkg/link.py": "1"}, []),
        ({"dir": "pkg"}, {"dir/a.py": "1", "dir/sub/b.py": "2"}, []),
        ({"dir": "pkg/sub"}, {"dir/b.py": "2"}, []),
        ({"one": "two", "two": "pkg/a.py"}, {"one": "1", "two": "1"}, []),
        (
            {"sub": "pkg", "x.py": "sub/a.py"},
            {"sub/a.py": "1", "sub/sub/b.py": "2", "x.py": "1"},
            [],
        ),
        ({"loop": "loop"}, {}, []),
        ({"pkg/up": "."}, {}, []),
        ({"pkg/up": ".."}, {}, []),
        ({"gone.py": "pkg/none.py"}, {}, []),
        ({"out": "../other"}, {}, ["out"]),
        ({"out": "/etc/x"}, {}, ["out"]),
    ],
)
def test_links(links: dict[str, str], files: dict[str, str], outside: list[str]) -> None:
    found = follow_links({"pkg/a.py": "1", "pkg/sub/b.py": "2"}, links)
    assert (found.files, found.outside) == (files, outside)


@pytest.fixture
def linked(root: Path, write: Callable[..., Path], git: Callable[..., str]) -> Path:
    write({"pkg/__init__.py": "", "pkg/ids.py": "PAD = 3\n", "pkg/sub/a.py": "A = 1\n"})
    (root / "pkg" / "link.py").symlink_to("ids.py")
    (root / "other").symlink_to("pkg")
    (root / "pkg" / "again").symlink_to("sub")
    (root / "outside.py").symlink_to("../elsewhere.py")
    git("add", "-A")
    git("commit", "-qm", "links")
    return root


def test_a_revision_has_the_files_of_its_checkout(linked: Path) -> None:
    with Repository(linked) as repository:
        listed = [blob.path for blob in repository.files("HEAD")]
    assert sorted(path for path in listed if path.endswith(".py")) == sorted(
        file.path for file in discover(linked).python
    )


def test_both_sides_of_a_link_that_leads_out_are_unknown(linked: Path) -> None:
    with Revisions(linked, Config(), "HEAD", "HEAD") as revisions:
        assert revisions.old.tree.compiled == {"outside"}


def test_no_working_tree(linked: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    subprocess.run(["git", "clone", "-q", "--bare", str(linked), str(bare)], check=True)
    with pytest.raises(UserError, match="no working tree here: name both revisions"):
        Revisions(bare, Config(), "HEAD", None)
