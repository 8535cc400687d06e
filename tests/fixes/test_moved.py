"""CG101, CG102, CG104: names that live elsewhere or are called otherwise."""

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

Fix = Callable[..., Any]

HELPER = "def make_gate(experts):\n    return experts * 2\n"
BASE = {"pkg/__init__.py": "", "pkg/a.py": HELPER, "pkg/b.py": "OTHER = 1\n"}
MOVED = {"pkg/a.py": "X = 1\n", "pkg/b.py": "OTHER = 1\n" + HELPER}
RENAMED = {"pkg/a.py": HELPER.replace("make_gate", "build_gate")}


def text(source: str) -> str:
    return dedent(source).lstrip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from pkg.a import make_gate\n\ndef test_a():\n    assert make_gate(1)\n",
            "from pkg.b import make_gate\n\ndef test_a():\n    assert make_gate(1)\n",
            id="alone",
        ),
        pytest.param(
            "from pkg.a import X, make_gate  # why\n",
            "from pkg.a import X  # why\nfrom pkg.b import make_gate\n",
            id="beside another name, with a comment",
        ),
        pytest.param(
            "from pkg.a import X, make_gate\nfrom pkg.b import OTHER\n",
            "from pkg.a import X\nfrom pkg.b import OTHER, make_gate\n",
            id="into the import that is there",
        ),
        pytest.param(
            "from pkg.a import make_gate as gate\nfrom pkg.b import OTHER\nassert gate\n",
            "from pkg.b import OTHER, make_gate as gate\nassert gate\n",
            id="under another name; the old statement goes with its line",
        ),
        pytest.param(
            "from pkg.a import (\n    X,\n    make_gate,  # gone\n)\n",
            "from pkg.a import (\n    X,\n)\nfrom pkg.b import make_gate  # gone\n",
            id="out of parentheses that end with a comma",
        ),
        pytest.param(
            "from pkg.a import (X,\n    make_gate)\n",
            "from pkg.a import X\nfrom pkg.b import make_gate\n",
            id="out of parentheses that fit on a line",
        ),
        pytest.param(
            "def test_a():\n    from pkg.a import make_gate\n    assert make_gate(1)\n",
            "def test_a():\n    from pkg.b import make_gate\n    assert make_gate(1)\n",
            id="in a function",
        ),
        pytest.param(
            "x = 1; from pkg.a import make_gate\n",
            "x = 1; from pkg.b import make_gate\n",
            id="behind a semicolon",
        ),
    ],
)
@pytest.mark.parametrize("with_base", [True, False])
def test_a_moved_name(fix: Fix, before: str, after: str, with_base: bool) -> None:
    now = {**BASE, **MOVED, "tests/test_a.py": before}
    then = {**BASE, "tests/test_a.py": before}
    then["pkg/a.py"] += "X = 1\n"
    fixed = fix(now, base=then if with_base else None)
    assert fixed.files["tests/test_a.py"] == after
    assert fixed.rules == ["CG101"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "from pkg.a import make_gate\ndef f(x=make_gate): return make_gate(x)\n",
            "from pkg.a import build_gate\ndef f(x=build_gate): return build_gate(x)\n",
            id="at every use",
        ),
        pytest.param(
            "from pkg.a import make_gate\ndef f(make_gate): return make_gate(1)\nmake_gate(2)\n",
            "from pkg.a import build_gate\ndef f(make_gate): return make_gate(1)\nbuild_gate(2)\n",
            id="a parameter of the name is another thing",
        ),
        pytest.param(
            "from pkg.a import make_gate\nclass C:\n    make_gate = 1\n"
            "    def f(self): return self.make_gate, make_gate(1)\n",
            "from pkg.a import build_gate\nclass C:\n    make_gate = 1\n"
            "    def f(self): return self.make_gate, build_gate(1)\n",
            id="a member of the name is another thing",
        ),
        pytest.param(
            "from pkg.a import make_gate\nx = [make_gate for make_gate in y], make_gate(1)\n",
            "from pkg.a import build_gate\nx = [make_gate for make_gate in y], build_gate(1)\n",
            id="a comprehension",
        ),
        pytest.param(
            "from pkg.a import make_gate as gate\ngate(1)\n",
            "from pkg.a import build_gate as gate\ngate(1)\n",
            id="under another name nothing else changes",
        ),
        pytest.param(
            "from pkg.a import make_gate\nbuild_gate = make_gate(1)\n",
            "from pkg.a import build_gate as make_gate\nbuild_gate = make_gate(1)\n",
            id="the new name is taken",
        ),
        pytest.param(
            '__all__ = ["make_gate"]\nfrom pkg.a import make_gate\nmake_gate(1)\n',
            '__all__ = ["make_gate"]\nfrom pkg.a import build_gate as make_gate\nmake_gate(1)\n',
            id="the file passes it on",
        ),
        pytest.param(
            "from pkg.a import make_gate\ndef f(x: 'list[make_gate]'): ...\n",
            "from pkg.a import build_gate\ndef f(x: 'list[build_gate]'): ...\n",
            id="a quoted annotation",
        ),
        pytest.param(
            "from pkg.a import make_gate\nx = 'make_gate'\n",
            "from pkg.a import build_gate\nx = 'make_gate'\n",
            id="text is text",
        ),
    ],
)
def test_a_renamed_function(fix: Fix, before: str, after: str) -> None:
    fixed = fix({**RENAMED, "tests/test_a.py": before}, base={**BASE, "tests/test_a.py": before})
    assert fixed.files["tests/test_a.py"] == after


