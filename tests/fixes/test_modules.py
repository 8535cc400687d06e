"""CG104, CG105: modules that live elsewhere, in every form in which a file names one."""

from collections.abc import Callable
from typing import Any

import pytest

Fix = Callable[..., Any]

CORE = "def make_gate(experts):\n    return experts * 2\nX = 12\n"
BASE = {"pkg/__init__.py": "", "pkg/core.py": CORE, "pkg/other.py": "Y = 1\n"}
MOVED = {"pkg/core.py": "", "pkg/kernel.py": CORE}


def mended(fix: Fix, before: str, base: dict[str, str], now: dict[str, str], **options: Any) -> Any:
    test = {"tests/test_a.py": before}
    return fix({**now, **test}, base={**base, **test}, **options)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import pkg.core\n\ndef test_a(x: 'list[pkg.core.X]'):\n"
            "    assert pkg.core.make_gate(pkg.core.X) or f'{pkg.core.X}'\n",
            "import pkg.kernel\n\ndef test_a(x: 'list[pkg.kernel.X]'):\n"
            "    assert pkg.kernel.make_gate(pkg.kernel.X) or f'{pkg.kernel.X}'\n",
            id="a dotted import, with its uses",
        ),
        pytest.param(
            "import pkg.other, pkg.core\nassert pkg.core.X != pkg.other.Y\n",
            "import pkg.other, pkg.kernel\nassert pkg.kernel.X != pkg.other.Y\n",
            id="beside another module of the package",
        ),
        pytest.param(
            "import pkg.core as core\nassert core.X\n",
            "import pkg.kernel as core\nassert core.X\n",
            id="under another name",
        ),
        pytest.param(
            "from pkg import core\nassert core.X\n",
            "from pkg import kernel\nassert kernel.X\n",
            id="from its package",
        ),
        pytest.param(
            "import pytest\ncore = pytest.importorskip('pkg.core', reason='x')\n",
            "import pytest\ncore = pytest.importorskip('pkg.kernel', reason='x')\n",
            id="importorskip",
        ),
        pytest.param(
            "from importlib import import_module\ncore = import_module(\n    'pkg.core')\n",
            "from importlib import import_module\ncore = import_module(\n    'pkg.kernel')\n",
            id="import_module",
        ),
        pytest.param(
            "try:\n    from pkg.core import X\nexcept ImportError:\n    X = 0\n",
            "try:\n    from pkg.kernel import X\nexcept ImportError:\n    X = 0\n",
            id="behind a guard",
        ),
        pytest.param(
            "def test_a(monkeypatch):\n    monkeypatch.setattr('pkg.core.X', 1)\n",
            "def test_a(monkeypatch):\n    monkeypatch.setattr('pkg.kernel.X', 1)\n",
            id="what is patched",
        ),
    ],
)
def test_a_module_under_another_name(fix: Fix, before: str, after: str) -> None:
    fixed = mended(fix, before, BASE, MOVED)
    assert fixed.files["tests/test_a.py"] == after
    assert fixed.reasons == []


def test_the_name_of_another_package(fix: Fix) -> None:
    """What the old package is used for beside the module would lose its import."""
    base = {"old/__init__.py": "A = 1\n", "old/core.py": CORE}
    now = {"old/__init__.py": "", "old/core.py": "", "new/__init__.py": "A = 1\n"}
    now["new/core.py"] = CORE
    alone = "import old.core\nassert old.core.X\n"
    fixed = mended(fix, alone, base, now)
    assert fixed.files["tests/test_a.py"] == "import new.core\nassert new.core.X\n"
    fixed = mended(fix, alone + "print(old)\n", base, now)
    assert fixed.files["tests/test_a.py"] == alone + "print(old)\n"
    assert fixed.reasons == ["it is now `new`, and `old` is used for more than it here"]


