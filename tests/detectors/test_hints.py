"""What is said to have taken the place of a name or a module that is gone."""

import pytest

from contract_guard.detectors.run import run
from contract_guard.facts.extract import extract
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

UNKNOWN = "import what took the place of `{}`; if a build makes it, see `dynamic-names`"


def hints(**sources: str) -> list[str]:
    files = {"pkg/__init__.py": "", "other/__init__.py": ""}
    files |= {f"{name.replace('__', '/')}.py": text for name, text in sources.items()}
    tree = Tree(files={path: extract(text.encode()) for path, text in files.items()})
    found = run(build(tree), lambda path: files[path].encode(), select=("CG1",))
    return [finding.help for finding in found]


@pytest.mark.parametrize(
    ("target", "content", "test", "said"),
    [
        (
            "pkg__engine__core",
            "def f(): ...\n",
            "from pkg.core import f",
            "now in `pkg.engine.core`",
        ),
        ("pkg__cores", "f = 1\n", "import pkg.core", "renamed to `pkg.cores`?"),
        ("other__core", "x = 1\n", "import pkg.core", UNKNOWN.format("pkg.core")),
        ("pkg__base", "x = 1\n", "import pkg.distributed", UNKNOWN.format("pkg.distributed")),
        ("pkg__cores", "x = 1\n", "from pkg.core import f", UNKNOWN.format("pkg.core")),
    ],
)
def test_a_module(target: str, content: str, test: str, said: str) -> None:
    (help_,) = hints(**{target: content, "tests__test_a": f"{test}\n"})
    assert said in help_


def test_a_patch_of_a_module_that_is_gone() -> None:
    test = "from unittest.mock import patch\n\n\n@patch('pkg.core.load')\ndef test_a(m): ...\n"
    (help_,) = hints(pkg__engine="def load(): ...\n", tests__test_a=test)
    assert help_ == "`load` is now in `pkg.engine`: import it from there"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("NVFP4 = 1\n", "use what took the place of `MXFP4`, or remove what depends on it"),
        ("mxfp_4 = 1\n", "renamed to `mxfp_4`?"),
    ],
)
def test_a_name(there: str, said: str) -> None:
    test = "from pkg.formats import MXFP4\n"
    assert hints(pkg__formats=there, tests__test_a=test) == [said]
