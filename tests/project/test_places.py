from pathlib import Path

from contract_guard.project.places import MANY_FILES, scope_notice


def test_a_project_is_looked_at_without_a_word(root: Path) -> None:
    (root / "pyproject.toml").write_text("")
    assert scope_notice(root, MANY_FILES - 1) == ""


def test_a_large_project_is_told(root: Path) -> None:
    (root / "pyproject.toml").write_text("")
    assert scope_notice(root, 12_345) == f"looking at all 12,345 Python files of {root}"


def test_a_directory_that_is_no_project_is_told_earlier(root: Path) -> None:
    assert scope_notice(root, 20) == ""
    assert scope_notice(root, 1_000) == (
        f"looking at all 1,000 Python files of {root}, which does not look like a project"
    )
