"""A rule that production holds inline and a test repeats."""

from collections.abc import Callable, Mapping
from textwrap import dedent
from typing import Any

import pytest

from contract_guard.fixes.extract import extraction
from contract_guard.fixes.model import CannotFix, Fix, Knowledge
from contract_guard.fixes.text import edited
from contract_guard.project.extraction import extract
from contract_guard.registry.index import build
from contract_guard.registry.model import Tree

IDS = "FIRST_ID = 7001\nCOUNT = 5\n"
ROUTER = """\
from pkg.ids import COUNT, FIRST_ID


def route(ids, bias):
    is_image = (ids >= FIRST_ID) & (ids < FIRST_ID + COUNT)
    return is_image * bias
"""
TEST = """\
from pkg.ids import COUNT, FIRST_ID
from pkg.router import route


def test_route(x):
    mask = (x >= FIRST_ID) & (x < FIRST_ID + COUNT)
    assert route(x, 2) == mask * 2
"""


def extracted(
    files: Mapping[str, str], line: int = 6, length: int = 88, **options: bool | str
) -> tuple[Fix, dict[str, str]]:
    sources = {path: text.encode() for path, text in files.items()}
    tree = Tree(files={path: extract(source) for path, source in sources.items()})
    knowledge = Knowledge(build(tree), sources.__getitem__, length)
    fix = extraction("tests/test_a.py", line, knowledge, **options)  # type: ignore[arg-type]
    paths = {edit.path for edit in fix.edits}
    return fix, {
        path: edited(sources[path], [e for e in fix.edits if e.path == path]).decode()
        for path in paths
    }


def project(**changed: str) -> dict[str, str]:
    files = {"ids": IDS, "router": ROUTER}
    return {
        "pkg/__init__.py": "",
        "pkg/ids.py": changed.get("ids", files["ids"]),
        "pkg/router.py": changed.get("router", files["router"]),
        "tests/test_a.py": changed.get("test", TEST),
    }


def test_the_function_beside_the_constants_called_from_both() -> None:
    fix, after = extracted(project())
    assert after["pkg/ids.py"] == IDS + dedent(
        '''

        def is_image_position(ids):
            """Whether `ids` fit the rule over `FIRST_ID`."""
            return (ids >= FIRST_ID) & (ids < FIRST_ID + COUNT)
        '''
    )
    assert after["pkg/router.py"] == dedent(
        """\
        from pkg.ids import is_image_position


        def route(ids, bias):
            is_image = is_image_position(ids)
            return is_image * bias
        """
    )
    assert after["tests/test_a.py"] == dedent(
        """\
        from pkg.ids import is_image_position
        from pkg.router import route


        def test_route(x):
            mask = is_image_position(x)
            assert route(x, 2) == mask * 2
        """
    )
    assert fix.safety == "unsafe"


def test_a_name_of_ones_own() -> None:
    _, after = extracted(project(), name="stands_for_image")
    assert "def stands_for_image(ids):" in after["pkg/ids.py"]
    assert "mask = stands_for_image(x)" in after["tests/test_a.py"]


def test_a_stale_copy_takes_over_the_rule_of_production() -> None:
    test = TEST.replace("(x >= FIRST_ID) & (x < FIRST_ID + COUNT)", "x == FIRST_ID")
    test = test.replace("import COUNT, FIRST_ID", "import FIRST_ID")
    fix, after = extracted(project(test=test))
    assert "mask = is_image_position(x)" in after["tests/test_a.py"]
    assert fix.title.endswith(
        "which accepts {7001, 7002, 7003, 7004, 7005}, where the test accepted {7001}"
    )
    with pytest.raises(CannotFix, match="production holds no rule"):
        extracted(project(test=test), same_only=True)


def test_constants_that_are_used_elsewhere_stay_imported() -> None:
    test = TEST + "    assert FIRST_ID\n"
    _, after = extracted(project(test=test))
    assert after["tests/test_a.py"].startswith("from pkg.ids import FIRST_ID, is_image_position\n")


