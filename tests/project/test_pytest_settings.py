from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from contract_guard.errors import UserError
from contract_guard.project.pytest_settings import PytestSettings, read_pytest_settings

Write = Callable[[Mapping[str, str | bytes]], Path]

EXPECTED = PytestSettings(
    python_files=("check_*.py", "test_*.py"), pythonpath=("src", "lib a"), testpaths=("tests",)
)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "pytest.ini",
            "[pytest]\npython_files = check_*.py\n  test_*.py\npythonpath = src 'lib a'\n"
            "testpaths = tests\n",
        ),
        (
            "tox.ini",
            "[tox]\n[pytest]\npython_files = check_*.py test_*.py\npythonpath = src 'lib a'\n"
            "testpaths = tests\n",
        ),
        (
            "setup.cfg",
            "[tool:pytest]\npython_files = check_*.py test_*.py\npythonpath = src 'lib a'\n"
            "testpaths = tests\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest.ini_options]\npython_files = ['check_*.py', 'test_*.py']\n"
            "pythonpath = ['src', 'lib a']\ntestpaths = 'tests'\n",
        ),
        (
            "pyproject.toml",
            "[tool.pytest]\npython_files = ['check_*.py', 'test_*.py']\n"
            "pythonpath = ['src', 'lib a']\ntestpaths = ['tests']\n",
        ),
        (
            "pytest.toml",
            "[pytest]\npython_files = ['check_*.py', 'test_*.py']\n"
            "pythonpath = ['src', 'lib a']\ntestpaths = ['tests']\n",
        ),
    ],
)
def test_each_file(name: str, content: str, write: Write) -> None:
    assert read_pytest_settings(write({name: content})) == EXPECTED


def test_defaults(root: Path) -> None:
    assert read_pytest_settings(root) == PytestSettings(("test_*.py", "*_test.py"), (), ())


def test_pytest_ini_counts_even_when_empty(write: Write) -> None:
    place = write({".pytest.ini": "", "tox.ini": "[pytest]\npythonpath = src\n"})
    assert read_pytest_settings(place) == PytestSettings()


def test_files_without_a_section_are_passed_over(write: Write) -> None:
    place = write(
        {
            "pyproject.toml": "[tool.pytest-enabler]\n",
            "tox.ini": "[tox]\n",
            "setup.cfg": "[tool:pytest]\npythonpath = src\n",
        }
    )
    assert read_pytest_settings(place).pythonpath == ("src",)


@pytest.mark.parametrize("content", [b"[pytest\n", b"[pytest]\nx = \xff\n"])
def test_broken(content: bytes, write: Write) -> None:
    with pytest.raises(UserError, match=r"^pytest\.ini: cannot be parsed: "):
        read_pytest_settings(write({"pytest.ini": content}))


def test_a_directory_in_the_place_of_a_file(root: Path) -> None:
    (root / "tox.ini").mkdir()
    with pytest.raises(UserError, match=r"tox.ini: a directory"):
        read_pytest_settings(root)


def test_directories_with_settings_of_their_own(write: Write) -> None:
    root = write(
        {
            "pytest.ini": "[pytest]\npython_files = test_*.py\n",
            "one/pyproject.toml": "[tool.pytest.ini_options]\npython_files = ['check_*.py']\n",
            "one/tox.ini": "[pytest]\npython_files = other_*.py\n",
            "two/setup.cfg": "[metadata]\nname = two\n",
            "three/pytest.ini": "no section",
        }
    )
    paths = ["pytest.ini", "one/pyproject.toml", "one/tox.ini", "two/setup.cfg", "three/pytest.ini"]
    settings = read_pytest_settings(root, paths)
    assert settings.python_files == ("test_*.py",)
    assert settings.nested == (("one", PytestSettings(python_files=("check_*.py",))),)
