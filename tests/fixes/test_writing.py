"""Files are replaced whole, or left as they are with a reason."""

import multiprocessing
import stat
from contextlib import suppress
from pathlib import Path

import pytest

from contract_guard.project.check import check
from contract_guard.project.config import read_config
from contract_guard.project.fixing import mend_check, write_files
from contract_guard.project.mending import Mended
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


def test_bytes_mode_and_encoding_through_the_whole_way(tmp_path: Path) -> None:
    """What `write_files` leaves: marks, line ends, encodings and the mode as they were."""
    root = tmp_path / "root"
    files = {
        "pyproject.toml": b"[tool.contract_guard]\n",
        "gate/__init__.py": b"",
        "gate/constants.py": b"BASE = 7\n",
        "gate/ids.py": b"PAD_ID = 8\n",
        "tests/test_mark.py": (
            b"\xef\xbb\xbffrom gate.constants import PAD_ID\r\nX = 'caf\xc3\xa9'\r\n"
        ),
        "tests/test_latin.py": (
            b"# -*- coding: latin-1 -*-\r\nfrom gate.constants import PAD_ID\r\nX = 'caf\xe9'\r\n"
        ),
        "tests/test_old_mac.py": b"from gate.constants import PAD_ID\rX = 1\r",
        "tests/test_no_end.py": b"X = 1\nfrom gate.constants import PAD_ID",
    }
    for path, source in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(source)
    (root / "tests/test_mark.py").chmod(0o755)
    config = read_config(root)
    mended = mend_check(root, config, check(root, config).findings)
    assert write_files(root, mended) == []
    for path, source in files.items():
        assert (root / path).read_bytes() == source.replace(b"gate.constants", b"gate.ids")
    assert stat.S_IMODE((root / "tests/test_mark.py").stat().st_mode) == 0o755
    assert sorted(each.name for each in (root / "tests").iterdir()) == sorted(
        path.partition("/")[2] for path in files if path.startswith("tests/")
    )


def test_each_file_by_itself(tmp_path: Path) -> None:
    """A file that cannot be written keeps no other from being mended."""
    for name in ("changed.py", "good.py", "link.py", "locked.py"):
        (tmp_path / name).write_bytes(b"x = 1\n")
    (tmp_path / "changed.py").write_bytes(b"x = 3\n")
    (tmp_path / "locked.py").chmod(0o444)
    (tmp_path / "link.py").unlink()
    (tmp_path / "link.py").symlink_to("good.py")
    files = {path.name: (b"x = 1\n", b"x = 2\n") for path in tmp_path.iterdir()}
    assert write_files(tmp_path, Mended(files=files)) == [
        ("changed.py", "it changed since it was read; run again"),
        ("link.py", "it is a link"),
        ("locked.py", "it is read-only"),
    ]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        "changed.py": b"x = 3\n",
        "good.py": b"x = 2\n",
        "link.py": b"x = 2\n",
        "locked.py": b"x = 1\n",
    }


@pytest.mark.parametrize(
    ("stuck", "why"),
    [
        ("pkg/a.py", "its fix changes pkg/a.py too"),
        ("tests/test_a.py", "its fix changes tests/test_a.py too"),
    ],
)
def test_files_that_one_fix_changes_go_together(tmp_path: Path, stuck: str, why: str) -> None:
    """A test that calls a function which could not be written would be broken."""
    paths = ["pkg/a.py", "pkg/b.py", "tests/test_a.py", "tests/test_b.py"]
    for path in paths:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"x = 1\n")
    (tmp_path / stuck).chmod(0o444)
    mended = Mended(files=dict.fromkeys(paths, (b"x = 1\n", b"x = 2\n")))
    mended.together = [frozenset(paths[:2]), frozenset(paths[1:3])]
    refused = write_files(tmp_path, mended)
    assert dict(refused)[stuck] == "it is read-only"
    assert dict(refused)["pkg/b.py"] == why
    assert [path for path, _ in refused] == paths[:3]
    assert [(tmp_path / path).read_bytes() for path in paths] == [b"x = 1\n"] * 3 + [b"x = 2\n"]


def _replace_many(root: Path, after: bytes, barrier) -> None:
    barrier.wait()
    for _ in range(200):
        with suppress(Refused):
            replace_file(root, "x.py", (root / "x.py").read_bytes(), after)


def test_two_processes_at_once(tmp_path: Path) -> None:
    """The file is always whole, and nothing else is left."""
    (tmp_path / "x.py").write_bytes(b"x = 0\n" * 10_000)
    contents = [b"x = 1\n" * 10_000, b"x = 2\n" * 9_000]
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(3)
    writers = [
        context.Process(target=_replace_many, args=(tmp_path, after, barrier)) for after in contents
    ]
    for writer in writers:
        writer.start()
    barrier.wait()
    seen = set[bytes]()
    while any(writer.is_alive() for writer in writers):
        seen.add((tmp_path / "x.py").read_bytes())
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert seen <= {b"x = 0\n" * 10_000, *contents}
    assert (tmp_path / "x.py").read_bytes() in contents
    assert [each.name for each in tmp_path.iterdir()] == ["x.py"]
