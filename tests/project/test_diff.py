"""Revisions of a repository compared: through git alone, with the merge that would come of it."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.config import Config
from contract_guard.project.diff import Diffed, diff, diff_releases

Git = Callable[..., str]
Write = Callable[[Mapping[str, str | bytes]], Path]

IDS = "PAD = 3\nEND = 4\n"
TEST = "from pkg.ids import PAD\ndef test_a(): assert PAD\ndef test_b(): ...\n"
START = {"pkg/__init__.py": "", "pkg/ids.py": IDS, "tests/test_a.py": "def test_a(): ...\n"}


@pytest.fixture
def commit(write: Write, git: Git) -> Callable[..., str]:
    def make(files: Mapping[str, str], *, remove: tuple[str, ...] = (), subject: str = "x") -> str:
        write(files)
        for path in remove:
            git("rm", "-q", path)
        git("add", "-A")
        git("commit", "-qm", subject, "--allow-empty")
        return git("rev-parse", "HEAD").strip()

    return make


def broken(diffed: Diffed) -> list[tuple[str, str, str, str]]:
    return [
        (change.symbol, consumer.path, consumer.impact, consumer.origin)
        for change in diffed.changes
        for consumer in change.consumers
        if consumer.impact != "silent"
    ]


def test_two_commits(root: Path, commit) -> None:
    base = commit(START | {"tests/test_a.py": TEST})
    head = commit({"pkg/ids.py": "END = 4\n"}, subject="Remove PAD")
    found = diff(root, Config(), base, head)
    assert broken(found) == [("pkg.ids:PAD", "tests/test_a.py", "collection-error", "change")]
    assert found.lost is not None
    assert found.lost.ids == ("tests/test_a.py::test_a", "tests/test_a.py::test_b")
    assert found.changes[0].commit == head
    assert found.commits[head].subject == "Remove PAD"
    assert (found.old, found.new) == (base, head)


def test_files_that_can_no_longer_be_read(root: Path, commit, write: Write) -> None:
    base = commit(START | {"tests/test_a.py": TEST, "tests/bad.py": "def (\n"})
    write({"pkg/ids.py": "END = 4\n", "tests/test_a.py": TEST + "def (\n"})
    found = diff(root, Config(), base)
    told = "1 file could not be read and may hold anything: tests/test_a.py:4 (invalid syntax)"
    assert found.notices == (told,)
    assert diff(root, Config(), base, ignore=["CG903"]).notices == ()
    assert diff(root, Config(severity={"CG903": "off"}), base).notices == ()
    write({f"tests/test_{name}.py": "def (\n" for name in "bcd"})
    (told,) = diff(root, Config(), base).notices
    assert told.startswith("4 files could not be read and may hold anything: tests/test_a.py:4 (")
    assert told.endswith("tests/test_c.py:1 (invalid syntax) and 1 more")


def test_what_a_module_became_is_the_help(root: Path, commit) -> None:
    test = "from pkg import ids\n\n\ndef test_a(): assert ids.PAD\n"
    base = commit(START | {"tests/test_a.py": test})
    head = commit({"pkg/tokens.py": IDS}, remove=("pkg/ids.py",))
    (finding,) = diff(root, Config(), base, head).findings
    assert finding.help == "`pkg.ids` was renamed to `pkg.tokens`"


def test_the_working_tree(root: Path, commit, write: Write) -> None:
    base = commit(START | {"tests/test_a.py": TEST})
    write({"pkg/ids.py": "END = 4\n"})
    found = diff(root, Config(), base)
    assert broken(found) == [("pkg.ids:PAD", "tests/test_a.py", "collection-error", "change")]
    assert found.new is None
    assert found.changes[0].commit is None


def test_what_was_broken_before_is_not_told_again(root: Path, commit) -> None:
    base = commit(START | {"tests/test_a.py": TEST, "pkg/ids.py": "END = 4\n"})
    moved = commit({"tests/test_b.py": TEST + "\n#\n"}, remove=("tests/test_a.py",))
    assert broken(diff(root, Config(), base, moved)) == []


def test_a_new_reference_to_what_never_was(root: Path, commit) -> None:
    base = commit(START)
    head = commit({"tests/test_b.py": "from pkg.ids import NONE\ndef test_a(): ...\n"})
    found = diff(root, Config(), base, head)
    assert broken(found) == [("pkg.ids:NONE", "tests/test_b.py", "collection-error", "change")]
    assert (found.changes[0].old, found.changes[0].new) == (None, None)


def test_two_green_changes_that_break_each_other(root: Path, commit, git: Git) -> None:
    start = commit(START)
    commit({"pkg/ids.py": "END = 4\n"}, subject="Remove PAD")
    base = git("rev-parse", "HEAD").strip()
    git("checkout", "-q", start)
    head = commit({"tests/test_b.py": TEST})
    found = diff(root, Config(), base, head)
    assert broken(found) == [("pkg.ids:PAD", "tests/test_b.py", "collection-error", "merge")]
    assert found.lost is not None
    assert found.lost.count == 2
    assert found.changes[0].commit == base


def test_what_the_other_branch_added_is_not_removed_by_this_one(
    root: Path, commit, git: Git
) -> None:
    start = commit(START)
    base = commit({"pkg/ids.py": IDS + "NEW = 5\n", "tests/test_b.py": TEST})
    git("checkout", "-q", start)
    head = commit({"pkg/other.py": "X = 1\n"})
    assert diff(root, Config(), base, head).changes == ()


def test_both_sides_of_one_file_are_merged(root: Path, commit, git: Git) -> None:
    long = "A = 1\n" + "#\n" * 20 + "Z = 2\n"
    start = commit(START | {"pkg/ids.py": long})
    base = commit({"pkg/ids.py": long.replace("A = 1\n", "")})
    git("checkout", "-q", start)
    head = commit(
        {
            "pkg/ids.py": long.replace("Z = 2\n", "Z = 3\n"),
            "tests/test_b.py": "from pkg.ids import A, Z\ndef test_a(): ...\n",
        }
    )
    found = diff(root, Config(), base, head)
    assert found.conflicts == ()
    assert broken(found) == [("pkg.ids:A", "tests/test_b.py", "collection-error", "merge")]


def test_a_conflict_is_said_and_nothing_of_its_names(root: Path, commit, git: Git) -> None:
    start = commit(START)
    base = commit({"pkg/ids.py": "PAD = 5\n"})
    git("checkout", "-q", start)
    head = commit({"pkg/ids.py": "END = 7\n", "tests/test_b.py": "from pkg.ids import END\n"})
    found = diff(root, Config(), base, head)
    assert found.conflicts == ("pkg/ids.py",)
    assert broken(found) == []


def test_excluded_places_take_no_part(root: Path, commit) -> None:
    base = commit(START | {"bad/test_a.py": TEST})
    head = commit({"pkg/ids.py": ""})
    assert broken(diff(root, Config(exclude=("/bad/",)), base, head)) == []
    assert broken(diff(root, Config(), base, head)) != []


def test_what_a_build_makes_is_not_missing(root: Path, commit) -> None:
    base = commit(START | {"setup.py": "write_to = 'pkg/_version.py'\n"})
    head = commit({"tests/test_b.py": "from pkg._version import version\n"})
    assert broken(diff(root, Config(), base, head)) == []


def test_a_result_is_kept(root: Path, commit, tmp_path: Path) -> None:
    base = commit(START | {"tests/test_a.py": TEST})
    head = commit({"pkg/ids.py": ""})
    first = diff(root, Config(), base, head, cache_dir=tmp_path / "cache")
    assert diff(root, Config(), base, head, cache_dir=tmp_path / "cache") == first


def test_no_common_ancestor(root: Path, commit, git: Git) -> None:
    base = commit(START)
    git("checkout", "-q", "--orphan", "other")
    head = commit({"pkg/ids.py": ""})
    with pytest.raises(UserError, match="no common ancestor"):
        diff(root, Config(), base, head)
    assert diff(root, Config(), base, head, merge=False).old == base


def test_below_the_top_of_the_repository(root: Path, commit) -> None:
    base = commit(
        {f"sub/{path}": text for path, text in (START | {"tests/test_a.py": TEST}).items()}
    )
    head = commit({"sub/pkg/ids.py": ""})
    found = diff(root / "sub", Config(), base, head)
    assert broken(found) == [("pkg.ids:PAD", "tests/test_a.py", "collection-error", "change")]
    assert found.changes[0].commit == head


def test_the_removing_commit_among_many(root: Path, commit) -> None:
    base = commit(START | {"tests/test_a.py": TEST})
    commit({"pkg/ids.py": IDS + "A = 1\n"})
    removing = commit({"pkg/ids.py": "A = 1\n"})
    commit({"pkg/ids.py": "A = 2\n"})
    head = commit({"pkg/ids.py": "A = 3\n"})
    assert diff(root, Config(), base, head).changes[0].commit == removing


def test_a_package_that_moved_away_as_a_whole(root: Path, commit) -> None:
    files = {f"old/{name}.py": f"{name.upper()} = 1\n" for name in ("__init__", "a", "b")}
    base = commit(files | {"tests/test_a.py": "from old.a import A\ndef test_a(): ...\n"})
    moved = {path.replace("old/", "new/"): text for path, text in files.items()}
    head = commit(moved, remove=tuple(files))
    assert broken(diff(root, Config(), base, head)) == [
        ("old", "tests/test_a.py", "collection-error", "change")
    ]


def test_a_vendored_package_that_was_given_up(root: Path, commit) -> None:
    files = {f"yaml/{name}.py": "A = 1\n" for name in ("__init__", "a")}
    base = commit(files | {"tests/test_a.py": "from yaml.a import A\ndef test_a(): ...\n"})
    head = commit({}, remove=tuple(files))
    assert broken(diff(root, Config(), base, head)) == []


def test_a_package_without_its_init_is_still_ours(root: Path, commit) -> None:
    files = {"old/__init__.py": "", "old/a.py": "A = 1\n", "old/b.py": ""}
    base = commit(files | {"tests/test_a.py": "from old.a import A\ndef test_a(): ...\n"})
    head = commit({}, remove=("old/__init__.py", "old/a.py"))
    assert broken(diff(root, Config(), base, head)) == [
        ("old.a", "tests/test_a.py", "collection-error", "change")
    ]


def consumers_of(diffed: Diffed, symbol: str) -> list[tuple[str, int, str, str | None, bool]]:
    return [
        (c.path, c.line, c.form, c.impact, c.updated)
        for change in diffed.changes
        if change.symbol == symbol
        for c in change.consumers
    ]


def test_a_literal_with_the_former_value(root: Path, commit) -> None:
    test = "from pkg import ids\ndef test_a():\n    assert ids.PAD\n    assert [42, 129279]\n"
    base = commit(START | {"pkg/ids.py": "PAD = 129279\n", "tests/test_a.py": test})
    head = commit({"pkg/ids.py": "PAD = 129280\n"})
    found = diff(root, Config(), base, head)
    assert consumers_of(found, "pkg.ids:PAD") == [
        ("tests/test_a.py", 3, "attribute", "silent", False),
        ("tests/test_a.py", 4, "literal", "silent", False),
    ]
    assert [(f.rule, f.severity) for f in found.findings] == [("CG203", "warning")]
    assert diff(root, Config(), base, head, ignore=("CG203",)).findings == ()


def test_documents_that_name_what_is_gone(root: Path, commit) -> None:
    texts = {
        "docs/use.md": "Call `pkg.ids.mask`.\n\nNot pkg.ids.masked.\n",
        "pyproject.toml": "[project.scripts]\nmask = 'pkg.ids:mask'\n",
    }
    test = {"tests/test_a.py": "from pkg.ids import mask\ndef test_a(): ...\n"}
    base = commit(START | texts | test | {"pkg/ids.py": "def mask(): ...\n"})
    head = commit({"pkg/ids.py": ""})
    assert consumers_of(diff(root, Config(), base, head), "pkg.ids:mask") == [
        ("tests/test_a.py", 1, "import", "collection-error", False),
        ("docs/use.md", 1, "document", "silent", False),
        ("pyproject.toml", 2, "document", "silent", False),
    ]


def test_a_project_downstream(root: Path, commit, tmp_path: Path) -> None:
    other = tmp_path / "plugin"
    (other / "tests").mkdir(parents=True)
    (other / "plugin.py").write_text("from pkg.ids import PAD, END\n")
    (other / "tests" / "test_p.py").write_text("import plugin\ndef test_p(): ...\n")
    base = commit(START)
    head = commit({"pkg/ids.py": "END = 5\n"})
    found = diff(root, Config(), base, head, consumers=[str(other)])
    assert consumers_of(found, "pkg.ids:PAD") == [
        (f"{other}/plugin.py", 1, "import", "collection-error", False)
    ]
    assert consumers_of(found, "pkg.ids:END") == [
        (f"{other}/plugin.py", 1, "import", "silent", False)
    ]
    assert found.lost is not None
    assert found.lost.ids == (f"{other}/tests/test_p.py::test_p",)
    assert diff(root, Config(), base, head).changes == ()


def test_a_project_downstream_is_told_the_new_name_and_is_not_mended(
    root: Path, commit, tmp_path: Path
) -> None:
    other = tmp_path / "plugin"
    other.mkdir()
    (other / "plugin.py").write_text("from pkg.ids import mask\nimport pkg.gone\n")
    base = commit(
        START | {"pkg/ids.py": "def mask(a):\n    return a + 1\n", "pkg/gone.py": "X = 1\n"}
    )
    head = commit({"pkg/ids.py": "def id_mask(a):\n    return a + 1\n", "pkg/came.py": "X = 1\n"},
                  remove=("pkg/gone.py",))  # fmt: skip
    findings = diff(root, Config(), base, head, consumers=[str(other)]).findings
    assert [(f.symbol, f.fixable, f.help) for f in findings] == [
        ("pkg.ids:mask", "no", "`pkg.ids.mask` was renamed to `pkg.ids.id_mask`"),
        ("pkg.gone", "no", "`pkg.gone` was renamed to `pkg.came`"),
    ]


def test_what_only_the_merge_breaks_is_told_the_new_name(root: Path, commit, git: Git) -> None:
    start = commit(START | {"pkg/ids.py": "def mask(a):\n    return a + 1\n"})
    base = commit({"pkg/ids.py": "def id_mask(a):\n    return a + 1\n"})
    git("checkout", "-q", start)
    head = commit({"tests/test_b.py": "from pkg.ids import mask\ndef test_b(): assert mask(1)\n"})
    (finding,) = diff(root, Config(), base, head).findings
    assert (finding.fixable, finding.help) == (
        "no",
        "`pkg.ids.mask` was renamed to `pkg.ids.id_mask`",
    )


def test_two_releases(tmp_path: Path) -> None:
    places: list[str] = []
    for name, source in {"one": "PAD = 3\n", "two": "\n"}.items():
        place = tmp_path / name
        (place / "pkg").mkdir(parents=True)
        (place / "pkg" / "__init__.py").write_text(source)
        (place / "tests").mkdir()
        (place / "tests" / "test_a.py").write_text("from pkg import PAD\ndef test_a(): ...\n")
        places.append(str(place))
    found = diff_releases(*places, cache_dir=None)
    assert broken(found) == [("pkg:PAD", "tests/test_a.py", "collection-error", "change")]
    assert (found.old, found.new) == tuple(places)


def test_calls_that_no_longer_fit(root: Path, commit) -> None:
    test = (
        "from pkg import ids\nfrom pkg.ids import mask\n"
        "def test_a():\n    mask(1, old=2)\n    mask(1)\n    ids.mask(1, old=2)\n"
        "def test_b(kw):\n    mask(1, **kw)\n"
    )
    base = commit(START | {"pkg/ids.py": "def mask(a, old=1): ...\n", "tests/test_a.py": test})
    head = commit({"pkg/ids.py": "def mask(a, new=1): ...\n"})
    found = diff(root, Config(), base, head)
    assert [(c.path, c.line, c.form, c.test, c.impact) for c in found.changes[0].consumers] == [
        ("tests/test_a.py", 4, "call", "tests/test_a.py::test_a", "runtime-error"),
        ("tests/test_a.py", 6, "call", "tests/test_a.py::test_a", "runtime-error"),
    ]
    harmless = commit({"pkg/ids.py": "def mask(a, old=1, new=1): ...\n"})
    assert diff(root, Config(), base, harmless).changes == ()


def test_an_older_version_s_own_tests_against_the_newer(tmp_path: Path) -> None:
    def release(name: str, source: str, test: str) -> str:
        place = tmp_path / name
        for path, text in {
            "pkg/__init__.py": source,
            "tests/__init__.py": "",
            "tests/helpers.py": "H = 1\n",
            "tests/test_a.py": test,
        }.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_text(text)
        return str(place)

    old_test = "from pkg import PAD\nfrom tests.helpers import H\ndef test_a(): ...\n"
    old = release("one", "PAD = 3\n", old_test)
    new = release("two", "\n", "def test_b(): ...\n")
    found = diff_releases(old, new, consumers=[old], cache_dir=None)
    assert broken(found) == [("pkg:PAD", f"{old}/tests/test_a.py", "collection-error", "change")]


def test_a_fixture_that_is_gone(root: Path, commit) -> None:
    fixtures = "import pytest\n@pytest.fixture\ndef engine(): ...\n@pytest.fixture\ndef db(): ...\n"
    base = commit(
        START
        | {
            "tests/conftest.py": fixtures + "@pytest.fixture\ndef pool(): ...\n",
            "tests/test_a.py": "def test_a(engine): ...\ndef test_b(db): ...\n",
            "tests/test_b.py": "def test_c(pool): ...\n",
        }
    )
    head = commit(
        {
            "tests/conftest.py": fixtures.replace("engine", "motor"),
            "tests/test_c.py": "def test_d(engine): ...\n",
            "tests/test_b.py": "def test_c(): ...\n",
        }
    )
    found = diff(root, Config(), base, head)
    assert [(f.rule, f.severity, f.path, f.symbol, f.test) for f in found.findings] == [
        ("CG106", "error", f"tests/test_{at}.py", "tests.conftest:engine", test)
        for at, test in (("a", "tests/test_a.py::test_a"), ("c", "tests/test_c.py::test_d"))
    ]
    (change,) = [change for change in found.changes if change.consumers]
    assert [(c.path, c.form, c.impact) for c in change.consumers] == [
        ("tests/test_a.py", "fixture", "runtime-error"),
        ("tests/test_c.py", "fixture", "runtime-error"),
    ]


@pytest.mark.parametrize("is_ours", [True, False])
def test_a_new_call_of_what_the_other_branch_changed(
    root: Path, commit, git: Git, is_ours: bool
) -> None:
    start = commit(START | {"pkg/ids.py": "def mask(a, old=1): ...\n"})
    changed = commit({"pkg/ids.py": "def mask(a, new=1): ...\n"}, subject="Rename")
    git("checkout", "-q", start)
    called = commit(
        {"tests/test_b.py": "from pkg.ids import mask\ndef test_b():\n    mask(1, old=2)\n"}
    )
    found = diff(root, Config(), *((changed, called) if is_ours else (called, changed)))
    assert broken(found) == [("pkg.ids:mask", "tests/test_b.py", "runtime-error", "merge")]
    assert [(f.rule, f.path, f.line) for f in found.findings] == [("CG107", "tests/test_b.py", 3)]
    assert found.changes[0].kind == "signature-changed"


def test_what_the_other_branch_broke_is_not_told(root: Path, commit, git: Git) -> None:
    test = "from pkg.ids import mask\ndef test_b():\n    mask(1, old=2)\n"
    start = commit(START | {"pkg/ids.py": "def mask(a, old=1): ...\n", "tests/test_b.py": test})
    base = commit({"pkg/ids.py": "def mask(a, new=1): ...\n"})
    git("checkout", "-q", start)
    head = commit({"pkg/other.py": "X = 1\n"})
    assert diff(root, Config(), base, head).findings == ()


def test_a_removed_constant_and_a_copy_of_it_when_merged(root: Path, commit, git: Git) -> None:
    start = commit(START | {"pkg/ids.py": "PAD = 129264\nEND = 4\n"})
    base = commit({"pkg/ids.py": "PAD = 129280\nEND = 4\n"})
    git("checkout", "-q", start)
    test = "from pkg.ids import END\ndef test_b():\n    assert END != 129264\n"
    head = commit({"tests/test_b.py": test})
    found = diff(root, Config(), base, head)
    assert [(f.rule, f.severity, f.symbol) for f in found.findings] == [
        ("CG203", "warning", "pkg.ids:PAD")
    ]
