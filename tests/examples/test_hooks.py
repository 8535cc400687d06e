"""The hooks of .pre-commit-hooks.yaml under the real pre-commit, in a repository of their own."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

if importlib.util.find_spec("pre_commit") is None:
    pytest.skip("unverified: pre-commit is not installed", allow_module_level=True)

ROOT = Path(__file__).parents[2]
TEST_MODULE = "from gate.constants import PAD\n\n\ndef test_pad():\n    assert PAD\n"
BREAKS = "tests/test_pad.py:1:28: CG101 error"


class Done(NamedTuple):
    code: int
    text: str


class Project(NamedTuple):
    root: Path
    run: Callable[..., Done]

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def git(self, *arguments: str) -> Done:
        return self.run("git", *arguments)

    def commit(self, *arguments: str) -> Done:
        return self.git("commit", "-m", "x", *arguments)


def hooks() -> list[dict[str, str]]:
    """What the manifest says, in the few forms of YAML that it uses."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    items = re.split(r"^- ", re.sub(r"^ *#.*\n", "", text, flags=re.M), flags=re.M)[1:]
    return [dict(re.findall(r"^ *(\w+): (.+)$", item, flags=re.M)) for item in items]


def local_config(*ids: str) -> str:
    """The hooks with the command of this environment, which needs no other to be made."""
    lines = ["repos:", "- repo: local", "  hooks:"]
    for hook in hooks():
        if hook["id"] in ids:
            command = str(Path(sys.executable).parent / "contract-guard")
            entry = hook["entry"].replace("contract-guard", command, 1)
            keys = hook | {"language": "system", "entry": entry, "verbose": "true"}
            lines += [f"  {'- ' if key == 'id' else '  '}{key}: {keys[key]}" for key in keys]
    return "\n".join(lines) + "\n"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """A package, a test of it, and the hook installed."""
    root = tmp_path / "project"
    root.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = kept | {
        "GIT_CONFIG_GLOBAL": str(tmp_path / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PRE_COMMIT_HOME": str(tmp_path / "pre-commit"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "NO_COLOR": "1",
    }
    (tmp_path / "gitconfig").write_text(
        "[user]\nname = a\nemail = a@b\n[init]\ndefaultBranch = main\n"
    )

    def run(*command: str) -> Done:
        done = subprocess.run(
            command, cwd=root, env=environment, capture_output=True, text=True, check=False
        )
        return Done(done.returncode, done.stdout + done.stderr)

    project = Project(root, run)
    project.write(".pre-commit-config.yaml", local_config("contract-guard"))
    project.write("gate/__init__.py", "")
    project.write("gate/constants.py", "BASE = 7\nPAD = 8\n")
    project.write("tests/test_pad.py", TEST_MODULE)
    project.git("init")
    project.git("add", "-A")
    types = ("pre-commit", "pre-merge-commit", "pre-push")
    done = run(sys.executable, "-m", "pre_commit", "install", *(f"-t{kind}" for kind in types))
    assert done.code == 0, done.text
    assert project.commit().code == 0
    yield project
    shutil.rmtree(tmp_path / "pre-commit", ignore_errors=True)


def pre_commit(project: Project, *arguments: str) -> Done:
    return project.run(sys.executable, "-m", "pre_commit", *arguments)


def test_the_manifest_is_one(project: Project) -> None:
    done = pre_commit(project, "validate-manifest", str(ROOT / ".pre-commit-hooks.yaml"))
    assert done == (0, "")
    assert [hook["id"] for hook in hooks()] == [
        "contract-guard",
        "contract-guard-diff",
        "contract-guard-fix",
        "contract-guard-lock",
    ]
    for hook in hooks():
        assert hook["pass_filenames"] == "false"
        assert {"types_or", "stages", "minimum_pre_commit_version"} <= hook.keys()


def test_a_commit_that_breaks_an_unchanged_consumer_is_blocked(project: Project) -> None:
    """With a cold cache, and with a warm one."""
    project.write("gate/constants.py", "BASE = 7\n")
    for _ in range(2):
        done = project.commit("-a")
        assert done.code == 1
        assert BREAKS in done.text
    project.write("tests/test_pad.py", TEST_MODULE.replace("PAD", "BASE"))
    assert project.commit("-a").code == 0


def test_a_commit_that_only_deletes_is_blocked_too(project: Project) -> None:
    project.git("rm", "-q", "gate/constants.py")
    done = project.commit()
    assert (done.code, "CG104 error" in done.text) == (1, True)


def test_what_was_broken_before_does_not_block(project: Project) -> None:
    project.write("gate/constants.py", "BASE = 7\n")
    assert project.commit("-a", "--no-verify").code == 0
    project.write("gate/more.py", "X = 1\n")
    project.git("add", "-A")
    done = project.commit()
    assert (done.code, "1 known finding left out" in done.text) == (0, True)


def test_only_what_is_staged_counts(project: Project) -> None:
    """pre-commit sets unstaged changes aside; untracked files stay where they are."""
    project.write("gate/more.py", "X = 1\n")
    project.git("add", "gate/more.py")
    project.write("gate/constants.py", "BASE = 7\n")
    project.write("tests/test_new.py", "from gate.constants import NEVER\n")
    assert project.commit().code == 0
    assert (project.root / "gate/constants.py").read_text() == "BASE = 7\n"


def test_a_staged_break_is_found_behind_an_unstaged_repair(project: Project) -> None:
    project.write("gate/constants.py", "BASE = 7\n")
    project.git("add", "-A")
    project.write("gate/constants.py", "BASE = 7\nPAD = 8\n")
    done = project.commit()
    assert (done.code, BREAKS in done.text) == (1, True)
    assert (project.root / "gate/constants.py").read_text() == "BASE = 7\nPAD = 8\n"


def test_part_of_the_changes_committed_by_name(project: Project) -> None:
    """git gives the hook an index of its own then."""
    project.write("gate/constants.py", "BASE = 7\n")
    project.write("gate/more.py", "X = 1\n")
    project.git("add", "-A")
    assert project.commit("--", "gate/more.py").code == 0
    done = project.commit("--", "gate/constants.py")
    assert (done.code, BREAKS in done.text) == (1, True)


def test_a_new_message_is_not_blocked_by_old_findings(project: Project) -> None:
    project.write("gate/constants.py", "BASE = 7\n")
    project.commit("-a", "--no-verify")
    assert project.commit("--amend").code == 0


def diverge(project: Project, ours: dict[str, str], theirs: dict[str, str]) -> None:
    """Two branches; their findings are there already."""
    project.git("switch", "-qc", "topic")
    for path, text in theirs.items():
        project.write(path, text)
    project.git("add", "-A")
    project.commit("--no-verify")
    project.git("switch", "-q", "main")
    for path, text in ours.items():
        project.write(path, text)
    project.git("add", "-A")
    project.commit("--no-verify")


def test_a_merge_is_not_blocked_by_what_either_side_has(project: Project) -> None:
    diverge(
        project,
        {"gate/more.py": "X = 1\n"},
        {"tests/test_theirs.py": "from gate.constants import THEIRS\n"},
    )
    assert project.git("merge", "--no-edit", "topic").code == 0


def test_a_merge_that_breaks_what_was_whole_on_both_sides_is_blocked(project: Project) -> None:
    diverge(
        project,
        {"gate/constants.py": "BASE = 7\n", "tests/test_pad.py": ""},
        {"tests/test_theirs.py": TEST_MODULE},
    )
    done = project.git("merge", "--no-edit", "topic")
    assert done.code == 1
    assert "tests/test_theirs.py:1:28: CG101 error" in done.text


def test_a_merge_with_conflicts(project: Project) -> None:
    diverge(
        project,
        {"gate/constants.py": "BASE = 7\nPAD = 9\n"},
        {
            "gate/constants.py": "BASE = 7\nPAD = 10\n",
            "tests/test_theirs.py": "from gate.constants import THEIRS\n",
        },
    )
    assert project.git("merge", "--no-edit", "topic").code == 1
    project.write("gate/constants.py", "BASE = 7\nPAD = 11\n")
    project.git("add", "-A")
    assert project.git("commit", "--no-edit").code == 0


def test_all_files(project: Project) -> None:
    """On a clean tree all of the project is meant, as in CI."""
    assert pre_commit(project, "run", "--all-files").code == 0
    project.write("gate/constants.py", "BASE = 7\n")
    project.commit("-a", "--no-verify")
    done = pre_commit(project, "run", "--all-files")
    assert (done.code, BREAKS in done.text) == (1, True)


def test_from_one_revision_to_another(project: Project) -> None:
    project.write("gate/constants.py", "BASE = 7\n")
    project.commit("-a", "--no-verify")
    project.write("gate/more.py", "X = 1\n")
    project.git("add", "-A")
    project.commit("--no-verify")
    done = pre_commit(project, "run", "--from-ref", "HEAD~2", "--to-ref", "HEAD")
    assert (done.code, BREAKS in done.text) == (1, True)
    assert pre_commit(project, "run", "--from-ref", "HEAD~1", "--to-ref", "HEAD").code == 0


def test_a_push_of_what_breaks_is_blocked(project: Project, tmp_path: Path) -> None:
    project.git("init", "--bare", str(tmp_path / "remote"))
    project.git("remote", "add", "origin", str(tmp_path / "remote"))
    assert project.git("push", "origin", "main").code == 0
    project.write("gate/constants.py", "BASE = 7\n")
    project.commit("-a", "--no-verify")
    done = project.git("push", "origin", "main")
    assert (done.code, BREAKS in done.text) == (1, True)


def test_calls_and_fixtures_show_against_the_commit_before(project: Project) -> None:
    """A renamed parameter and a renamed fixture pass the one hook, and are stopped by the other."""
    project.write("gate/masks.py", "def mask(ids, pad=8): ...\n")
    project.write("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef ids(): ...\n")
    project.write(
        "tests/test_mask.py",
        "from gate.masks import mask\n\n\ndef test_mask(ids):\n    mask(ids, pad=7)\n",
    )
    project.git("add", "-A")
    assert project.commit().code == 0
    project.write("gate/masks.py", "def mask(ids, fill=8): ...\n")
    project.write("tests/conftest.py", "import pytest\n\n\n@pytest.fixture\ndef tokens(): ...\n")
    assert project.commit("-a").code == 0
    project.git("reset", "--soft", "HEAD~1")
    project.write(".pre-commit-config.yaml", local_config("contract-guard-diff"))
    project.git("add", "-A")
    done = project.commit()
    assert done.code == 1
    assert "tests/test_mask.py:5: call: runtime error" in done.text
    assert "tests/test_mask.py:4: fixture: runtime error" in done.text
    project.write(
        "tests/test_mask.py",
        "from gate.masks import mask\n\n\ndef test_mask(tokens):\n    mask(tokens, fill=7)\n",
    )
    project.git("add", "-A")
    assert project.commit().code == 0


def test_what_a_move_broke_is_mended(project: Project) -> None:
    """The commit is stopped, as pre-commit does where a hook changes files, and goes through once
    the repair is added."""
    project.write(".pre-commit-config.yaml", local_config("contract-guard-fix", "contract-guard"))
    project.write("gate/constants.py", "BASE = 7\n")
    project.write("gate/tokens.py", "PAD = 8\n")
    project.git("add", "-A")
    done = project.commit()
    assert (done.code, "files were modified by this hook" in done.text) == (1, True)
    assert "from gate.tokens import PAD" in (project.root / "tests/test_pad.py").read_text()
    project.git("add", "-A")
    assert project.commit().code == 0


def test_the_lock_is_brought_up_to_date(project: Project) -> None:
    project.write(".pre-commit-config.yaml", local_config("contract-guard-lock"))
    project.git("add", "-A")
    done = project.commit()
    assert (done.code, "files were modified by this hook" in done.text) == (0, False)
    project.git("add", "contracts.lock")
    assert project.commit().code == 0
    project.write("gate/constants.py", "BASE = 7\nPAD = 9\n")
    project.git("add", "-A")
    done = project.commit()
    assert (done.code, "files were modified by this hook" in done.text) == (1, True)
    assert "= 9" in (project.root / "contracts.lock").read_text()
    project.git("add", "-A")
    assert project.commit().code == 0


def test_in_an_environment_of_its_own_the_verdict_is_the_same(
    project: Project, tmp_path: Path
) -> None:
    """pre-commit installs this source tree as a user's would be."""
    source = tmp_path / "source"
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    for path in filter(None, listed.split("\0")):
        if (ROOT / path).is_file() and path.startswith(
            ("contract_guard/", "rules/", "pyproject", "README", "LICENSE", ".pre-commit-hooks")
        ):
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, source / path)
    for command in (("init",), ("add", "-A"), ("commit", "-qm", "x")):
        project.git("-C", str(source), *command)
    revision = project.git("-C", str(source), "rev-parse", "HEAD").text.strip()
    project.write(
        ".pre-commit-config.yaml",
        f"repos:\n- repo: {source}\n  rev: {revision}\n  hooks:\n"
        "  - id: contract-guard\n    args: [--format, json]\n",
    )
    made = pre_commit(project, "install-hooks")
    if made.code:
        pytest.skip(f"unverified: no environment could be made: {made.text[-300:]}")
    project.write("gate/constants.py", "BASE = 7\n")
    project.git("add", "-A")
    inside = project.commit()
    outside = project.run(
        str(Path(sys.executable).parent / "contract-guard"), "check", "--hook", "--format", "json"
    )
    assert (inside.code, outside.code) == (1, 1)
    document = inside.text[inside.text.index("{") : inside.text.rindex("}") + 1]
    assert json.loads(document)["findings"] == json.loads(outside.text)["findings"]
