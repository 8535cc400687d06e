"""Calls through the attributes of packages, and through what packages pass on."""

import ast

import pytest

from contract_guard.mirrors.exports import Exports
from contract_guard.mirrors.fragments import file_fragments
from contract_guard.mirrors.index import CALLED, CALLEE, Index

SOURCES = {
    "pkg/__init__.py": (
        "from . import sub\nfrom .sub import scale as scale_root\nfrom .api import *\n"
    ),
    "pkg/api.py": "from pkg.sub.deep import Box\n",
    "pkg/sub/__init__.py": "from . import deep\nfrom .deep import scale\n",
    "pkg/sub/deep/__init__.py": "from ._impl import scale, Box\n",
    "pkg/sub/deep/_impl.py": (
        "def scale(x):\n    return _core(x)\ndef _core(x):\n    return x * 2 + 1\n"
        "class Box:\n    def area(self):\n        return 2\n"
    ),
    "pkg/loop.py": "from .loop import scale\nfrom pkg.loop import *\n",
    "pkg/cycle_a.py": "from .cycle_b import *\n",
    "pkg/cycle_b.py": "from .cycle_a import *\n",
}
IMPL = "pkg/sub/deep/_impl.py"


@pytest.mark.parametrize(
    ("dotted", "found"),
    [
        ("pkg.sub.deep._impl.scale", [(IMPL, "scale")]),
        ("pkg.sub.deep.scale", [(IMPL, "scale")]),
        ("pkg.sub.scale", [(IMPL, "scale")]),
        ("pkg.scale_root", [(IMPL, "scale")]),
        ("pkg.Box.area", [(IMPL, "area")]),
        ("pkg.scale", []),
        ("pkg.absent.scale", []),
        ("other.scale", []),
        ("pkg.loop.scale", []),
        ("pkg.cycle_a.scale", []),
    ],
)
def test_what_a_dotted_name_stands_for(dotted: str, found: list[tuple[str, str]]) -> None:
    files = {path: file_fragments(ast.parse(source)) for path, source in SOURCES.items()}
    assert [*Exports(files).defined(dotted, "tests/test_it.py")] == found


@pytest.mark.parametrize(
    ("imported", "call"),
    [
        ("import pkg as p", "p.scale_root(3)"),
        ("import pkg", "pkg.sub.scale(3)"),
        ("import pkg.sub as s", "s.scale(3)"),
        ("from pkg.sub import deep", "deep.scale(3)"),
        ("import pkg.sub.deep as d", "d.scale(3)"),
        ("from pkg import scale_root", "scale_root(3)"),
        ("from pkg.sub import scale as s", "s(3)"),
    ],
)
def test_a_call_through_a_package_is_reached(imported: str, call: str) -> None:
    test = f"{imported}\n\ndef test_it():\n    assert {call} == 7\n"
    sources = {**SOURCES, "tests/test_it.py": test}
    files = {path: file_fragments(ast.parse(source)) for path, source in sources.items()}
    index = Index(files, frozenset({"tests/test_it.py"}))
    (function,) = files["tests/test_it.py"].functions
    reach = index.reach("tests/test_it.py", function.calls)
    assert reach[index.number(IMPL, "scale", 1)] == CALLED
    assert reach[index.number(IMPL, "_core", 3)] == CALLEE
