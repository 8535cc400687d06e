"""The lock's text: what goes in comes out, branches merge, and nothing else is taken for it."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_guard.registry.lock import Locked, LockError, contracts, differences, dump, parse

TREE = {
    "pkg/__init__.py": "",
    "pkg/ids.py": "PAD = 3\nEND = PAD + 1\n_OWN = 5\nINNER = 6\ndef mask(x, *, y=1): ...\n",
    "pkg/use.py": "from pkg.ids import INNER\n",
    "other/__init__.py": "from pkg.ids import END\n",
    "tests/test_a.py": "from pkg.ids import PAD, _OWN, mask\nimport pkg.ids\npkg.ids.PAD\n",
}

names = st.from_regex(r"[A-Za-z_]\w{0,8}", fullmatch=True)
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".py")
consumers = st.lists(
    st.tuples(paths, st.sampled_from(["import", "attribute", "patch"])), max_size=4
)
locks = st.dictionaries(
    st.builds("{}.{}:{}".format, names, names, names),
    st.tuples(st.sampled_from(["", "3", "'a b'", "(x, *, y=1)"]), consumers),
    max_size=5,
).map(lambda d: {s: Locked(s, v, tuple(sorted(set(c)))) for s, (v, c) in d.items()})


@given(locks)
def test_what_is_written_is_what_is_read(lock) -> None:
    assert parse(dump(lock.values())) == lock


def test_what_is_locked_without_patterns(registry_of) -> None:
    assert contracts(registry_of(TREE)) == {
        "pkg.ids:END": Locked("pkg.ids:END", "4", (("other/__init__.py", "import"),)),
        "pkg.ids:PAD": Locked(
            "pkg.ids:PAD", "3", (("tests/test_a.py", "attribute"), ("tests/test_a.py", "import"))
        ),
    }


def test_what_is_locked_by_pattern(registry_of) -> None:
    found = contracts(registry_of(TREE), ["pkg.ids:m*", "pkg.ids:INNER"])
    assert [(c.symbol, c.value, c.consumers) for c in found.values()] == [
        ("pkg.ids:INNER", "6", (("pkg/use.py", "import"),)),
        ("pkg.ids:mask", "(x, *, y=1)", (("tests/test_a.py", "import"),)),
    ]


def test_differences_of_each_kind(registry_of) -> None:
    lock = contracts(registry_of(TREE))
    changed = TREE | {
        "pkg/ids.py": "PAD = 7\n_OWN = 5\nINNER = 6\nmask = 1\n",
        "other/__init__.py": "",
        "tests/test_a.py": "from pkg.ids import PAD, _OWN, mask\n",
        "tests/test_b.py": "from pkg.ids import PAD\n",
    }
    found = [
        (d.kind, d.symbol, d.path, d.was, d.now) for d in differences(registry_of(changed), lock)
    ]
    assert found == [
        ("removed", "pkg.ids:END", "other/__init__.py", "4", ""),
        ("unregistered", "pkg.ids:PAD", "tests/test_b.py", "", ""),
        ("changed", "pkg.ids:PAD", "pkg/ids.py", "3", "7"),
        ("stale", "pkg.ids:PAD", "tests/test_a.py", "", ""),
    ]
    assert list(differences(registry_of(TREE), lock)) == []


LOCK = dump([Locked("a:A", "1", (("t.py", "import"),)), Locked("a:B", "2", ())])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LOCK.replace("a:A", "<<<<<<< ours\na:A"), "conflict markers"),
        (LOCK.replace("lock 1", "lock 2"), "version 2"),
        ("", "first line"),
        (LOCK.replace("  import", "  imports"), "is no consumer"),
        (LOCK.replace("a:A", "a:C"), "edited by hand"),
        (LOCK.replace("a:B", "a:A"), "twice"),
        (LOCK.replace("a:A\n", "a.A\n"), "is no symbol"),
    ],
)
def test_what_is_no_lock(text: str, message: str) -> None:
    with pytest.raises(LockError, match=message):
        parse(text)


def test_branches_that_touch_different_contracts_merge(tmp_path: Path) -> None:
    def lock(**values: str) -> str:
        used = (("t.py", "import"),)
        return dump(Locked(f"m:{name}", value, used) for name, value in values.items())

    sides = {
        "ours": lock(A="1", B="9", C="3", D="4"),
        "base": lock(A="1", B="2", C="3", D="4"),
        "theirs": lock(A="1", B="2", C="8", E="5", D="4"),
    }
    for name, text in sides.items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["git", "merge-file", "-p", "-q", *sides], cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert parse(done.stdout.decode()) == parse(lock(A="1", B="9", C="8", D="4", E="5"))
