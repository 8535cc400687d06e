"""CG103: targets of patches."""

from collections.abc import Callable
from typing import Any

import pytest

Fix = Callable[..., Any]

LIB = "def load_all(x):\n    return x + 1\n"
BASE = {
    "pkg/__init__.py": "",
    "pkg/old.py": f"{LIB}def run(x):\n    return load_all(x)\n"
    "class Box:\n    def open_it(self): return 1\n",
    "pkg/new.py": "",
}
RENAMED = {"pkg/old.py": BASE["pkg/old.py"].replace("load_all", "load_every")}
MEMBER = {"pkg/old.py": BASE["pkg/old.py"].replace("open_it", "open_box")}
HEAD = (
    "from unittest import mock\nfrom unittest.mock import patch\n"
    "from pkg import old\nfrom pkg.old import Box\n"
)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('@patch("pkg.old.load_all")', '@patch("pkg.old.load_every")'),
        (
            "@mock.patch('pkg.old.load_all', lambda x: x)",
            "@mock.patch('pkg.old.load_every', lambda x: x)",
        ),
        ('@patch.object(old, "load_all")', '@patch.object(old, "load_every")'),
        ("@patch.object(old, 'load_all', 1)", "@patch.object(old, 'load_every', 1)"),
        ("@patch.multiple(old, load_all=1)", "@patch.multiple(old, load_every=1)"),
        ('@patch.multiple("pkg.old", load_all=1)', '@patch.multiple("pkg.old", load_every=1)'),
        ('@patch(f"{MOD}.load_all")', '@patch(f"{MOD}.load_every")'),
        ('@patch(MOD + ".load_all")', '@patch(MOD + ".load_every")'),
        ("@patch(TARGET)", '@patch("pkg.old.load_every")'),
        ('@patch("pkg.old"\n    ".load_all")', '@patch("pkg.old"\n    ".load_every")'),
    ],
)
def test_a_renamed_function(fix: Fix, before: str, after: str) -> None:
    test = HEAD + 'MOD = "pkg.old"\nTARGET = "pkg.old.load_all"\n{}\ndef test_a(m): assert m\n'
    fixed = fix(
        {**RENAMED, "tests/test_a.py": test.format(before)},
        base={**BASE, "tests/test_a.py": test.format(before)},
    )
    assert fixed.files["tests/test_a.py"] == test.format(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('@patch("pkg.old.Box.open_it")', '@patch("pkg.old.Box.open_box")'),
        ('@patch.object(Box, "open_it")', '@patch.object(Box, "open_box")'),
        ('@patch.multiple("pkg.old.Box", open_it=1)', '@patch.multiple("pkg.old.Box", open_box=1)'),
        ("@patch.multiple(Box, open_it=1)", "@patch.multiple(Box, open_box=1)"),
        (
            '@patch.object(old.Box, attribute="open_it")',
            '@patch.object(old.Box, attribute="open_box")',
        ),
    ],
)
def test_a_renamed_method(fix: Fix, before: str, after: str) -> None:
    test = HEAD + "{}\ndef test_a(m): assert m\n"
    fixed = fix(
        {**MEMBER, "tests/test_a.py": test.format(before)},
        base={**BASE, "tests/test_a.py": test.format(before)},
    )
    assert fixed.files["tests/test_a.py"] == test.format(after)


MOVED = {
    "pkg/old.py": "from pkg.new import load_all as load\ndef run(x):\n    return load(x)\n",
    "pkg/new.py": LIB,
    "pkg/user.py": "from pkg.new import load_all\ndef use(x):\n    return load_all(x)\n",
}


