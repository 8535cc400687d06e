"""Files are replaced whole, or left as they are with a reason."""

import stat
from pathlib import Path

import pytest

from contract_guard.project.writing import Refused, replace_file


def test_bytes_and_mode(tmp_path: Path) -> None:
    path = tmp_path / "a" / "x.py"
    path.parent.mkdir()
    path.write_bytes(b"x = 1\r\n")
    path.chmod(0o640)
    replace_file(tmp_path, "a/x.py", b"x = 1\r\n", b"x = 2\r\n")
    assert path.read_bytes() == b"x = 2\r\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in path.parent.iterdir()] == ["x.py"]


def refused(root: Path, path: str, before: bytes = b"x = 1\n") -> str:
    with pytest.raises(Refused) as caught:
        replace_file(root, path, before, b"x = 2\n")
    return str(caught.value)


def test_a_file_that_changed_since(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"x = 3\n")
    assert "changed since it was read" in refused(tmp_path, "x.py")
    assert (tmp_path / "x.py").read_bytes() == b"x = 3\n"
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]


def test_a_read_only_file(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"x = 1\n")
    (tmp_path / "x.py").chmod(0o444)
    assert refused(tmp_path, "x.py") == "it is read-only"
    assert (tmp_path / "x.py").read_bytes() == b"x = 1\n"


def test_links_and_what_lies_outside(tmp_path: Path) -> None:
    root, other = tmp_path / "root", tmp_path / "other"
    root.mkdir()
    other.mkdir()
    (other / "x.py").write_bytes(b"x = 1\n")
    (root / "x.py").symlink_to(other / "x.py")
    (root / "way").symlink_to(other)
    assert refused(root, "x.py") == "it is a link"
    assert refused(root, "way/x.py") == "it lies outside of the project"
    assert refused(root, "../other/x.py") == "it lies outside of the project"
    assert (other / "x.py").read_bytes() == b"x = 1\n"


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    assert refused(tmp_path, "x.py").startswith("it is gone")
