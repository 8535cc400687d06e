"""A file is replaced at once or not at all, whoever asks for it."""

import os
import stat
from pathlib import Path

import pytest

from contract_guard.project.whole_file import replace_whole


def names(directory: Path) -> list[str]:
    return sorted(each.name for each in directory.iterdir())


def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").write_bytes(b"")
    replace_whole(tmp_path / "x", b"a\r\n")
    assert (tmp_path / "x").read_bytes() == b"a\r\n"
    assert (tmp_path / "x").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_the_mode_of_what_it_is_like(tmp_path: Path) -> None:
    place = tmp_path / "x"
    place.write_bytes(b"a")
    place.chmod(0o750)
    replace_whole(place, b"b", like=place.stat())
    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (b"b", 0o750)


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"a")
    (tmp_path / "x").symlink_to("there")
    replace_whole(tmp_path / "x", b"b")
    assert (tmp_path / "there").read_bytes() == b"a"
    assert (tmp_path / "x").read_bytes() == b"b"
    assert not (tmp_path / "x").is_symlink()


def test_what_the_check_refuses_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a")

    def check() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        replace_whole(tmp_path / "x", b"b", check=check)
    assert (tmp_path / "x").read_bytes() == b"a"
    assert names(tmp_path) == ["x"]


def test_what_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(OSError, match="directory"):
        replace_whole(tmp_path / "x", b"b")
    assert names(tmp_path) == ["x"]


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    longest = os.pathconf(tmp_path, "PC_NAME_MAX")
    place = tmp_path / ("é" * (longest // 2))
    replace_whole(place, b"b")
    assert place.read_bytes() == b"b"
    assert names(tmp_path) == [place.name]
