import os
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.config import Config, find_root, is_selected, parse_config, read_config

KNOWN = {"CG101", "CG102", "CG201"}


def refused(source: str, root: Path) -> str:
    with pytest.raises(UserError) as error:
        parse_config(source.encode(), "contract_guard.toml", root, KNOWN)
    message = str(error.value)
    assert "\n" not in message
    return message.removeprefix("contract_guard.toml: ")


def test_all_keys(root: Path) -> None:
    (root / "src").mkdir()
    source = b"""
        roots = ["src"]
        test-patterns = ["check_*.py"]
        exclude = ["/old/"]
        select = ["CG1"]
        ignore = ["CG102"]
        dynamic-names = ["pkg.plugins.*"]
        version-predicates = ["pkg.utils.version_is"]
        patch-wrappers = ["tests.helpers.swap"]
        lock = ["pkg.ids:*", "*_ID"]
        [per-file-ignores]
        "tests/*" = ["CG201"]
        [severity]
        CG101 = "note"
        CG102 = "off"
        [gates."pkg.gate:Gate"]
        experts = 8
    """
    assert parse_config(source, "contract_guard.toml", root, KNOWN) == Config(
        roots=("src",),
        test_patterns=("check_*.py",),
        exclude=("/old/",),
        select=("CG1",),
        ignore=("CG102",),
        dynamic_names=("pkg.plugins.*",),
        version_predicates=("pkg.utils.version_is",),
        patch_wrappers=("tests.helpers.swap",),
        lock=("pkg.ids:*", "*_ID"),
        per_file_ignores={"tests/*": ("CG201",)},
        severity={"CG101": "note", "CG102": "off"},
        gates={"pkg.gate:Gate": {"experts": 8}},
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("slect = []", "unknown key 'slect'; did you mean 'select'?"),
        ("dynamic_names = []", "unknown key 'dynamic_names'; did you mean 'dynamic-names'?"),
        ("zzz = 1", "unknown key 'zzz'"),
        ('dynamic-names = ["a b"]', "dynamic-names: 'a b' is no dotted name"),
        ('dynamic-names = ["pkg..NAME"]', "dynamic-names: 'pkg..NAME' is no dotted name"),
        ('dynamic-names = [""]', "dynamic-names: '' is no dotted name"),
        ('version-predicates = ["pkg:f"]', "version-predicates: 'pkg:f' is no dotted name"),
        ('patch-wrappers = ["pkg.*"]', "patch-wrappers: 'pkg.*' is no dotted name"),
        ('lock = ["x"]', "lock: 'x' fits no symbol: write MODULE:NAME"),
        ("roots = [1]", "roots[0]: expected a string, got an integer"),
        ("select = 'CG1'", "select: expected a list, got a string"),
        ("gates = 1", "gates: expected a table, got an integer"),
        (
            "severity = {CG101 = 'eror'}",
            "severity.CG101: 'eror' is not one of error, warning, note, off; did you mean 'error'?",
        ),
        ("severity = {CG101 = 1}", "severity.CG101: expected a string, got an integer"),
        (
            "per-file-ignores = {'a/*' = 'CG101'}",
            "per-file-ignores.a/*: expected a list, got a string",
        ),
        ("select = ['CG9']", "select: unknown rule 'CG9'"),
        ("ignore = ['CG103']", "ignore: unknown rule 'CG103'; there are CG101, CG102"),
        ("severity = {CG1 = 'off'}", "severity: unknown rule 'CG1'; there are CG101, CG102"),
        (
            "per-file-ignores = {'a/*' = ['X']}",
            "per-file-ignores.'a/*': unknown rule 'X'",
        ),
        ("roots = ['../x']", "roots: '../x' leads out of the project"),
        ("roots = ['/']", "roots: '/' leads out of the project"),
        ("roots = ['C:/x']", "roots: 'C:/x' leads out of the project"),
        ("roots = ['nope']", "roots: 'nope' is not a directory of the project"),
        ("exclude = ['a/../../b']", "exclude: 'a/../../b' leads out of the project"),
        ("x =", "not valid TOML: Invalid value (at end of document)"),
    ],
)
def test_mistakes_are_named(source: str, message: str, root: Path) -> None:
    assert refused(source, root) == message


def test_root_through_a_link_that_leaves_is_refused(root: Path) -> None:
    (root / "link").symlink_to(root.parent)
    assert refused("roots = ['link']", root) == "roots: 'link' leads out of the project"


def test_not_utf8(root: Path) -> None:
    with pytest.raises(UserError, match=r"^contract_guard\.toml: not UTF-8 at byte 5$"):
        parse_config(b"x = '\xff'", "contract_guard.toml", root)


def test_selectors() -> None:
    assert is_selected("CG1", "CG101")
    assert is_selected("CG101", "CG101")
    assert not is_selected("CG1010", "CG101")
    assert not is_selected("CG2", "CG101")
    assert not is_selected("", "CG101")