def test_a_likeness_alone_is_unsafe(fix: Fix) -> None:
    test = "from pkg.a import make_gates\nmake_gates(1)\n"
    base = {**BASE, "pkg/a.py": "def make_gates(n):\n    return n + 1\n", "tests/test_a.py": test}
    now = {"pkg/a.py": "def make_gate(n):\n    return n * 7 - 3\n"}
    assert fix(now, base=base).files["tests/test_a.py"] == test
    assert len(fix(now, base=base).mended.unsafe) == 1
    fixed = fix(now, base=base, unsafe=True)
    assert fixed.files["tests/test_a.py"] == "from pkg.a import make_gate\nmake_gate(1)\n"


def test_one_revision_knows_no_renaming(fix: Fix) -> None:
    test = "from pkg.a import make_gate\n"
    fixed = fix({**BASE, **RENAMED, "tests/test_a.py": test}, unsafe=True)
    assert fixed.files["tests/test_a.py"] == test
    assert fixed.reasons == ["nothing is certain to have taken its place"]


def test_two_homes_are_none(fix: Fix) -> None:
    files = {
        **BASE,
        **MOVED,
        "pkg/c.py": HELPER,
        "tests/test_a.py": "from pkg.a import make_gate\n",
    }
    assert fix(files, unsafe=True).mended.files == {}


def test_one_plain_word_is_not_enough(fix: Fix) -> None:
    files = {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": "def run(): ...\n"}
    files["tests/test_a.py"] = "from pkg.a import run\n"
    assert fix(files, unsafe=True).mended.files == {}


def test_the_place_from_which_others_take_it(fix: Fix) -> None:
    files = {
        **BASE,
        **MOVED,
        "pkg/__init__.py": "from pkg.b import make_gate\n",
        "tests/test_b.py": "from pkg import make_gate\n",
        "tests/test_a.py": "from pkg.a import make_gate\n",
    }
    assert fix(files).files["tests/test_a.py"] == "from pkg import make_gate\n"


def test_a_relative_import_stays_relative(fix: Fix) -> None:
    files = {**BASE, **MOVED, "pkg/c.py": "from .a import make_gate\n"}
    assert fix(files).files["pkg/c.py"] == "from .b import make_gate\n"


def test_a_line_that_becomes_too_long(fix: Fix) -> None:
    test = "from pkg.a import X, make_gate\nfrom pkg.b import OTHER\n"
    files = {**BASE, **MOVED, "tests/test_a.py": test}
    assert fix(files, line_length=30).files["tests/test_a.py"] == text(
        """
        from pkg.a import X
        from pkg.b import (
            OTHER,
            make_gate,
        )
        """
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "import pkg.a\nimport pkg.b\npkg.a.make_gate(1)\n",
            "import pkg.a\nimport pkg.b\npkg.b.make_gate(1)\n",
            id="the new module is loaded",
        ),
        pytest.param(
            "import pkg.a\npkg.a.make_gate(1)\n",
            "import pkg.a\nfrom pkg.b import make_gate\nmake_gate(1)\n",
            id="nothing here loads the new module",
        ),
        pytest.param(
            "from pkg import a\na.make_gate(1)\n",
            "from pkg import a\nfrom pkg.b import make_gate\nmake_gate(1)\n",
            id="a module under a name of its own",
        ),
    ],
)
def test_an_attribute_of_a_module_that_lost_it(fix: Fix, before: str, after: str) -> None:
    files = {**MOVED, "tests/test_a.py": before, "tests/test_b.py": "import pkg.b\n"}
    fixed = fix(files, base={**BASE, **files, "pkg/a.py": HELPER, "pkg/b.py": "OTHER = 1\n"})
    assert fixed.files["tests/test_a.py"] == after


