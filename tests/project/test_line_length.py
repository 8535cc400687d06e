"""The length of a line, as the formatter of a project is told."""

from pathlib import Path

import pytest

from contract_guard.project.line_length import line_length

RUFF = {"pyproject.toml": "[tool.ruff]\nline-length = 100\n"}
BLACK = {"pyproject.toml": "[tool.black]\nline-length = 90\n"}
FLAKE8 = {"setup.cfg": "[flake8]\nmax-line-length = 79\n"}


@pytest.mark.parametrize(
    ("files", "length"),
    [
        ({}, 88),
        (RUFF, 100),
        (BLACK, 90),
        (FLAKE8, 79),
        ({**RUFF, **FLAKE8}, 100),
        ({**BLACK, "ruff.toml": "line-length = 110\n"}, 110),
        ({".ruff.toml": "line-length = 120\n"}, 120),
        ({"pyproject.toml": "[tool.ruff]\nselect = []\n", **FLAKE8}, 79),
        ({"pyproject.toml": "no = = toml", **FLAKE8}, 79),
        ({"pyproject.toml": "tool = 1\n"}, 88),
        ({"setup.cfg": "[flake8]\nmax-line-length = long\n"}, 88),
        ({"setup.cfg": "[flake8]\nmax-line-length = %(x)s\n"}, 88),
        ({"setup.cfg": "[metadata]\nname = x\n"}, 88),
        ({"setup.cfg": "no section\n"}, 88),
    ],
)
def test_what_a_project_says(tmp_path: Path, files: dict[str, str], length: int) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert line_length(tmp_path) == length