def test_constants_through_their_module() -> None:
    router = (
        ROUTER.replace("from pkg.ids import COUNT, FIRST_ID", "from pkg import ids as names")
        .replace("FIRST_ID", "names.FIRST_ID")
        .replace("COUNT", "names.COUNT")
    )
    _, after = extracted(project(router=router))
    assert "is_image = names.is_image_position(ids)" in after["pkg/router.py"]
    assert "return (ids >= FIRST_ID) & (ids < FIRST_ID + COUNT)" in after["pkg/ids.py"]


def test_a_subject_that_is_no_name() -> None:
    router = ROUTER.replace("def route(ids, bias)", "def route(batch, bias)")
    router = router.replace("ids >=", "batch.input_ids >=").replace("ids <", "batch.input_ids <")
    _, after = extracted(project(router=router))
    assert "def is_image_position(input_ids):" in after["pkg/ids.py"]
    assert "is_image = is_image_position(batch.input_ids)" in after["pkg/router.py"]


def test_a_rule_that_needs_more_stays_in_its_module() -> None:
    router = ROUTER.replace(
        "(ids >= FIRST_ID) & (ids < FIRST_ID + COUNT)",
        "torch.logical_and(ids >= FIRST_ID, ids < FIRST_ID + COUNT)",
    ).replace("from pkg.ids", "import torch\nfrom pkg.ids")
    _, after = extracted(project(router=router))
    assert "pkg/ids.py" not in after
    assert after["pkg/router.py"].endswith(
        "\n    return torch.logical_and(ids >= FIRST_ID, ids < FIRST_ID + COUNT)\n"
    )
    assert after["tests/test_a.py"].startswith("from pkg.router import is_image_position, route\n")


def test_a_long_rule_is_folded() -> None:
    _, after = extracted(project(), length=50)
    assert after["pkg/ids.py"].endswith(
        "    return (\n        (ids >= FIRST_ID)\n        & (ids < FIRST_ID + COUNT)\n    )\n"
    )


@pytest.mark.parametrize(
    ("files", "line", "reason"),
    [
        (project(), 1, "no condition over constants"),
        (project(router="def route(x, y): ...\n"), 6, "production holds no rule"),
        (project(router=ROUTER + ROUTER.partition("\n\n\n")[2]), 6, "in several places"),
        (project(ids=IDS + "is_image_position = 1\n"), 6, "give --name"),
    ],
)
def test_why_not(files: Mapping[str, str], line: int, reason: str) -> None:
    with pytest.raises(CannotFix, match=reason):
        extracted(files, line)


def test_a_name_that_is_none() -> None:
    with pytest.raises(CannotFix, match="no name for a function"):
        extracted(project(), name="not a name")


@pytest.mark.parametrize(
    "check",
    [
        "assert (padding_mask(ids) == ((ids == SENTINEL) | (ids == PAD))).all()",
        "expected = (ids == SENTINEL) | (ids == PAD)\n"
        "    assert (padding_mask(ids) == expected).all()",
    ],
)
def test_a_copy_that_the_helper_is_checked_against_stays(
    fix: Callable[..., Any], check: str
) -> None:
    """A call in its place would compare production with itself."""
    router = (
        "PAD = 129279\nSENTINEL = 129252\n\n\n"
        "def padding_mask(ids):\n    return (ids == SENTINEL) | (ids == PAD)\n"
    )
    test = (
        "import torch\nfrom pkg.router import PAD, SENTINEL, padding_mask\n\n\n"
        f"def test_mask():\n    ids = torch.tensor([42, SENTINEL, PAD, 7])\n    {check}\n"
    )
    files = {"pkg/__init__.py": "", "pkg/router.py": router, "tests/test_a.py": test}
    assert fix(files, unsafe=True).files["tests/test_a.py"] == test