def test_a_renamed_attribute(fix: Fix) -> None:
    test = "from pkg import a as it\nit.make_gate(it.make_gate)\n"
    fixed = fix({**RENAMED, "tests/test_a.py": test}, base={**BASE, "tests/test_a.py": test})
    assert fixed.files["tests/test_a.py"] == (
        "from pkg import a as it\nit.build_gate(it.build_gate)\n"
    )
    assert fixed.rules == ["CG102", "CG102"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from pkg.a import make_gate\n", "from pkg.sub.a import make_gate\n"),
        ("import pkg.a as it\nit.make_gate\n", "import pkg.sub.a as it\nit.make_gate\n"),
    ],
)
def test_a_module_that_moved(fix: Fix, before: str, after: str) -> None:
    now = {"pkg/a.py": "", "pkg/sub/__init__.py": "", "pkg/sub/a.py": HELPER}
    fixed = fix({**now, "tests/test_a.py": before}, base={**BASE, "tests/test_a.py": before})
    assert fixed.files["tests/test_a.py"] == after


def test_several_names_of_one_statement(fix: Fix) -> None:
    both = "FIRST_ID = 1\nLAST_ID = 2\n"
    files = {"pkg/__init__.py": "", "pkg/a.py": "", "pkg/b.py": both}
    files["tests/test_a.py"] = "from pkg.a import FIRST_ID, LAST_ID\n"
    fixed = fix(files)
    assert fixed.files["tests/test_a.py"] == "from pkg.b import FIRST_ID, LAST_ID\n"
    assert fixed.rules == ["CG101", "CG101"]


def test_line_ends_marks_and_encodings_stay(fix: Fix) -> None:
    source = "# -*- coding: latin-1 -*-\r\nfrom pkg.a import X, make_gate\r\nx = 'é'\r\n"
    files = {**BASE, **MOVED, "tests/test_a.py": source.encode("latin-1")}
    after = fix(files).mended.files["tests/test_a.py"][1]
    assert after == (
        "# -*- coding: latin-1 -*-\r\nfrom pkg.a import X\r\n"
        "from pkg.b import make_gate\r\nx = 'é'\r\n"
    ).encode("latin-1")
    marked = b"\xef\xbb\xbffrom pkg.a import make_gate"
    files["tests/test_a.py"] = marked
    after = fix(files).mended.files["tests/test_a.py"][1]
    assert after == b"\xef\xbb\xbffrom pkg.b import make_gate"


def test_another_function_of_the_name_is_not_its_successor(fix: Fix) -> None:
    test = "from pkg.a import make_gate\n"
    base = {**BASE, "pkg/b.py": "def make_gate():\n    return 'other'\n", "tests/test_a.py": test}
    fixed = fix({"pkg/a.py": "X = 1\n"}, base=base, unsafe=True)
    # It is imported and not used: that alone is mended.
    assert fixed.files["tests/test_a.py"] == ""
    base["tests/test_a.py"] = f"{test}make_gate(1)\n"
    fixed = fix({"pkg/a.py": "X = 1\n"}, base=base, unsafe=True)
    assert fixed.mended.files == {}
    assert fixed.reasons == ["nothing is certain to have taken its place"]


