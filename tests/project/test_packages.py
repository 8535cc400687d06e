"""Releases of other projects: found, checked, unpacked, and never run."""

import hashlib
import io
import os
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.package_index import configured_indexes
from contract_guard.project.packages import fetch

pytest.importorskip("unearth")


def wheel(folder: Path, name: str, version: str, tag: str = "py3-none-any") -> Path:
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        bundle.writestr(f"{name}/__init__.py", f"VERSION = {version!r}\n")
        bundle.writestr(f"{name}-{version}.dist-info/METADATA", "Metadata-Version: 2.1\n")
    return path


def sdist(folder: Path, name: str, version: str, marker: Path) -> Path:
    path = folder / f"{name}-{version}.tar.gz"
    members = {
        f"{name}-{version}/setup.py": f"open({str(marker)!r}, 'w')\n",
        f"{name}-{version}/tests/test_it.py": "def test_it(): pass\n",
    }
    with tarfile.open(path, "w:gz") as bundle:
        for member, text in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(text)
            bundle.addfile(info, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip is configured to find packages in, and nothing else."""
    folder = tmp_path / "links"
    folder.mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def cached(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "packages").iterdir())


def test_wheel_for_what_is_installed_and_sdist_for_its_tests(tmp_path: Path, links: Path) -> None:
    wheel(links, "host", "1.0")
    marker = tmp_path / "marker"
    sdist(links, "host", "1.0", marker)
    found = fetch("Host == 1.0", tmp_path / "cache")
    assert found.wheel is not None
    assert (found.wheel / "host/__init__.py").read_text() == "VERSION = '1.0'\n"
    assert found.sdist is not None
    assert (found.sdist / "host-1.0/tests/test_it.py").is_file()
    assert not marker.exists(), "the build backend of a source distribution ran"


def test_the_sdist_is_had_only_where_it_is_wanted(tmp_path: Path, links: Path) -> None:
    built = wheel(links, "host", "1.0")
    sdist(links, "host", "1.0", tmp_path / "marker")
    seen: list[str] = []

    def progress(name: str, completed: int, total: int | None) -> None:
        seen.append(name)

    without = fetch("host==1.0", tmp_path / "cache", progress, with_sdist=False)
    assert (without.wheel is not None, without.sdist) == (True, None)
    assert set(seen) <= {built.name}
    seen.clear()
    whole = fetch("host==1.0", tmp_path / "cache", progress)
    assert whole.wheel == without.wheel
    assert whole.sdist is not None
    assert built.name not in seen, "the wheel came a second time"
    built.unlink()
    assert fetch("host==1.0", tmp_path / "cache", with_sdist=False) == whole


def test_without_a_wheel_the_sdist_is_had_all_the_same(tmp_path: Path, links: Path) -> None:
    sdist(links, "host", "1.0", tmp_path / "marker")
    found = fetch("host==1.0", tmp_path / "cache", with_sdist=False)
    assert (found.wheel, found.sdist is not None) == (None, True)


@pytest.mark.parametrize(
    "said", ["", "{", "[]", '{"wheel": 3}', '{"wheel": null}', '{"wheel": "gone", "sdist": null}']
)
def test_a_record_that_another_version_wrote_or_a_crash_cut_off(
    tmp_path: Path, links: Path, said: str
) -> None:
    wheel(links, "host", "1.0")
    first = fetch("host==1.0", tmp_path / "cache")
    (tmp_path / "cache/packages/host==1.0.json").write_text(said)
    assert fetch("host==1.0", tmp_path / "cache") == first


def test_processes_that_fetch_at_once(tmp_path: Path, links: Path) -> None:
    wheel(links, "host", "1.0")
    sdist(links, "host", "1.0", tmp_path / "marker")
    script = (
        "import sys; from pathlib import Path; from contract_guard.project.packages import fetch;"
        "found = fetch('host==1.0', Path(sys.argv[1]));"
        "print(found.wheel.name, found.sdist.name)"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "cache")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate()[0] for process in running}
    assert [process.returncode for process in running] == [0, 0, 0]
    names = answers.pop().split()
    assert not answers
    assert cached(tmp_path / "cache") == sorted([*names, "host==1.0.json"])


def test_a_run_that_was_killed_leaves_nothing_for_good(tmp_path: Path, links: Path) -> None:
    wheel(links, "host", "1.0")
    packages = tmp_path / "cache/packages"
    for name, days in ((".download-old", 2), (".unpacking-old", 2), (".download-new", 0)):
        (packages / name / "files").mkdir(parents=True)
        stamp = time.time() - days * 86_400
        os.utime(packages / name, (stamp, stamp))
    found = fetch("host==1.0", tmp_path / "cache")
    assert found.wheel is not None
    assert cached(tmp_path / "cache") == sorted(
        [".download-new", found.wheel.name, "host==1.0.json"]
    ), "one that is new may be another run's"


def test_a_release_in_the_cache_needs_no_index(tmp_path: Path, links: Path) -> None:
    path = wheel(links, "host", "1.0")
    first = fetch("host==1.0", tmp_path / "cache")
    path.unlink()
    assert fetch("host==1.0", tmp_path / "cache") == first


def test_a_wheel_for_another_platform_is_read_all_the_same(tmp_path: Path, links: Path) -> None:
    wheel(links, "host", "1.0", "cp38-abi3-win_arm64")
    found = fetch("host==1.0", tmp_path / "cache")
    assert found.wheel is not None
    assert (found.wheel / "host/__init__.py").is_file()


def test_unknown_version_names_those_there_are(tmp_path: Path, links: Path) -> None:
    wheel(links, "host", "1.0")
    wheel(links, "host", "1.10")
    with pytest.raises(UserError, match=r"host==2\.0: there is no such version.* 1\.10, 1\.0$"):
        fetch("host==2.0", tmp_path / "cache")
    assert cached(tmp_path / "cache") == []


def test_unknown_project(tmp_path: Path, links: Path) -> None:
    with pytest.raises(UserError, match="no package index gives a project 'nowhere'"):
        fetch("nowhere==1", tmp_path / "cache")


def test_an_index_that_does_not_answer(
    tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(UserError, match="no package index answers") as caught:
        fetch("host==1.0", tmp_path / "cache")
    assert "\n" not in str(caught.value)
    assert cached(tmp_path / "cache") == []


def test_a_yanked_release_is_taken_when_asked_for_by_version(
    tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = wheel(links, "host", "1.0")
    page = tmp_path / "page.html"
    page.write_text(f'<a href="{path.as_uri()}" data-yanked="broken">{path.name}</a>')
    monkeypatch.setenv("PIP_FIND_LINKS", page.as_uri())
    found = fetch("host==1.0", tmp_path / "cache")
    assert (found.wheel is not None, found.yanked) == (True, "broken")
    assert fetch("host==1.0", tmp_path / "cache") == found


@pytest.mark.parametrize("right", [True, False])
def test_the_hash_is_checked(
    tmp_path: Path, links: Path, monkeypatch: pytest.MonkeyPatch, right: bool
) -> None:
    path = wheel(links, "host", "1.0")
    digest = hashlib.sha256(path.read_bytes() + b"" if right else b"other").hexdigest()
    page = tmp_path / "page.html"
    page.write_text(f'<a href="{path.as_uri()}#sha256={digest}">{path.name}</a>')
    monkeypatch.setenv("PIP_FIND_LINKS", page.as_uri())
    if right:
        assert fetch("host==1.0", tmp_path / "cache").wheel is not None
    else:
        with pytest.raises(UserError, match=r"host-1\.0-py3-none-any\.whl"):
            fetch("host==1.0", tmp_path / "cache")
        assert cached(tmp_path / "cache") == []


def test_a_directory_is_taken_as_it_is(tmp_path: Path) -> None:
    found = fetch(str(tmp_path), tmp_path / "cache")
    assert (found.wheel, found.sdist) == (tmp_path, tmp_path)
    assert not (tmp_path / "cache").exists()


def test_a_wheel_file_needs_no_index(tmp_path: Path) -> None:
    path = wheel(tmp_path, "host", "1.0")
    found = fetch(str(path), tmp_path / "cache")
    assert found.wheel is not None
    assert (found.wheel / "host/__init__.py").is_file()


@pytest.mark.parametrize("spec", ["host>=1", "host", "host==1;os_name", "-r==x", "", "no/such.whl"])
def test_what_is_no_pin_and_no_path(tmp_path: Path, spec: str) -> None:
    with pytest.raises(UserError, match="neither a path that exists nor DIST==VERSION"):
        fetch(spec, tmp_path / "cache")


def test_a_file_that_is_no_archive(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(UserError, match="not a directory, a wheel"):
        fetch(str(tmp_path / "x.txt"), tmp_path / "cache")


def test_pips_configuration_files_and_variables(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text(
        "[global]\nindex-url = http://one.example/simple\nextra_index_url =\n"
        "    http://two.example/simple\n    http://three.example/simple\n"
    )
    environ = {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "XDG_CONFIG_DIRS": str(tmp_path)}
    found = configured_indexes(environ)
    assert not found.default
    assert found.urls == (
        "http://one.example/simple",
        "http://two.example/simple",
        "http://three.example/simple",
    )
    environ["PIP_INDEX_URL"] = "http://four.example/simple"
    assert configured_indexes(environ).urls[0] == "http://four.example/simple"
    assert configured_indexes({"PIP_CONFIG_FILE": os.devnull}).default
    assert not configured_indexes({"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}).default
