"""A module that a test puts into `sys.modules`: who may get the stub, and who gets the module."""

import pytest

STUBBER = 'import sys, types\nsys.modules["pkg.kernels"] = types.ModuleType("pkg.kernels")\n'
FILES = {
    "pyproject.toml": "",
    "pkg/__init__.py": "",
    "pkg/kernels.py": "launch = 1\n",
    "tests/conftest.py": "",
}
ASKS = "from pkg.kernels import gone\n"


@pytest.mark.parametrize(
    ("stubber", "asker", "status"),
    [
        ("tests/cpu/test_a.py", "tests/gpu/test_b.py", "missing"),
        ("tests/cpu/test_a.py", "tests/test_b.py", "missing"),
        ("tests/cpu/test_a.py", "pkg/user.py", "missing"),
        ("tests/cpu/test_a.py", "tests/cpu/test_b.py", "unknown"),
        ("tests/cpu/test_a.py", "tests/cpu/deep/test_b.py", "unknown"),
        ("tests/conftest.py", "tests/gpu/test_b.py", "unknown"),
        ("pkg/fakes.py", "tests/gpu/test_b.py", "unknown"),
        ("pkg/fakes.py", "pkg/user.py", "unknown"),
    ],
)
def test_who_sees_it(registry_of, stubber: str, asker: str, status: str) -> None:
    registry = registry_of({**FILES, stubber: STUBBER, asker: ASKS})
    (found,) = registry.modules.at(asker).facts.imports
    assert registry.resolve_import(asker, found).status == status


@pytest.mark.parametrize(
    "taken", ["import cpu._fakes", "from tests.cpu import _fakes", "from tests.cpu._fakes import x"]
)
def test_who_imports_the_stubbing_file_sees_it(registry_of, taken: str) -> None:
    asker = "tests/gpu/test_b.py"
    registry = registry_of({**FILES, "tests/cpu/_fakes.py": STUBBER, asker: f"{taken}\n{ASKS}"})
    found = registry.modules.at(asker).facts.imports[-1]
    assert registry.resolve_import(asker, found).status == "unknown"


def test_a_module_above_it_counts(registry_of) -> None:
    files = {"pkg/deep/__init__.py": "", "pkg/deep/kernels.py": "launch = 1\n", **FILES}
    stubber = STUBBER.replace("pkg.kernels", "pkg.deep")
    asker = "tests/cpu/test_b.py"
    registry = registry_of(
        {**files, "tests/cpu/test_a.py": stubber, asker: "from pkg.deep.kernels import gone\n"}
    )
    (found,) = registry.modules.at(asker).facts.imports
    assert registry.resolve_import(asker, found).status == "unknown"
