"""Which files a change can break: never one less than those that it does."""

import pytest

from contract_guard.detectors.run import run
from contract_guard.registry.affected import affected_paths
from contract_guard.registry.contents import changed_paths

TREE = {
    "pkg/__init__.py": "from pkg.ids import PAD as SHOWN\n",
    "pkg/ids.py": "PAD = 3\nEND = 4\nclass Kind:\n    RED = 1\n",
    "pkg/use.py": "from pkg import ids\ndef use():\n    return ids.END\n",
    "pkg/star.py": "from pkg.ids import *\n",
    "tests/conftest.py": "import pytest\n@pytest.fixture\ndef thing(): ...\n",
    "tests/test_a.py": "from pkg.ids import PAD\ndef test_a(thing): assert PAD\n",
    "tests/test_b.py": "from pkg import SHOWN\nimport pkg.star\ndef test_b(): pkg.star.END\n",
    "tests/test_c.py": "from unittest import mock\nfrom pkg.ids import Kind\n"
    "def test_c():\n    with mock.patch('pkg.use.ids'):\n        Kind.RED\n",
    "tests/test_d.py": "from unittest import mock\n@mock.patch('pkg.ids.Kind.RED', 1)\n"
    "def test_d(m): ...\n",
    "tests/test_e.py": "def test_e(): ...\n",
}

CHANGES = {
    "a constant goes": {"pkg/ids.py": "END = 4\nclass Kind:\n    RED = 1\n"},
    "what a star brought goes": {"pkg/ids.py": "PAD = 3\nclass Kind:\n    RED = 1\n"},
    "a member goes": {"pkg/ids.py": "PAD = 3\nEND = 4\nclass Kind:\n    BLUE = 1\n"},
    "a name is for type checkers only": {
        "pkg/ids.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    PAD = 3\nEND = 4\n"
        "class Kind:\n    RED = 1\n"
    },
    "a re-export goes": {"pkg/__init__.py": "\n"},
    "nobody reads the patched name": {"pkg/use.py": "from pkg import ids\n"},
    "a star import goes": {"pkg/star.py": "\n"},
    "a module goes": {"pkg/ids.py": None},
    "a fixture goes": {"tests/conftest.py": "\n"},
    "a new reference": {"tests/test_e.py": "from pkg.ids import NONE\ndef test_e(): ...\n"},
    "a module hides its names": {"pkg/ids.py": "globals().update(PAD=1)\n"},
    "and shows them again": {"pkg/use.py": "from pkg import ids\nids.MORE = 1\n"},
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("backwards", [False, True])
def test_what_it_leaves_out_has_nothing_new(registry_of, change, backwards: bool) -> None:
    changed = {path: text for path, text in (TREE | change).items() if text is not None}
    old, new = registry_of(TREE), registry_of(changed)
    if backwards:
        old, new = new, old

    def found(registry) -> set[tuple[str, str, str]]:
        sources = TREE if (registry is old) != backwards else changed
        findings = run(registry, lambda path: sources[path].encode(), select=["CG10"])
        return {(f.path, f.rule, f.symbol) for f in findings}

    paths = affected_paths(old.tree, new.tree, changed_paths(old.tree, new.tree))
    broken = {path for path, _, _ in found(new) - found(old)}
    assert paths is None or broken <= paths


def test_a_change_of_a_body_affects_its_own_file_alone(registry_of) -> None:
    changed = TREE | {"pkg/use.py": "from pkg import ids\ndef use():\n    return 1 + ids.END\n"}
    old, new = registry_of(TREE), registry_of(changed)
    assert affected_paths(old.tree, new.tree, changed_paths(old.tree, new.tree)) == {"pkg/use.py"}
