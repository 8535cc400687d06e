"""Changes to contracts between two trees, each with who names them."""

import pytest

from contract_guard.registry.compare import compare

PKG = {"pkg/__init__.py": "", "tests/test_a.py": ""}


@pytest.fixture
def changes(registry_of):
    def make(old: dict[str, str], new: dict[str, str]) -> dict[tuple[str, str], object]:
        found = compare(registry_of(PKG | old), registry_of(PKG | new))
        return {(change.symbol, change.kind): change for change in found}

    return make


def places(change) -> list[tuple[str, int, str, bool]]:
    return [(c.path, c.line, c.form, c.updated) for c in change.consumers]


TEST = "from pkg.ids import PAD\ndef test_a():\n    assert PAD\n"


def test_nothing_changed(changes) -> None:
    tree = {"pkg/ids.py": "PAD = 1\n", "tests/test_a.py": TEST}
    assert changes(tree, tree) == {}


def test_what_nobody_else_names_is_no_contract(changes) -> None:
    assert changes({"pkg/ids.py": "PAD = 1\n"}, {"pkg/ids.py": "\n"}) == {}


def test_a_removed_name_and_a_consumer_that_followed(changes) -> None:
    found = changes(
        {"pkg/ids.py": "PAD = 1\n", "tests/test_a.py": TEST},
        {"pkg/ids.py": "\n", "tests/test_a.py": "def test_a(): ...\n"},
    )
    change = found["pkg.ids:PAD", "removed"]
    assert (change.old.path, change.old.line, change.old.value) == ("pkg/ids.py", 1, "1")
    assert change.new is None
    assert places(change) == [("tests/test_a.py", 1, "import", True)]


def test_a_renamed_constant_by_its_value(changes) -> None:
    found = changes(
        {"pkg/ids.py": "PAD_ID = 129279\n", "tests/test_a.py": "from pkg.ids import PAD_ID\n"},
        {
            "pkg/ids.py": "PAD_TOKEN_ID = 129279\n",
            "tests/test_a.py": "from pkg.ids import PAD_TOKEN_ID\n",
        },
    )
    change = found["pkg.ids:PAD_ID", "renamed"]
    assert change.replacement == "pkg.ids:PAD_TOKEN_ID"
    assert change.new.value == "129279"


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ("X = 1\nLIMIT = 10\n", "X = 1\nMAXIMUM = 10\n", "renamed"),
        ("X = 1\nLIMIT = 10\n", "MAXIMUM = 10\nX = 1\n", "removed"),
        ("X = 1\nLIMIT = 1\n", "X = 1\nMAXIMUM = 1\n", "removed"),
        ("X = 1\nLIMIT = 10\n", "X = 1\nLIMITS = 11\n", "renamed"),
        ("X = 1\nLIMIT_1 = 10\n", "X = 1\nLIMIT_2 = 11\n", "removed"),
    ],
)
def test_another_name_in_its_place(changes, before: str, after: str, kind: str) -> None:
    name = before.split("\n")[1].partition(" ")[0]
    use = {"tests/test_a.py": f"from pkg.ids import {name}\n"}
    found = changes({"pkg/ids.py": before} | use, {"pkg/ids.py": after} | use)
    assert [k for s, k in found if s == f"pkg.ids:{name}"] == [kind]


def test_a_renamed_function_by_its_body(changes) -> None:
    old = "def image_mask(ids):\n    return ids == 5\ndef other(x): ...\n"
    new = "def is_image(ids):\n    return ids == 5\ndef other(x): ...\n"
    use = "from pkg.ids import image_mask\n"
    found = changes({"pkg/ids.py": old, "tests/test_a.py": use}, {"pkg/ids.py": new})
    assert found["pkg.ids:image_mask", "renamed"].replacement == "pkg.ids:is_image"


def test_a_private_name_now(changes) -> None:
    old = {
        "pkg/ids.py": "def mask(x):\n    return x\n",
        "tests/test_a.py": "import pkg.ids as i\ni.mask\n",
    }
    assert ("pkg.ids:mask", "visibility-changed") in changes(
        old, {"pkg/ids.py": "def _mask(x):\n    return x\n"}
    )


@pytest.mark.parametrize("forward", ["", "from pkg.other import mask\n"])
def test_moved_with_and_without_a_forwarding_import(changes, forward: str) -> None:
    body = "def mask(ids):\n    return ids == 5\n"
    use = {"tests/test_a.py": "from pkg.ids import mask\n"}
    found = changes(use | {"pkg/ids.py": body}, use | {"pkg/ids.py": forward, "pkg/other.py": body})
    change = found["pkg.ids:mask", "moved"]
    assert change.replacement == "pkg.other:mask"
    assert places(change) == [("tests/test_a.py", 1, "import", False)]