def test_a_name_that_comes_through_a_module_that_is_mended_too(fix: Fix) -> None:
    """What a pass mends can tell the next one what took the place of a name."""
    through = "from old.core import X\n"
    base = {"old/__init__.py": "A = 1\n", "old/core.py": CORE, "old/a.py": through}
    now = dict.fromkeys(base, "") | {
        "new/__init__.py": "A = 1\n",
        "new/core.py": CORE,
        "new/a.py": through,
    }
    fixed = mended(fix, "from old.a import X\n", base, now)
    assert fixed.files["new/a.py"] == "from new.core import X\n"
    assert fixed.files["tests/test_a.py"] == "from new.a import X\n"
    assert fixed.reasons == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import pkg.core\ndef test_a():\n    make_gate = pkg.core.make_gate(pkg.core.X)\n",
            "import pkg.core\nfrom pkg import other\n"
            "def test_a():\n    make_gate = other.make_gate(pkg.core.X)\n",
            id="a name that the file uses for something else comes by its module",
        ),
        pytest.param(
            "from pkg.core import make_gate  # why\nfrom pkg.other import Y\n",
            "from pkg.other import make_gate  # why\nfrom pkg.other import Y\n",
            id="a comment behind the import stays behind it",
        ),
        pytest.param(
            "from pkg.core import (\n    X,\n    make_gate,  # why\n)\n",
            "from pkg.core import (\n    X,\n)\nfrom pkg.other import make_gate  # why\n",
            id="a comment on the name goes with it",
        ),
        pytest.param(
            "from pkg.core import (  # all\n    make_gate,  # why\n)  # end\n",
            "from pkg.other import make_gate  # all  # why  # end\n",
            id="comments inside of an import of which nothing is left",
        ),
    ],
)
def test_a_name_of_another_module(fix: Fix, before: str, after: str) -> None:
    code, constant = CORE.split("X", maxsplit=1)
    now = {"pkg/core.py": f"X{constant}", "pkg/other.py": f"Y = 1\n{code}"}
    assert mended(fix, before, BASE, now).files["tests/test_a.py"] == after


def test_a_package_that_imports_its_module_makes_it_an_attribute(fix: Fix) -> None:
    base = {"pkg/__init__.py": "from .core import X\n", "pkg/core.py": CORE}
    now = {"pkg/__init__.py": "from .kernel import X\n", "pkg/core.py": "", "pkg/kernel.py": CORE}
    fixed = mended(fix, "import pkg\nassert pkg.core.make_gate(1)\n", base, now)
    assert fixed.files["tests/test_a.py"] == "import pkg\nassert pkg.kernel.make_gate(1)\n"


@pytest.mark.parametrize("passing", ["from .core import *\n", "from .core import {}\n"])
def test_a_package_that_passes_the_new_name_on_is_named_still(fix: Fix, passing: str) -> None:
    before = "import pkg\nfrom pkg import make_gate\nassert pkg.make_gate(1) == make_gate(1)\n"
    base = {**BASE, "pkg/__init__.py": passing.format("make_gate")}
    now = {
        "pkg/__init__.py": passing.format("build_gate"),
        "pkg/core.py": CORE.replace("make_gate", "build_gate"),
    }
    fixed = mended(fix, before, base, now)
    assert fixed.files["tests/test_a.py"] == before.replace("make_gate", "build_gate")


def test_annotations_in_quotes_follow_an_attribute(fix: Fix) -> None:
    before = "import pkg.core\nA: 'list[pkg.core.X]' = pkg.core.X\nB: 'pkg.core.XY' = 1\n"
    now = {"pkg/core.py": CORE.replace("X = 12", "COUNT = 12")}
    fixed = mended(fix, before, BASE, now)
    assert fixed.files["tests/test_a.py"] == before.replace("core.X]", "core.COUNT]").replace(
        "core.X\n", "core.COUNT\n"
    )


def test_what_is_not_followed_is_told(fix: Fix) -> None:
    before = (
        "from pkg.core import make_gate\n"
        "def test_a(g):\n"
        "    globals()['make_gate'] = g\n"
        "    x = make_gate  # type: make_gate\n"
    )
    now = {"pkg/core.py": CORE.replace("make_gate", "build_gate")}
    fixed = mended(fix, before, BASE, now)
    assert [each.left for _, each in fixed.mended.fixed] == [
        "`make_gate` stays in 1 text and 1 type comment"
    ]
    assert "x = build_gate  # type: make_gate" in fixed.files["tests/test_a.py"]