def test_a_plain_word_is_known_by_its_code(fix: Fix) -> None:
    code = "def gather(x):\n    return [x, x]\n"
    test = "from pkg.a import gather\ngather(1)\n"
    base = {"pkg/__init__.py": "", "pkg/a.py": code, "pkg/b.py": "Y = 1\n", "tests/test_a.py": test}
    now = {"pkg/a.py": "", "pkg/b.py": f"Y = 1\n{code}"}
    assert fix(now, base=base).files["tests/test_a.py"] == "from pkg.b import gather\ngather(1)\n"


def test_a_name_that_a_package_passed_on_with_a_star(fix: Fix) -> None:
    test = "from pkg.a import make_gate\nmake_gate(1)\n"
    base = {
        **BASE,
        "pkg/a.py": "from pkg.b import *\n",
        "pkg/b.py": HELPER,
        "tests/test_a.py": test,
    }
    fixed = fix({"pkg/a.py": "X = 1\n"}, base=base)
    assert fixed.files["tests/test_a.py"] == "from pkg.b import make_gate\nmake_gate(1)\n"


def test_a_list_that_did_not_fit_comes_together(fix: Fix) -> None:
    test = "from pkg.a import (\n    X,\n    make_gate,\n)\n"
    files = {**BASE, **MOVED, "tests/test_a.py": test}
    after = fix(files, line_length=27).files["tests/test_a.py"]
    assert after == "from pkg.a import X\nfrom pkg.b import make_gate\n"
    # It did fit, so that the project spreads its lists by its own choice.
    after = fix(files).files["tests/test_a.py"]
    assert after == "from pkg.a import (\n    X,\n)\nfrom pkg.b import make_gate\n"


def test_two_new_names_are_alike(fix: Fix) -> None:
    test = "from pkg.a import valid_tactics\nvalid_tactics(1)\n"
    base = {**BASE, "pkg/a.py": "def valid_tactics(n):\n    return n\n", "tests/test_a.py": test}
    new = "def {}_valid_tactics(n):\n    return n + {}\n"
    now = {"pkg/a.py": new.format("rubin", 1) + new.format("blackwell", 2)}
    assert fix(now, base=base, unsafe=True).mended.files == {}
    alone = {"pkg/a.py": new.format("rubin", 1)}
    assert fix(alone, base=base, unsafe=True).rules == ["CG101"]


def test_code_that_stood_twice_tells_nothing(fix: Fix) -> None:
    code = "def stage_inputs(x):\n    return [x]\n"
    test = "from pkg.a import stage_inputs\nstage_inputs(1)\n"
    base = {"pkg/__init__.py": "", "pkg/a.py": code, "pkg/b.py": code, "tests/test_a.py": test}
    now = {"pkg/a.py": "X = 1\n", "pkg/b.py": "", "pkg/c.py": code}
    assert fix(now, base=base, unsafe=True).mended.files == {}


def test_code_that_came_twice_tells_nothing(fix: Fix) -> None:
    code = "def stage_inputs(x):\n    return [x]\n"
    test = "from pkg.a import stage_inputs\nstage_inputs(1)\n"
    base = {"pkg/__init__.py": "", "pkg/a.py": code, "tests/test_a.py": test}
    now = {"pkg/a.py": "X = 1\n", "pkg/b.py": code, "pkg/c.py": code}
    assert fix(now, base=base, unsafe=True).mended.files == {}
    now["pkg/c.py"] = code.replace("[x]", "(x, 1)")
    assert fix(now, base=base).files["tests/test_a.py"].startswith("from pkg.b import")


def test_a_module_taken_from_its_package(fix: Fix) -> None:
    lib = "def load_all(x):\n    return x + 1\nclass Box:\n    def open_it(self): return 12\n"
    test = (
        "from pkg import load_tools\nfrom unittest.mock import patch\n"
        '@patch.object(load_tools, "load_all")\ndef test_a(m): assert load_tools.Box\n'
    )
    base = {"pkg/__init__.py": "", "pkg/load_tools.py": lib, "tests/test_a.py": test}
    now = {"pkg/load_tools.py": "", "pkg/loading.py": lib, "tests/test_a.py": test}
    fixed = fix(now, base=base)
    assert fixed.files["tests/test_a.py"] == test.replace("load_tools", "loading")
    assert [f.safety for _, f in fixed.mended.fixed] == ["safe"]
    below = {**now, "pkg/loading.py": "", "pkg/io/__init__.py": "", "pkg/io/load_tools.py": lib}
    assert fix(below, base=base).files["tests/test_a.py"] == test.replace(
        "from pkg import", "from pkg.io import"
    )


