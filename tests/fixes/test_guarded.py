"""CG105: guarded imports that can never succeed; CG306: comparisons that nobody looks at."""

from collections.abc import Callable
from typing import Any

import pytest

Fix = Callable[..., Any]

ENGINE = "class FastEngine:\n    def run(self): return 1\n"
BASE = {
    "pkg/__init__.py": "",
    "pkg/engine.py": ENGINE,
    "pkg/fast.py": "",
    "tests/test_a.py": (
        "try:\n    from pkg.engine import FastEngine\nexcept ImportError:\n    FastEngine = None\n"
        "def test_a(): assert FastEngine\n"
    ),
}


def test_the_name_is_taken_from_where_it_lives_now(fix: Fix) -> None:
    now = {"pkg/engine.py": "class Engine: ...\n", "pkg/fast.py": ENGINE}
    for base in (BASE, None):
        fixed = fix({**BASE, **now} if base is None else now, base=base)
        assert fixed.files["tests/test_a.py"] == BASE["tests/test_a.py"].replace(
            "pkg.engine", "pkg.fast"
        )
        assert fixed.rules == ["CG105"]
        assert [f.safety for _, f in fixed.mended.fixed] == ["safe"]


def test_what_it_fell_back_on_stays(fix: Fix) -> None:
    now = {**BASE, "pkg/engine.py": "class Engine: ...\n"}
    assert fix(now).mended.files == {}
    fixed = fix(now, unsafe=True)
    assert fixed.files["tests/test_a.py"] == (
        "FastEngine = None\ndef test_a(): assert FastEngine\n"
    )


def test_a_guard_that_does_more_is_left(fix: Fix) -> None:
    text = BASE["tests/test_a.py"].replace("    FastEngine = None", "    print(1)")
    fixed = fix({**BASE, "pkg/engine.py": "X = 1\n", "tests/test_a.py": text}, unsafe=True)
    assert fixed.files["tests/test_a.py"] == text
    assert "the fallback is more than assignments" in fixed.reasons


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torch.allclose(a, b)", "assert torch.allclose(a, b)"),
        ("torch.equal(a, b)", "assert torch.equal(a, b)"),
        ("np.equal(a, b)  # each", "assert np.equal(a, b).all()  # each"),
        ("torch.isclose(\n        a, b\n    )", "assert torch.isclose(\n        a, b\n    ).all()"),
        ("math.isclose(a, b)", "assert math.isclose(a, b)"),
        ("np.equal(a, b, out=c)", "np.equal(a, b, out=c)"),
        ("np.equal(a, b, c)", "np.equal(a, b, c)"),
        ("np.equal(a, b, **kwargs)", "np.equal(a, b, **kwargs)"),
    ],
)
def test_a_comparison_is_asserted(fix: Fix, before: str, after: str) -> None:
    head = "import math\nimport numpy as np\nimport torch\ndef test_a(a, b, c, kwargs):\n    "
    fixed = fix({"tests/test_a.py": f"{head}{before}\n"}, unsafe=True)
    assert fixed.files["tests/test_a.py"] == f"{head}{after}\n"
