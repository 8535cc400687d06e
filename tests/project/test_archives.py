"""Unpacking: what is kept, and what a hostile archive cannot do."""

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project import archives
from contract_guard.project.archives import unpack


def make_zip(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in members.items():
            bundle.writestr(name, data)
    return path


def make_tar(path: Path, members: dict[str, bytes], *infos: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as bundle:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            bundle.addfile(info, io.BytesIO(data))
        for info in infos:
            bundle.addfile(info)
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info


def tree(root: Path) -> dict[str, bytes]:
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_keeps_sources_and_the_names_of_compiled_modules(tmp_path: Path, make) -> None:
    archive = make(
        tmp_path / ("p-1.whl" if make is make_zip else "p-1.tar.gz"),
        {
            "p/__init__.py": b"A = 1\n",
            "p/_c.abi3.so": b"\x7fELF" * 100,
            "p/weights.bin": b"0" * 1000,
            "p/stub.pyi": b"A: int\n",
            "pyproject.toml": b"[project]\n",
        },
    )
    unpack(archive, tmp_path / "out")
    assert tree(tmp_path / "out") == {
        "p/__init__.py": b"A = 1\n",
        "p/_c.abi3.so": b"",
        "p/stub.pyi": b"A: int\n",
        "pyproject.toml": b"[project]\n",
    }


HOSTILE_NAMES = ["../evil.py", "/evil.py", "a/../../evil.py", "C:/evil.py", "..\\evil.py"]


@pytest.mark.parametrize("name", HOSTILE_NAMES)
@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_refuses_names_that_lead_out(tmp_path: Path, make, name: str) -> None:
    suffix = ".whl" if make is make_zip else ".tar.gz"
    archive = make(tmp_path / f"evil{suffix}", {"ok.py": b"", name: b"marker"})
    with pytest.raises(UserError, match="leads out of the archive"):
        unpack(archive, tmp_path / "cache" / "out")
    assert tree(tmp_path) == {archive.name: archive.read_bytes()}


@pytest.mark.parametrize(
    ("name", "target"), [("a/l.py", "../../etc/passwd"), ("l.py", "/etc/passwd"), ("d", "..")]
)
def test_refuses_links_that_lead_out(tmp_path: Path, name: str, target: str) -> None:
    archive = make_tar(tmp_path / "evil.tar.gz", {"ok.py": b""}, link(name, target))
    with pytest.raises(UserError, match="leads out of it"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_leaves_inner_links_out(tmp_path: Path) -> None:
    archive = make_tar(
        tmp_path / "p.tar.gz",
        {"p/a.py": b"A = 1\n"},
        link("p/b.py", "a.py"),
        link("p/c.py", "p/a.py", tarfile.LNKTYPE),
    )
    unpack(archive, tmp_path / "out")
    assert tree(tmp_path / "out") == {"p/a.py": b"A = 1\n"}


def test_refuses_devices(tmp_path: Path) -> None:
    info = tarfile.TarInfo("p/pipe.py")
    info.type = tarfile.FIFOTYPE
    archive = make_tar(tmp_path / "p.tar.gz", {"p/a.py": b""}, info)
    with pytest.raises(UserError, match="device"):
        unpack(archive, tmp_path / "out")


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_truncated_archive_is_one_line_and_leaves_nothing(tmp_path: Path, make) -> None:
    suffix = ".whl" if make is make_zip else ".tar.gz"
    whole = make(tmp_path / f"p{suffix}", {f"p/m{i}.py": bytes(range(256)) * 40 for i in range(9)})
    archive = tmp_path / f"cut{suffix}"
    archive.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    whole.unlink()
    with pytest.raises(UserError) as caught:
        unpack(archive, tmp_path / "out")
    assert str(caught.value).startswith(f"{archive.name}: ")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [archive.name]


@pytest.mark.parametrize("make", [make_zip, make_tar])
def test_a_bomb_is_refused_while_it_unpacks(tmp_path: Path, make) -> None:
    suffix = ".whl" if make is make_zip else ".tar.gz"
    archive = make(tmp_path / f"bomb{suffix}", {"p/a.py": b"\n" * (archives.LARGEST_MEMBER + 1)})
    with pytest.raises(UserError, match="larger than 32 MB"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_many_members_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_MEMBERS", 3)
    archive = make_zip(tmp_path / "p.whl", {f"{i}.py": b"" for i in range(4)})
    with pytest.raises(UserError, match="more than 3 files"):
        unpack(archive, tmp_path / "out")


def test_no_python_in_it(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "p.whl", {"data.txt": b"x"})
    with pytest.raises(UserError, match="no Python files"):
        unpack(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_second_unpacking_of_the_same_archive_keeps_the_first(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "p.whl", {"a.py": b"A = 1\n"})
    unpack(archive, tmp_path / "out")
    unpack(archive, tmp_path / "out")
    assert tree(tmp_path / "out") == {"a.py": b"A = 1\n"}
