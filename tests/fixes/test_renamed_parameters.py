"""CG106, CG107: fixtures and parameters that a change gave another name."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

Fix = Callable[..., Any]

CONFTEST = "import pytest\n\n@pytest.fixture\ndef gate(tmp_path):\n    return tmp_path\n"


def of_fixture(fix: Fix, test: str, conftest: str, **options: Any) -> Any:
    base = {"tests/conftest.py": CONFTEST, "tests/test_a.py": test}
    return fix({"tests/conftest.py": conftest}, base=base, **options)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "def test_a(gate: int, tmp_path):\n    assert gate.x(gate) or [gate for _ in gate]\n",
            "def test_a(router: int, tmp_path):\n"
            "    assert router.x(router) or [router for _ in router]\n",
            id="the parameter and its uses",
        ),
        pytest.param(
            "class TestA:\n"
            "    def test_a(self, gate):\n        assert f'{gate}' and (lambda gate: gate)\n",
            "class TestA:\n"
            "    def test_a(self, router):\n        assert f'{router}' and (lambda gate: gate)\n",
            id="in a class; what another scope binds stays",
        ),
        pytest.param(
            "def test_a(gate, request):\n    assert gate == request.getfixturevalue('gate')\n",
            "def test_a(router, request):\n"
            "    assert router == request.getfixturevalue('router')\n",
            id="a text that asks for it",
        ),
        pytest.param(
            "import pytest\n\n@pytest.mark.usefixtures('gate')\nclass TestA:\n"
            "    def test_a(self):\n        assert True\n",
            "import pytest\n\n@pytest.mark.usefixtures('router')\nclass TestA:\n"
            "    def test_a(self):\n        assert True\n",
            id="a mark of its class",
        ),
        pytest.param(
            "import pytest\n\nclass TestA:\n"
            "    pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('tmp_path', 'gate')]\n\n"
            "    def test_a(self):\n        assert True\n",
            "import pytest\n\nclass TestA:\n"
            "    pytestmark = [pytest.mark.slow, pytest.mark.usefixtures('tmp_path', 'router')]\n\n"
            "    def test_a(self):\n        assert True\n",
            id="the marks that its class lists",
        ),
        pytest.param(
            "import pytest\n\npytestmark = pytest.mark.usefixtures('gate')\n\n"
            "def test_a(gate):\n    assert gate\n",
            "import pytest\n\npytestmark = pytest.mark.usefixtures('router')\n\n"
            "def test_a(router):\n    assert router\n",
            id="a mark of the module",
        ),
    ],
)
def test_a_renamed_fixture(fix: Fix, before: str, after: str) -> None:
    fixed = of_fixture(fix, before, CONFTEST.replace("gate", "router"))
    assert fixed.files["tests/test_a.py"] == after
    assert fixed.rules == ["CG106"]


def test_two_renamed_fixtures(fix: Fix) -> None:
    """One whose mark cannot be renamed takes nothing from the others."""
    other = "@pytest.fixture\ndef seed(tmp_path):\n    return str(tmp_path)\n"
    test = (
        "import pytest\n\nASKED = 'gate'\n\n"
        "def test_a(seed):\n    assert seed\n\n"
        "@pytest.mark.usefixtures('seed')\ndef test_b():\n    assert True\n\n"
        "@pytest.mark.usefixtures(ASKED)\nclass TestC:\n"
        "    def test_c(self):\n        assert True\n\n"
        "@pytest.mark.usefixtures('seed', 'gate')\nclass TestD:\n"
        "    def test_d(self):\n        assert True\n\n"
        "    def test_e(self):\n        assert True\n"
    )
    base = {"tests/conftest.py": CONFTEST + other, "tests/test_a.py": test}
    now = base["tests/conftest.py"].replace("gate", "router").replace("seed", "seeded")
    fixed = fix({"tests/conftest.py": now}, base=base)
    after = test.replace("seed", "seeded").replace("'seeded', 'gate'", "'seeded', 'router'")
    assert fixed.files["tests/test_a.py"] == after
    assert fixed.rules == ["CG106"] * 6
    assert fixed.reasons == ["where the test asks for it cannot be told"]


def test_a_fixture_that_is_requested_under_another_name(fix: Fix) -> None:
    made = CONFTEST.replace("gate(", "_gate(")
    base, now = (made.replace("fixture\n", f"fixture(name='{n}')\n") for n in ("gate", "router"))
    test = "def test_a(gate):\n    assert gate\n"
    fixed = fix(
        {"tests/conftest.py": now}, base={"tests/conftest.py": base, "tests/test_a.py": test}
    )
    assert fixed.files["tests/test_a.py"] == "def test_a(router):\n    assert router\n"


def test_a_fixture_with_other_code_is_no_safe_successor(fix: Fix) -> None:
    test = "def test_a(gate_weight):\n    assert gate_weight\n"
    base = {"tests/conftest.py": CONFTEST.replace("gate", "gate_weight"), "tests/test_a.py": test}
    other = CONFTEST.replace("gate", "gate_weights").replace("return tmp_path", "return [tmp_path]")
    assert fix({"tests/conftest.py": other}, base=base).mended.files == {}
    fixed = fix({"tests/conftest.py": other}, base=base, unsafe=True)
    assert fixed.files["tests/test_a.py"] == test.replace("gate_weight", "gate_weights")


@pytest.mark.parametrize(
    ("test", "reason"),
    [
        pytest.param(
            "def test_a(gate):\n    router = gate\n    assert router\n",
            "`router` means something else in the test",
            id="the new name is taken",
        ),
        *(
            pytest.param(
                f"def test_a(gate):\n    {line}\n    assert gate\n",
                "`router` means something else in the test",
                id=line.strip().replace("\n    ", " "),
            )
            for line in (
                "import os as router",
                "def router(): ...",
                "call = lambda router: gate",
                "try: ...\n    except OSError as router: ...",
                "match gate:\n        case {'a': 1, **router}: ...",
                "global router",
            )
        ),
        *(
            pytest.param(
                f"def test_a(gate):\n    {line}\n    assert gate\n",
                "`gate` means something else in the test, too",
                id=line.strip().replace("\n    ", " "),
            )
            for line in (
                "import gate",
                "def change():\n        nonlocal gate\n        gate = 1",
                "match 1:\n        case gate: ...",
            )
        ),
        pytest.param(
            "def test_a(gate, request):\n    request.getfixturevalue('ga' 'te')\n",
            "line 2 names it in parts",
            id="a text in parts",
        ),
        pytest.param(
            "import pytest\n\n@pytest.mark.parametrize('gate', [1], indirect=True)\n"
            "def test_a(gate):\n    assert gate\n",
            "line 3 names it in a text",
            id="its values come from elsewhere",
        ),
    ],
)
def test_a_renamed_fixture_that_is_left(fix: Fix, test: str, reason: str) -> None:
    fixed = of_fixture(fix, test, CONFTEST.replace("gate", "router"))
    assert fixed.mended.files == {}
    assert fixed.reasons in ([reason], [])


MASK = "def mask(ids, pad, *, strict=False):\n    return [i == pad for i in ids]\n"
CALL = "from pkg.m import mask\n\ndef test_a():\n    assert mask([1], pad=1, strict=True)\n"


def of_call(fix: Fix, production: str, call: str = CALL, **options: Any) -> Any:
    base = {"pkg/__init__.py": "", "pkg/m.py": MASK, "tests/test_a.py": call}
    return fix({"pkg/m.py": production}, base=base, **options)


def test_a_renamed_parameter(fix: Fix) -> None:
    fixed = of_call(fix, MASK.replace("pad", "sentinel"))
    assert fixed.files["tests/test_a.py"] == CALL.replace("pad=", "sentinel=")
    assert fixed.rules == ["CG107"]


def test_a_renamed_keyword_only_parameter(fix: Fix) -> None:
    fixed = of_call(fix, MASK.replace("strict", "exact"))
    assert fixed.files["tests/test_a.py"] == CALL.replace("strict=", "exact=")


def test_a_call_that_gives_the_new_name_too(fix: Fix) -> None:
    base = {
        "pkg/__init__.py": "",
        "pkg/m.py": MASK.replace("False)", "False, **more)"),
        "tests/test_a.py": CALL.replace("pad=1", "pad=1, sentinel=2"),
    }
    fixed = fix({"pkg/m.py": MASK.replace("pad", "sentinel")}, base=base)
    assert fixed.mended.files == {}
    assert fixed.reasons == ["the call gives `sentinel` already"]


def test_a_parameter_of_another_meaning_may_stand_in_the_same_place(fix: Fix) -> None:
    production = MASK.replace("pad, *", "skip, *").replace("i == pad", "i != skip")
    assert of_call(fix, production).mended.files == {}
    fixed = of_call(fix, production, unsafe=True)
    assert fixed.files["tests/test_a.py"] == CALL.replace("pad=", "skip=")


@pytest.mark.parametrize(
    "production",
    [
        pytest.param("def mask(ids, *, strict=False):\n    return ids\n", id="it is gone"),
        pytest.param("def mask(ids, other=1, *, strict=False):\n    return ids\n", id="optional"),
        pytest.param(
            "def mask(other, ids, pads, *, strict=False):\n    return ids\n", id="another place"
        ),
    ],
)
def test_a_parameter_that_nothing_replaces(fix: Fix, production: str) -> None:
    fixed = of_call(fix, production, unsafe=True)
    assert fixed.mended.files == {}
    assert fixed.reasons == ["nothing is certain to have taken the place of `pad`"]


STATEMENTS = [
    "assert gate.gate(gate=gate, x=[gate for _ in gate])",
    "call = lambda gate=gate: gate",
    "text = f'{gate} gate', 'é', gate",
    "def inner(gate): return gate",
    "def outer():\n        return (gate,\n            gate)",
    "def change():\n        nonlocal gate\n        gate = 1",
    "with gate as gate: gate += 1",
    "request.getfixturevalue('gate')",
    "request.getfixturevalue(r'gate')",
    "found = [router for router in gate]",
    "match gate:\n        case gate.x | {'gate': 1}: ...",
    "match gate:\n        case [gate, *_]: ...",
    "try: ...\n    except gate as e: ...",
    "class Gate:\n        gate: int = 1\n        def get(self): return gate",
    "",
]


@settings(max_examples=60)
@given(
    parameter=st.sampled_from(["gate", "gate: int", "*, gate", "tmp_path, gate=None", "gate, /"]),
    body=st.lists(st.sampled_from(STATEMENTS), max_size=5),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_names_alone_are_renamed(fix: Fix, parameter: str, body: list[str], ends: str) -> None:
    lines = [f"def test_a({parameter}):", *body, "assert gate  # gate", ""]
    test = "\n    ".join(lines).rstrip(" ").replace("\n", ends)
    compile(test, "test", "exec")
    fixed = of_fixture(fix, test.encode(), CONFTEST.replace("gate", "router"))
    after = fixed.files["tests/test_a.py"]
    compile(after, "test", "exec")
    # All names that stay are others, and what is no name is what it was.
    assert re.sub(r"\brouter\b", "gate", after) == re.sub(r"\brouter\b", "gate", test)
    if fixed.mended.files:
        assert "router" not in test
        assert after.splitlines()[0] == lines[0].replace("gate", "router")
        assert after.splitlines()[-1].strip() == "assert router  # gate"
    else:
        assert after == test