def test_a_removed_module(changes) -> None:
    found = changes(
        {"pkg/ids.py": "PAD = 1\n", "tests/test_a.py": "from pkg.ids import PAD\nimport pkg.ids\n"},
        {},
    )
    assert list(found) == [("pkg.ids", "removed")]
    assert places(found["pkg.ids", "removed"]) == [
        ("tests/test_a.py", 1, "import", True),
        ("tests/test_a.py", 2, "import", True),
    ]


def test_a_moved_module(changes) -> None:
    source = "PAD = 1\nEND = 2\n"
    found = changes(
        {"pkg/ids.py": source, "tests/test_a.py": "import pkg.ids\n"},
        {"pkg/inner/__init__.py": "", "pkg/inner/ids.py": source, "tests/test_a.py": "\n"},
    )
    assert found["pkg.ids", "moved"].replacement == "pkg.inner.ids"


def test_values_not_text_and_derived_constants_follow(changes) -> None:
    use = {
        "pkg/derived.py": "from pkg.ids import PAD\nNEXT = PAD + 1\n",
        "pkg/further.py": "import pkg.derived\nLAST = pkg.derived.NEXT * 2\n",
        "tests/test_a.py": "from pkg.ids import PAD, SAME\nfrom pkg.derived import NEXT\n"
        "from pkg.further import LAST\n",
    }
    found = changes(
        use | {"pkg/ids.py": "PAD = 5\nSAME = 1000\n"},
        use | {"pkg/ids.py": "PAD = 7\nSAME = 10 ** 3\n"},
    )
    values = {symbol: (c.old.value, c.new.value) for (symbol, _), c in found.items()}
    assert values == {
        "pkg.ids:PAD": ("5", "7"),
        "pkg.derived:NEXT": ("6", "8"),
        "pkg.further:LAST": ("12", "16"),
    }
    assert {kind for _, kind in found} == {"value-changed"}
    assert ("tests/test_a.py", 1, "import", False) in places(found["pkg.ids:PAD", "value-changed"])


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        ("def f(a, b): ...", "def f(a, c): ...", "signature-changed"),
        ("def f(a, b=1): ...", "def f(a, b=2): ...", "default-changed"),
        ("def f(a, b=1): ...", "def f(a, b): ...", "signature-changed"),
        ("def f(a): ...", "class f: ...", "kind-changed"),
        ("f = 1", "def f(): ...", "kind-changed"),
    ],
)
def test_functions(changes, old: str, new: str, kind: str) -> None:
    use = {"tests/test_a.py": "from pkg.ids import f\n"}
    found = changes(use | {"pkg/ids.py": old + "\n"}, use | {"pkg/ids.py": new + "\n"})
    assert list(found) == [("pkg.ids:f", kind)]


def test_a_rule_that_accepts_other_values(changes) -> None:
    old = "BASE = 129252\nCOUNT = 5\ndef mask(ids):\n    return ids == BASE\n"
    new = old.replace("ids == BASE", "(ids >= BASE) & (ids < BASE + COUNT)")
    test = "from pkg.ids import BASE\ndef test_a(ids):\n    m = ids == BASE\n    assert m\n"
    found = changes(
        {"pkg/ids.py": old, "tests/test_a.py": test}, {"pkg/ids.py": new, "tests/test_a.py": test}
    )
    change = found["pkg.ids:BASE", "rule-changed"]
    assert change.old.value == "{129252}"
    assert change.new.value == "{129252, 129253, 129254, 129255, 129256}"
    assert ("tests/test_a.py", 3, "mirror", False) in places(change)


def test_added_where_a_test_names_it(changes) -> None:
    found = changes({"pkg/ids.py": "\n"}, {"pkg/ids.py": "PAD = 1\n", "tests/test_a.py": TEST})
    assert list(found) == [("pkg.ids:PAD", "added")]


def test_a_member_with_another_name_in_its_place(changes) -> None:
    kinds = "import enum\nclass Kind(enum.Enum):\n    FIRST = 1\n    SECOND = 2\n"
    test = "from pkg.ids import Kind\nCASES = [Kind.FIRST]\n"
    found = changes(
        {"pkg/ids.py": kinds, "tests/test_a.py": test},
        {"pkg/ids.py": "# above\n" + kinds.replace("FIRST", "PRIMARY"), "tests/test_a.py": test},
    )
    assert found["pkg.ids:Kind.FIRST", "renamed"].replacement == "pkg.ids:Kind.PRIMARY"


BEFORE = {
    "pkg/ids.py": "PAD = 5\nclass Kind:\n    first = 129\n    last = 7\n",
    "tests/test_a.py": "from pkg.ids import PAD, Kind\n"
    "def test_a():\n    assert PAD\ndef test_b():\n    assert Kind.first\n",
}


@pytest.mark.parametrize(
    "test", ["# touched\n{}", "{}def test_c(): ...\n", "{}    assert PAD == 7\n", "{}"]
)
def test_a_line_that_names_what_is_gone_is_not_updated(changes, test: str) -> None:
    now = test.format(BEFORE["tests/test_a.py"])
    after = {"pkg/ids.py": "PAD = 5\nclass Kind:\n    last = 7\n", "tests/test_a.py": now}
    line = now.split("\n").index("    assert Kind.first") + 1
    change = changes(BEFORE, after)["pkg.ids:Kind.first", "removed"]
    assert places(change) == [("tests/test_a.py", line, "attribute", False)]


