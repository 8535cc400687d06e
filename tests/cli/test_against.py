"""`contract-guard check --against` and `--python` as their users run them; never the network."""

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

pytest.importorskip("unearth")

TEST_MODULE = """\
from unittest import mock

from host.ops import kept, gone


@mock.patch("host.ops.Gate.run")
def test_patched(run):
    assert kept or gone
"""
OLD = {
    "host/__init__.py": "",
    "host/ops.py": "kept = gone = 1\nclass Gate:\n    def run(self): ...\n",
}
NEW = {"host/__init__.py": "", "host/ops.py": "kept = 1\nclass Gate:\n    def go(self): ...\n"}
BOTH_GONE = [("CG101", "host.ops:gone"), ("CG103", "host.ops:Gate.run")]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plug-in of `host`, in a machine whose pip finds packages in `links` alone."""
    root = tmp_path / "project"
    write(root, {"plug/__init__.py": "", "tests/test_plug.py": TEST_MODULE, "pyproject.toml": ""})
    (tmp_path / "links").mkdir()
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "links"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(root)
    return root


def write(root: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def wheel(
    folder: Path,
    version: str,
    files: Mapping[str, str],
    *,
    name: str = "host",
    tag: str = "py3-none-any",
) -> Path:
    path = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(path, "w") as bundle:
        for member, text in files.items():
            bundle.writestr(member, text)
        bundle.writestr(f"{name}-{version}.dist-info/METADATA", "Metadata-Version: 2.1\n")
    return path


def sdist(folder: Path, members: Mapping[str, str], name: str = "host-1.0.tar.gz") -> Path:
    path = folder / name
    with tarfile.open(path, "w:gz") as bundle:
        for member, text in members.items():
            info = tarfile.TarInfo(member)
            info.size = len(text)
            bundle.addfile(info, io.BytesIO(text.encode()))
    return path


def broken(done) -> list[tuple[str, str]]:
    document = json.loads(done.out)
    return [(f["rule"], f["symbol"]) for f in document["findings"] if f["severity"] == "error"]


def left_behind(tmp_path: Path) -> list[str]:
    packages = tmp_path / "cache/contract-guard/packages"
    return sorted(path.name for path in packages.iterdir()) if packages.exists() else []


def check_refused(done, tmp_path: Path, says: str) -> None:
    """Exit 2 and one line that says why, without a report, and nothing in the cache."""
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert says in done.err
    assert left_behind(tmp_path) == []


def test_without_the_host_nothing_is_known_of_it(run, project: Path) -> None:
    done = run("check", "--format", "json")
    assert (done.code, broken(done)) == (0, [])


def test_a_release_from_the_index(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert (done.code, done.err) == (1, "")
    document = json.loads(done.out)
    assert broken(done) == BOTH_GONE
    assert {f["path"] for f in document["findings"]} == {"tests/test_plug.py"}
    assert document["findings"][0]["tests_lost"]["count"] == 1
    assert document["summary"]["against"] == [
        {"origin": "host==2.0", "packages": ["host"], "files": 2}
    ]


def test_the_summary_and_the_statistics_name_what_was_read(
    run, project: Path, tmp_path: Path
) -> None:
    path = wheel(tmp_path, "1.0", OLD)
    done = run("check", "--against", str(path), "--statistics")
    assert done.code == 0
    assert f"Checked against {path} (2 files)." in done.out.splitlines()
    assert f"  against {path}: 2 files of host" in done.out.splitlines()


@pytest.mark.parametrize("order", [("1.0", "2.0"), ("2.0", "1.0")])
def test_of_several_versions_a_name_is_gone_where_none_has_it(
    run, project: Path, tmp_path: Path, order: tuple[str, str]
) -> None:
    wheel(tmp_path / "links", "1.0", OLD)
    wheel(tmp_path / "links", "2.0", NEW)
    both = [word for version in order for word in ("--against", f"host=={version}")]
    done = run("check", *both, "--format", "json")
    assert (done.code, broken(done)) == (0, [])
    write(project, {"tests/test_plug.py": "from host.ops import Gate, never\nGate.neither\n"})
    assert broken(run("check", *both, "--format", "json")) == [
        ("CG101", "host.ops:never"),
        ("CG102", "host.ops:Gate.neither"),
    ]


def test_a_class_of_either_version_has_the_patched_method(
    run, project: Path, tmp_path: Path
) -> None:
    wheel(tmp_path / "links", "1.0", OLD)
    wheel(tmp_path / "links", "2.0", NEW)
    test = (
        "from unittest import mock\nimport host.ops\nfrom host.ops import Gate\n\n\n"
        "def test_it():\n"
        "    with mock.patch.object(Gate, 'run'), mock.patch.object(host.ops.Gate, 'go'):\n"
        "        pass\n"
    )
    write(project, {"tests/test_plug.py": test})
    for order in (("1.0", "2.0"), ("2.0", "1.0")):
        both = [word for version in order for word in ("--against", f"host=={version}")]
        assert broken(run("check", *both, "--format", "json")) == []
    alone = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(alone) == [("CG103", "host.ops:Gate.run")]


def test_a_branch_for_another_version_is_no_fault(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    write(
        project,
        {
            "pyproject.toml": '[tool.contract_guard]\nversion-predicates = ["plug.is_host"]\n',
            "plug/__init__.py": "def is_host(version): ...\n",
            "plug/old.py": "from plug import is_host\n"
            'if is_host("1.0"):\n    from host.ops import gone\n'
            "else:\n    from host.ops import never\n",
            "tests/test_plug.py": "",
        },
    )
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG101", "host.ops:never")]


def test_a_guard_is_dead_only_if_it_is_so_in_every_version(
    run, project: Path, tmp_path: Path
) -> None:
    wheel(tmp_path / "links", "1.0", OLD)
    wheel(tmp_path / "links", "2.0", NEW)
    guarded = "try:\n    from host.ops import gone\nexcept ImportError:\n    gone = None\n"
    write(project, {"tests/test_plug.py": "", "plug/compat.py": guarded})
    newer = run("check", "--against", "host==2.0", "--format", "json")
    assert [f["rule"] for f in json.loads(newer.out)["findings"]] == ["CG105"]
    both = ("--against", "host==2.0", "--against", "host==1.0")
    assert json.loads(run("check", *both, "--format", "json").out)["findings"] == []


def test_a_fallback_that_is_gone_too(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    template = (
        "try:\n    from host.ops import {} as name\n"
        "except ImportError:\n    from host.ops import {} as name\n"
    )
    write(
        project,
        {
            "tests/test_plug.py": "",
            "plug/both_gone.py": template.format("gone", "never"),
            "plug/newer.py": template.format("kept", "gone"),
            "plug/older.py": template.format("gone", "kept"),
        },
    )
    done = run("check", "--against", "host==2.0", "--format", "json")
    (finding,) = json.loads(done.out)["findings"]
    assert (finding["path"], finding["symbol"]) == ("plug/both_gone.py", "host.ops:never")


def test_a_directory_in_either_layout(run, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "flat", NEW)
    write(tmp_path / "checkout/src", NEW)
    write(tmp_path / "checkout", {"pyproject.toml": '[project]\nname = "host"\nversion = "2.0"\n'})
    for place in ("flat", "checkout"):
        done = run("check", "--against", str(tmp_path / place), "--no-cache", "--format", "json")
        assert broken(done) == BOTH_GONE


def test_a_change_in_a_directory_is_seen(run, project: Path, tmp_path: Path) -> None:
    write(tmp_path / "host", NEW)
    arguments = ("check", "--against", str(tmp_path / "host"), "--format", "json")
    for _ in range(2):
        assert broken(run(*arguments)) == BOTH_GONE
    write(tmp_path / "host", OLD)
    assert broken(run(*arguments)) == []


def test_a_kept_result_is_that_of_the_same_release(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "1.0", OLD)
    wheel(tmp_path / "links", "2.0", NEW)
    for _ in range(2):
        for version, expected in (("1.0", []), ("2.0", BOTH_GONE)):
            done = run("check", "--against", f"host=={version}", "--format", "json")
            assert broken(done) == expected


def test_names_that_a_release_sets_on_its_own_modules(run, project: Path, tmp_path: Path) -> None:
    files = {**NEW, "host/setup.py": "import host.ops\nhost.ops.late = 1\n"}
    wheel(tmp_path / "links", "2.0", files)
    write(project, {"tests/test_plug.py": "import host.ops\nhost.ops.late\nhost.ops.never\n"})
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG102", "host.ops:never")]


def test_a_namespace_that_several_distributions_share(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", {"space/host/__init__.py": "kept = 1\n"})
    test = "from space.host import gone\nimport space.other\nfrom space import another\n"
    write(project, {"tests/test_plug.py": test})
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG101", "space.host:gone")]


def test_two_top_level_packages(run, project: Path, tmp_path: Path) -> None:
    files = {**NEW, "second/__init__.py": "", "third.py": ""}
    write(
        project, {"tests/test_plug.py": "from host import x\nfrom second import y\nimport third\n"}
    )
    wheel(tmp_path / "links", "2.0", files)
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG101", "host:x"), ("CG101", "second:y")]
    assert json.loads(done.out)["summary"]["against"][0]["packages"] == ["host", "second"]


def test_a_plain_module_that_a_package_elsewhere_may_hide(
    run, project: Path, tmp_path: Path
) -> None:
    write(project, {"tests/test_plug.py": "import py\npy.io\nfrom host.ops import gone\n"})
    wheel(tmp_path / "links", "2.0", {**NEW, "py.py": "path = 1\n"})
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG101", "host.ops:gone")]


def test_a_release_of_one_module(run, project: Path, tmp_path: Path) -> None:
    write(project, {"tests/test_plug.py": "from host import gone\n"})
    wheel(tmp_path / "links", "2.0", {"host.py": "kept = 1\n"})
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == [("CG101", "host:gone")]


def test_a_source_distribution_is_read_and_its_build_never_runs(
    run, project: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    members = {f"host-2.0/src/{path}": text for path, text in NEW.items()}
    members["host-2.0/PKG-INFO"] = "Name: host\nVersion: 2.0\n"
    members["host-2.0/setup.py"] = f"open({str(marker)!r}, 'w')\n"
    sdist(tmp_path / "links", members, "host-2.0.tar.gz")
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == BOTH_GONE
    assert not marker.exists()


def test_a_wheel_for_another_platform(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", NEW, tag="cp38-abi3-win_arm64")
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(done) == BOTH_GONE


@pytest.mark.parametrize(
    ("attribute", "says"),
    [
        ('data-yanked="breaks on Sundays"', "warning: host==2.0 was yanked: breaks on Sundays"),
        ('data-yanked=""', "warning: host==2.0 was yanked"),
    ],
)
def test_a_yanked_release_is_read_with_a_warning(
    run, project: Path, tmp_path: Path, monkeypatch, attribute: str, says: str
) -> None:
    path = wheel(tmp_path, "2.0", NEW)
    page = tmp_path / "page.html"
    page.write_text(f'<a href="{path.as_uri()}" {attribute}>{path.name}</a>')
    monkeypatch.setenv("PIP_FIND_LINKS", page.as_uri())
    first = run("check", "--against", "host==2.0", "--format", "json")
    from_cache = run("check", "--against", "host==2.0", "--format", "json")
    for done in (first, from_cache):
        assert (broken(done), done.err) == (BOTH_GONE, f"contract-guard: {says}\n")


def test_a_baseline_of_what_a_release_breaks(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    against = ("--against", "host==2.0")
    created = run("baseline", "create", *against)
    assert (created.code, "2 findings accepted" in created.out) == (0, True)
    assert run("check", *against, "--baseline", "contracts.baseline").code == 0
    assert run("baseline", "check", *against).code == 0
    assert run("baseline", "update", *against).out == (
        "contracts.baseline: 2 findings accepted: as before.\n"
    )
    assert run("baseline", "check").code == 1, "without the release nothing answers to them"


def test_two_releases_are_fetched_before_they_are_compared(
    run, project: Path, tmp_path: Path, monkeypatch
) -> None:
    """With their warnings; and what is kept of them needs no network."""
    old, new = wheel(tmp_path, "1.0", OLD), wheel(tmp_path, "2.0", NEW)
    page = tmp_path / "page.html"
    page.write_text(
        f'<a href="{old.as_uri()}">{old.name}</a>'
        f'<a href="{new.as_uri()}" data-yanked="bad">{new.name}</a>'
    )
    monkeypatch.setenv("PIP_FIND_LINKS", page.as_uri())
    given = ("diff", "host==1.0", "host==2.0", "--consumers", ".", "--format", "json")
    first = run(*given)
    assert sorted(change["symbol"] for change in json.loads(first.out)["changes"]) == [
        "host.ops:Gate.run",
        "host.ops:gone",
    ]
    assert first.err == "contract-guard: warning: host==2.0 was yanked: bad\n"
    page.unlink()
    again = run(*given)
    assert json.loads(again.out)["changes"] == json.loads(first.out)["changes"]


def test_compiled_and_generated_modules_are_unknown(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", {**NEW, "host/_C.abi3.so": ""})
    write(project, {"tests/test_plug.py": "from host._C import anything\nfrom host import _C\n"})
    assert broken(run("check", "--against", "host==2.0", "--format", "json")) == []


def environment(root: Path, files: Mapping[str, str]) -> Path:
    place = root / "env/lib/python3.11/site-packages"
    write(place, files)
    write(place, {"host-2.0.dist-info/METADATA": "Metadata-Version: 2.1\n"})
    write(root / "env", {"bin/python": ""})
    return place


@pytest.mark.parametrize("given", ["env", "env/bin/python", "env/lib/python3.11/site-packages"])
def test_an_environment_is_read_and_not_imported(
    run, project: Path, tmp_path: Path, given: str
) -> None:
    marker = tmp_path / "marker"
    files = {**NEW, "host/__init__.py": f"open({str(marker)!r}, 'w')\n", "unused/__init__.py": ""}
    environment(tmp_path, files)
    done = run("check", "--python", str(tmp_path / given), "--format", "json")
    assert broken(done) == BOTH_GONE
    assert not marker.exists()
    (read,) = json.loads(done.out)["summary"]["against"]
    assert (read["packages"], read["files"]) == (["host"], 2)


def test_a_release_comes_before_what_is_installed(run, project: Path, tmp_path: Path) -> None:
    environment(tmp_path, OLD)
    wheel(tmp_path / "links", "2.0", NEW)
    both = ("--python", str(tmp_path / "env"), "--against", "host==2.0")
    assert broken(run("check", *both, "--format", "json")) == BOTH_GONE


def test_an_installed_copy_of_the_project_itself_is_not_read(
    run, project: Path, tmp_path: Path
) -> None:
    environment(tmp_path, {"plug/__init__.py": "stale = 1\n"})
    write(project, {"tests/test_plug.py": "from plug import stale\n"})
    done = run("check", "--python", str(tmp_path / "env"), "--format", "json")
    assert broken(done) == [("CG101", "plug:stale")]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("--against=host==9", "host==9: there is no such version; the newest are 2.0"),
        ("--against=nowhere==1", "no package index gives a project 'nowhere'"),
        ("--against=no/such/place", "neither a path that exists nor DIST==VERSION"),
        ("--against=host>=2", "neither a path that exists nor DIST==VERSION"),
        ("--against=", "neither a path that exists nor DIST==VERSION"),
        ("--against=pyproject.toml", "not a directory, a wheel or a source distribution"),
        ("--python=no/such/env", "no such file or directory"),
        ("--python=plug", "no site-packages in"),
        ("--python=pyproject.toml", "no site-packages in"),
    ],
)
def test_what_is_not_there(run, project: Path, tmp_path: Path, given: str, says: str) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    check_refused(run("check", given), tmp_path, says)


def test_no_network(run, project: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    done = run("check", "--against", "host==2.0")
    check_refused(done, tmp_path, "no package index answers")


def test_a_release_that_was_fetched_needs_no_network(
    run, project: Path, tmp_path: Path, monkeypatch
) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    first = run("check", "--against", "host==2.0", "--format", "json")
    monkeypatch.setenv("PIP_FIND_LINKS", "http://127.0.0.1:9/simple")
    again = run("check", "--against", "host==2.0", "--format", "json")
    assert broken(again) == broken(first) == BOTH_GONE


def test_without_a_cache_there_is_no_place_for_a_release(
    run, project: Path, tmp_path: Path
) -> None:
    wheel(tmp_path / "links", "2.0", NEW)
    done = run("check", "--against", "host==2.0", "--no-cache")
    check_refused(done, tmp_path, "name one with --cache-dir")


def truncated(folder: Path) -> Path:
    path = wheel(folder, "1.0", NEW)
    path.write_bytes(path.read_bytes()[:-40])
    return path


def truncated_sdist(folder: Path) -> Path:
    path = sdist(folder, {"host-1.0/host/__init__.py": "x = 1\n" * 10_000})
    path.write_bytes(path.read_bytes()[:60])
    return path


def bomb(folder: Path) -> Path:
    path = folder / "host-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("host/__init__.py", "#" * (33 << 20))
    return path


def absolute(folder: Path) -> Path:
    return sdist(folder, {"/host-1.0/host/__init__.py": ""})


def climbing(folder: Path) -> Path:
    return wheel(folder, "1.0", {"host/__init__.py": "", "../../outside.py": ""})


def linked(folder: Path) -> Path:
    path = folder / "host-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as bundle:
        info = tarfile.TarInfo("host-1.0/host")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc"
        bundle.addfile(info)
    return path


def without_python(folder: Path) -> Path:
    return wheel(folder, "1.0", {"host/data.txt": ""})


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (truncated, "broken archive"),
        (truncated_sdist, "broken archive"),
        (bomb, "is larger than 32 MB"),
        (absolute, "leads out of the archive"),
        (climbing, "leads out of the archive"),
        (linked, "leads out of it"),
        (without_python, "no Python files in it"),
    ],
)
@pytest.mark.parametrize("by", ["path", "index"])
def test_bad_archives(run, project: Path, tmp_path: Path, make, says: str, by: str) -> None:
    path = make(tmp_path / "links")
    done = run("check", "--against", str(path) if by == "path" else "host==1.0")
    check_refused(done, tmp_path, says)
    assert not list(tmp_path.rglob("outside.py"))


def test_a_directory_without_python(run, project: Path, tmp_path: Path) -> None:
    write(tmp_path, {"empty/read.me": ""})
    done = run("check", "--against", str(tmp_path / "empty"))
    check_refused(done, tmp_path, "no Python files in it")


def test_the_help_names_places_of_the_same_project(run, project: Path, tmp_path: Path) -> None:
    wheel(tmp_path / "links", "2.0", {**NEW, "host/moved.py": "def gone(): ...\n"})
    write(project, {"plug/own.py": "def gone(): ...\n"})
    done = run("check", "--against", "host==2.0", "--format", "json")
    assert json.loads(done.out)["findings"][0]["help"] == (
        "now in `host.moved`: take it from there"
    )


def test_the_help_for_a_test_helper_names_no_production(run, project: Path) -> None:
    write(project, {"plug/shared.py": "", "tests/__init__.py": "", "tests/kit/__init__.py": ""})
    write(project, {"tests/test_plug.py": "from tests.kit.shared import make\n"})
    (finding,) = json.loads(run("check", "--format", "json").out)["findings"]
    assert (finding["rule"], finding["symbol"]) == ("CG104", "tests.kit.shared")
    assert "plug" not in finding["help"]