def test_a_moved_function_is_patched_where_it_is_looked_up(fix: Fix) -> None:
    test = 'from unittest.mock import patch\n@patch("pkg.old.load_all")\ndef test_a(m): assert m\n'
    now = {**MOVED, "pkg/old.py": "from pkg.new import other\n"}
    now["pkg/new.py"] += "other = 1\n"
    fixed = fix({**now, "tests/test_a.py": test}, base={**BASE, "tests/test_a.py": test})
    assert '@patch("pkg.user.load_all")' in fixed.files["tests/test_a.py"]
    assert [f.safety for _, f in fixed.mended.fixed] == ["safe"]


def test_two_places_that_look_it_up_are_left_to_a_person(fix: Fix) -> None:
    test = 'from unittest.mock import patch\n@patch("pkg.old.load_all")\ndef test_a(m): assert m\n'
    now = {**MOVED, "pkg/old.py": "Y = 1\n", "pkg/third.py": MOVED["pkg/user.py"]}
    fixed = fix(
        {**now, "tests/test_a.py": test}, base={**BASE, "tests/test_a.py": test}, unsafe=True
    )
    assert fixed.files["tests/test_a.py"] == test
    assert fixed.reasons == [
        "it is looked up in several places: pkg.third.load_all, pkg.user.load_all"
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "from pkg import old\ndef test_a(monkeypatch):\n"
            '    monkeypatch.setattr(old, "load_all", 1)\n',
            "from pkg import old, user\ndef test_a(monkeypatch):\n"
            '    monkeypatch.setattr(user, "load_all", 1)\n',
        ),
        (
            "from pkg import old\nimport pkg.user as u\ndef test_a(monkeypatch):\n"
            '    monkeypatch.setattr(old, "load_all", 1)\n',
            "from pkg import old\nimport pkg.user as u\ndef test_a(monkeypatch):\n"
            '    monkeypatch.setattr(u, "load_all", 1)\n',
        ),
    ],
)
def test_another_object(fix: Fix, before: str, after: str) -> None:
    now = {**MOVED, "pkg/old.py": "Y = 1\n", "tests/test_a.py": before}
    fixed = fix(now, base={**BASE, "tests/test_a.py": before})
    assert fixed.files["tests/test_a.py"] == after


def test_a_patch_that_changes_nothing(fix: Fix) -> None:
    test = 'from unittest.mock import patch\n@patch("pkg.old.load_all")\ndef test_a(m): assert m\n'
    files = {
        **MOVED,
        "pkg/__init__.py": "",
        "pkg/old.py": "from pkg.new import load_all\n",
        "tests/test_a.py": test,
    }
    assert fix(files).mended.files == {}
    fixed = fix(files, unsafe=True)
    assert '@patch("pkg.user.load_all")' in fixed.files["tests/test_a.py"]


def test_a_module_that_moved(fix: Fix) -> None:
    test = 'from unittest.mock import patch\n@patch("pkg.old.load_all")\ndef test_a(m): assert m\n'
    now = {"pkg/old.py": "", "pkg/inner/__init__.py": "", "pkg/inner/old.py": BASE["pkg/old.py"]}
    fixed = fix({**now, "tests/test_a.py": test}, base={**BASE, "tests/test_a.py": test})
    assert '@patch("pkg.inner.old.load_all")' in fixed.files["tests/test_a.py"]


def test_names_of_a_module_that_went_to_several(fix: Fix) -> None:
    """What a `from` import takes from one module, and what now stands in two."""
    both = {"FIRST_ID": "FIRST_ID = 11\n", "LAST_ID": "LAST_ID = 12\n"}
    test = "from pkg.ids import FIRST_ID, LAST_ID\ndef test_a(): assert FIRST_ID + LAST_ID\n"
    base = {"pkg/__init__.py": "", "pkg/ids.py": "".join(both.values()), "tests/test_a.py": test}
    now = {"pkg/ids.py": "", "pkg/first.py": both["FIRST_ID"], "pkg/last.py": both["LAST_ID"]}
    fixed = fix(now, base=base, unsafe=True)
    assert fixed.files["tests/test_a.py"] == test
    assert fixed.reasons == ["its names went to different modules: pkg.first, pkg.last"]