@pytest.mark.parametrize(
    ("old", "new", "updated"),
    [
        ("", "# touched\n", False),
        ("assert Kind", "assert not Kind", False),
        ("assert PAD", "assert PAD == 7", True),
        ("def test_a():", "def test_a(tmp_path):", True),
        ("def test_a():", "NEXT = PAD + 1\ndef test_a():", True),
    ],
)
def test_values_are_followed_by_what_uses_them(changes, old: str, new: str, updated: bool) -> None:
    test = BEFORE["tests/test_a.py"]
    now = test.replace(old, new, 1)
    assert now != test
    ids = BEFORE["pkg/ids.py"].replace("5", "7")
    found = changes(BEFORE, {"pkg/ids.py": ids, "tests/test_a.py": now})
    change = found["pkg.ids:PAD", "value-changed"]
    assert [c.updated for c in change.consumers if c.form == "import"] == [updated]


def test_one_of_two_places_followed(changes) -> None:
    test = "from pkg.ids import Kind\nA = Kind.first\nB = Kind.first\n"
    found = changes(
        {**BEFORE, "tests/test_a.py": test},
        {
            "pkg/ids.py": BEFORE["pkg/ids.py"].replace("first", "start"),
            "tests/test_a.py": test.replace("A = Kind.first", "A = Kind.start"),
        },
    )
    assert list(found) == [("pkg.ids:Kind.first", "renamed")]
    assert sorted(places(found["pkg.ids:Kind.first", "renamed"])) == [
        ("tests/test_a.py", 2, "attribute", True),
        ("tests/test_a.py", 3, "attribute", False),
    ]


def test_what_took_the_place_is_not_added_as_well(changes) -> None:
    body = "def mask(ids):\n    return ids == 5\n"
    use = "from pkg.ids import mask\n"
    followed = {"tests/test_a.py": use.replace("ids", "other")}
    found = changes(
        {"tests/test_a.py": use, "pkg/ids.py": body + "X = 1\n"},
        followed | {"pkg/ids.py": "X = 1\n", "pkg/other.py": body},
    )
    assert list(found) == [("pkg.ids:mask", "moved")]
    assert places(found["pkg.ids:mask", "moved"]) == [("tests/test_a.py", 1, "import", True)]
    whole = changes({"tests/test_a.py": use, "pkg/ids.py": body}, followed | {"pkg/other.py": body})
    assert list(whole) == [("pkg.ids", "renamed")]


@pytest.mark.parametrize(("now", "impact"), [("5", None), ("6", "silent")])
def test_a_move_behind_a_forward_costs_nothing(changes, now: str, impact: str | None) -> None:
    body = "def mask(ids):\n    return ids == 5\n"
    use = {"tests/test_a.py": "from pkg.ids import mask\n"}
    forward = {"pkg/ids.py": "from pkg.other import mask\n", "pkg/other.py": body.replace("5", now)}
    found = changes(use | {"pkg/ids.py": body}, use | forward)
    assert [c.impact for c in found["pkg.ids:mask", "moved"].consumers] == [impact]


def test_a_package_that_moved_as_a_whole(changes) -> None:
    """Modules without definitions go where the others of their package went."""
    files = {
        "__init__.py": "__all__ = []\n",
        "__main__.py": "import sys\n",
        "ids.py": "PAD = 1\n",
        "extra/__init__.py": "__all__ = ['X']\n",
        "extra/more.py": "X = 2\n",
    }
    names = "import pkg.gate.__main__, pkg.gate.ids, pkg.gate.extra.more\n"
    use = {"tests/test_a.py": "import pkg.gate, pkg.gate.extra\n" + names}
    found = changes(
        use | {f"pkg/gate/{path}": text for path, text in files.items()},
        use | {f"pkg/inner/{path}": text for path, text in files.items()},
    )
    assert {symbol: change.replacement for (symbol, _), change in found.items()} == {
        "pkg.gate": "pkg.inner",
        "pkg.gate.__main__": "pkg.inner.__main__",
        "pkg.gate.extra": "pkg.inner.extra",
        "pkg.gate.extra.more": "pkg.inner.extra.more",
        "pkg.gate.ids": "pkg.inner.ids",
    }


def test_of_two_modules_that_define_the_same_names_the_one_with_the_code(changes) -> None:
    body = "def mask(ids):\n    return ids == 5\n"
    use = {"tests/test_a.py": "from pkg.ids import mask\n"}
    other = body.replace("5", "6")
    found = changes(use | {"pkg/ids.py": body}, use | {"pkg/new.py": body, "pkg/zoo.py": other})
    assert found["pkg.ids", "renamed"].replacement == "pkg.new"