class TestReadConfig:
    def test_none(self, root: Path) -> None:
        assert read_config(root) == Config()

    def test_pyproject(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("[tool.contract_guard]\nexclude = ['a']")
        assert read_config(root) == Config(exclude=("a",))

    def test_pyproject_names_the_table(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("[tool.contract_guard]\nexclud = ['a']")
        with pytest.raises(UserError) as error:
            read_config(root)
        assert str(error.value) == (
            "pyproject.toml: [tool.contract_guard]: unknown key 'exclud'; did you mean 'exclude'?"
        )

    @pytest.mark.parametrize("content", ["[tool]\ncontract_guard = 1", "tool.contract_guard = []"])
    def test_no_table(self, content: str, root: Path) -> None:
        (root / "pyproject.toml").write_text(content)
        with pytest.raises(UserError, match="expected a table"):
            read_config(root)

    def test_odd_pyproject_of_others(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("tool = 'contract_guard'")
        assert read_config(root) == Config()

    def test_own_file_wins(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("[tool.contract_guard]\nexclude = ['a']")
        (root / "contract_guard.toml").write_text("exclude = ['b']")
        assert read_config(root) == Config(exclude=("b",))
        (root / ".contract_guard.toml").write_text("exclude = ['c']")
        assert read_config(root) == Config(exclude=("c",))


class TestFindRoot:
    def test_nearest_configuration(self, root: Path) -> None:
        inner = root / "a" / "b"
        inner.mkdir(parents=True)
        (root / ".git").mkdir()
        (root / "a" / "pyproject.toml").write_text("[tool.contract_guard]")
        (inner / "pyproject.toml").write_text("[tool.black]\n# not of contract_guard")
        (inner / "x.py").write_text("")
        assert find_root(inner / "x.py") == root / "a"

    def test_git_before_project_files(self, root: Path) -> None:
        inner = root / "a"
        inner.mkdir()
        (root / ".git").write_text("gitdir: elsewhere")
        (inner / "setup.py").write_text("")
        assert find_root(inner) == root

    def test_nothing_above_the_repository(self, root: Path) -> None:
        (root.parent / "contract_guard.toml").write_text("")
        (root / ".git").mkdir()
        assert find_root(root) == root

    def test_project_file(self, root: Path) -> None:
        (root / "a").mkdir()
        (root / "setup.cfg").write_text("")
        assert find_root(root / "a") == root

    def test_broken_toml_is_left_to_the_reader(self, root: Path) -> None:
        (root / "pyproject.toml").write_text("[tool.contract_guard")
        (root / "a").mkdir()
        assert find_root(root / "a") == root
        with pytest.raises(UserError, match="not valid TOML"):
            read_config(root)

    def test_missing(self, root: Path) -> None:
        with pytest.raises(UserError, match="no such file or directory"):
            find_root(root / "nope")


class TestWhatIsNoFile:
    """Settings that are there and cannot be read are not the same as none."""

    @pytest.mark.parametrize("name", ["pyproject.toml", "contract_guard.toml"])
    def test_a_directory(self, name: str, root: Path) -> None:
        (root / name).mkdir()
        with pytest.raises(UserError, match=f"{name}: a directory"):
            read_config(root)

    def test_a_link_that_leads_nowhere(self, root: Path) -> None:
        (root / "pyproject.toml").symlink_to("gone.toml")
        with pytest.raises(UserError, match=r"pyproject.toml: a link that leads nowhere"):
            read_config(root)

    def test_a_pipe_is_not_waited_for(self, root: Path) -> None:
        os.mkfifo(root / "contract_guard.toml")
        with pytest.raises(UserError, match=r"contract_guard.toml: not a regular file"):
            read_config(root)


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        (
            "pyproject.toml",
            "[tool.contract-guard]\nexclude = []\n",
            "pyproject.toml: [tool.contract-guard]: the table is [tool.contract_guard]",
        ),
        (
            "pyproject.toml",
            "[tool.contract_guard]\n[tool.contract-guard]\n",
            "pyproject.toml: [tool.contract-guard]: the table is [tool.contract_guard]",
        ),
        (
            "contract-guard.toml",
            "",
            "contract-guard.toml: not read: the file is called contract_guard.toml",
        ),
        (
            ".contract-guard.toml",
            "",
            ".contract-guard.toml: not read: the file is called .contract_guard.toml",
        ),
    ],
)
def test_a_dash_in_the_name_is_told(name: str, source: str, message: str, root: Path) -> None:
    (root / name).write_text(source)
    (root / "below").mkdir()
    assert find_root(root / "below") == root.resolve()
    with pytest.raises(UserError) as error:
        read_config(root)
    assert str(error.value) == message


def test_the_name_of_the_distribution_is_no_table(root: Path) -> None:
    (root / "pyproject.toml").write_text("[project]\ndependencies = ['contract-guard']\n")
    assert read_config(root) == Config()