@pytest.mark.parametrize(
    "other",
    [
        "from tests.helpers import make_gate\n",
        "from tests.helpers import *\n",
        "from tests import helpers\nhelpers.make_gate(1)\n",
        "import tests.helpers\ntests.helpers.make_gate(1)\n",
        'from unittest import mock\nmock.patch("tests.helpers.make_gate")\n',
        "from tests import helpers\ndef test_b(monkeypatch):\n"
        '    monkeypatch.setattr(helpers, "make_gate", 1)\n',
    ],
)
def test_a_name_that_others_take_from_the_file_stays(fix: Fix, other: str) -> None:
    helpers = "from pkg.a import make_gate\nmake_gate(1)\n"
    tests = {"tests/__init__.py": "", "tests/helpers.py": helpers}
    base = {**BASE, **tests, "tests/test_b.py": other}
    fixed = fix({**RENAMED, **tests, "tests/test_b.py": other}, base=base)
    kept = "from pkg.a import build_gate as make_gate\nmake_gate(1)\n"
    assert fixed.files["tests/helpers.py"] == kept
    assert list(fixed.mended.files) == ["tests/helpers.py"]
    alone = fix({**RENAMED, **tests}, base={**BASE, **tests})
    assert alone.files["tests/helpers.py"] == "from pkg.a import build_gate\nbuild_gate(1)\n"


def test_a_renamed_member(fix: Fix) -> None:
    kinds = "import enum\nclass Kind(enum.Enum):\n    FIRST = 1\n    SECOND = 2\n"
    test = "from pkg import a\nfrom pkg.a import Kind\n"
    test += "x = [Kind.FIRST, a.Kind.FIRST.value, Kind.SECOND]\n"
    base = {"pkg/__init__.py": "", "pkg/a.py": kinds, "tests/test_a.py": test}
    fixed = fix({**base, "pkg/a.py": kinds.replace("FIRST", "PRIMARY")}, base=base)
    assert fixed.files["tests/test_a.py"] == test.replace("FIRST", "PRIMARY")
    assert fixed.rules == ["CG102", "CG102"]


def test_a_module_that_goes_on_with_its_own_old_name(fix: Fix) -> None:
    base = {
        "pkg/__init__.py": "",
        "pkg/memory.py": """
            def find_size(n=None):
                if n is None:
                    return find_size
                return n


            def other(find=lambda: find_size):
                return [find_size(n) for n in range(3)]
        """,
    }
    now = base["pkg/memory.py"].replace("def find_size", "def find_batch_size")
    fixed = fix({"pkg/memory.py": now}, base=base, unsafe=True)
    text = base["pkg/memory.py"].replace("find_size", "find_batch_size")
    assert fixed.files["pkg/memory.py"] == dedent(text).lstrip("\n")
    assert set(fixed.rules) == {"CG101"}


def test_an_own_name_that_means_something_else_there(fix: Fix) -> None:
    base = {
        "pkg/__init__.py": "",
        "pkg/memory.py": """
            def find_size(n=None):
                return n


            def other(find_batch_size):
                return find_size(find_batch_size)
        """,
    }
    now = base["pkg/memory.py"].replace("def find_size", "def find_batch_size")
    fixed = fix({"pkg/memory.py": now}, base=base, unsafe=True)
    assert fixed.files["pkg/memory.py"] == dedent(now).lstrip("\n")
    assert fixed.reasons == ["`find_batch_size` means something else on line 6"]


def test_an_own_name_that_moved_away(fix: Fix) -> None:
    base = {
        "pkg/__init__.py": "",
        "pkg/memory.py": """
            import os


            def find_size(n=None):
                return os.sep, n


            def other():
                return find_size(1)
        """,
        "pkg/sizes.py": "import os\n",
    }
    gone = "def find_size(n=None):\n    return os.sep, n\n"
    now = "import os\n\n\ndef other():\n    return find_size(1)\n"
    fixed = fix(
        {"pkg/memory.py": now, "pkg/sizes.py": f"import os\n\n\n{gone}"}, base=base, unsafe=True
    )
    assert "from pkg.sizes import find_size\n" in fixed.files["pkg/memory.py"]
