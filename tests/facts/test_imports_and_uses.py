"""Imports, and the uses of what they bind."""

from collections.abc import Callable

import pytest

from contract_guard.facts.model import Import, ModuleFacts

FactsOf = Callable[[str], ModuleFacts]


def summary(item: Import) -> tuple[str, str, int, str | None, str, bool]:
    return item.form, item.module, item.level, item.name, item.bound, item.renamed


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b", ("import", "a.b", 0, None, "a", False)),
        ("import a.b as a", ("import", "a.b", 0, None, "a", True)),
        ("from . import x", ("from", "", 1, "x", "x", False)),
        ("from ..p.q import x as y", ("from", "p.q", 2, "x", "y", True)),
        ("from m import *", ("from", "m", 0, "*", "", False)),
        ("m = importlib.import_module('a.b')", ("import_module", "a.b", 0, None, "m", True)),
        ("importlib.import_module('a.b')", ("import_module", "a.b", 0, None, "", False)),
        ("import_module('.c', __package__)", ("import_module", "c", 1, None, "", False)),
        ("import_module('..c', package=__name__)", ("import_module", "c", 2, None, "", False)),
        ("import_module('..c', 'a.b')", ("import_module", "a.c", 0, None, "", False)),
        ("t = pytest.importorskip('torch')", ("importorskip", "torch", 0, None, "t", True)),
        ("m = __import__('m')", ("import_module", "m", 0, None, "m", True)),
    ],
)
def test_forms(facts_of: FactsOf, source: str, expected: object) -> None:
    (found,) = facts_of(source).imports
    assert summary(found) == expected


@pytest.mark.parametrize(
    "source",
    [
        "import_module(name)",
        "import_module('not a module')",
        "import_module('.c', package)",
        "import_module('...c', 'a')",
        "__import__('a.b')",
        "import_module()",
    ],
)
def test_calls_that_import_nothing_known(facts_of: FactsOf, source: str) -> None:
    assert facts_of(source).imports == ()


def chains(facts: ModuleFacts) -> list[tuple[str, str, bool]]:
    return [(".".join(use.chain), use.context, use.called) for use in facts.uses]


def test_the_longest_chain_is_given_once(facts_of: FactsOf) -> None:
    facts = facts_of("""
        import a
        a.b.c()
        a.d.e = a.f[a.g].h
        del a.i
        a.j += 1
        a.k().l
    """)
    assert chains(facts) == [
        ("b.c", "load", True),
        ("f", "load", False),
        ("g", "load", False),
        ("d.e", "store", False),
        ("i", "del", False),
        ("j", "store", False),
        ("k", "load", True),
    ]


def test_import_module_chains_are_uses(facts_of: FactsOf) -> None:
    facts = facts_of("x = importlib.import_module('m').N\nm = import_module('k')\nm.z\n")
    assert [(use.imported, use.chain) for use in facts.uses] == [((0,), ("N",)), ((1,), ("z",))]


def test_several_imports_of_one_name(facts_of: FactsOf) -> None:
    facts = facts_of("""
        try:
            import fast as impl
        except ImportError:
            import slow as impl
        impl.run()
    """)
    (use,) = facts.uses
    assert use.imported == (0, 1)


@pytest.mark.parametrize(
    "body",
    [
        "def f(m): m.x",
        "def f():\n    m = 1\n    m.x",
        "def f():\n    for m in (): m.x",
        "def f():\n    with open(1) as m: m.x",
        "def f():\n    try: pass\n    except E as m: m.x",
        "def f():\n    m: int\n    m.x",
        "def f():\n    if (m := 1): m.x",
        "def f():\n    match 1:\n        case m: m.x",
        "def f():\n    [m.x for m in ()]\n",
        "f = lambda m: m.x",
        "class A:\n    m = 1\n    m.x",
        "def f():\n    m.x\n    del m",
        "def f():\n    global m\n    m = 1\ndef g(): m.x",
        "def f():\n    def m(): pass\n    m.x",
        "def f():\n    class m: pass\n    m.x",
        "m = None\nm.x",
    ],
)
def test_shadowed_names_are_no_uses(facts_of: FactsOf, body: str) -> None:
    assert facts_of(f"import m\n{body}\n").uses == ()


@pytest.mark.parametrize(
    "body",
    [
        "def f(a=m.x): pass",
        "@m.x\ndef f(m): pass",
        "def f():\n    return lambda: [m.x for _ in ()]",
        "class A:\n    m = 1\n    def f(self): m.x",
        "class A:\n    m = 1\n    y = [m.x for _ in ()]",
        "[m for m in m.x]",
        "def f():\n    global m\n    m.x",
        "def f():\n    import m\n    m.x\ndef g(m): pass",
        "def f(a: m.x): pass",
        "def f() -> m.x: pass",
        "a: m.x = 1",
        "f'{m.x!r:>{m}}'",
        "match m.x:\n    case 1: pass",
        "match 1:\n    case m.x: pass",
        "match 1:\n    case m.x(): pass",
    ],
)
def test_visible_names_are_uses(facts_of: FactsOf, body: str) -> None:
    (use,) = facts_of(f"import m\n{body}\n").uses
    assert use.chain == ("x",)


def test_a_name_of_one_function_is_not_that_of_another(facts_of: FactsOf) -> None:
    facts = facts_of("""
        def test_a():
            from pkg import fleet
            fleet.ready

        def test_b():
            fleet = make()
            fleet.gone
    """)
    assert [use.chain for use in facts.uses] == [("ready",)]


@pytest.mark.parametrize(
    "source",
    [
        "from __future__ import annotations\nimport m\ndef f(a: m.x) -> m.y: b: m.z = 1\n",
        "from __future__ import annotations\nimport m\nclass A:\n    a: m.x\n",
        "import m\ndef f():\n    a: m.x = 1\n",
    ],
)
def test_annotations_that_never_run_are_no_uses(facts_of: FactsOf, source: str) -> None:
    facts = facts_of(source)
    assert facts.uses == ()
    assert "x" in facts.loaded_names


def test_the_statement_of_a_use_is_the_smallest(facts_of: FactsOf) -> None:
    facts = facts_of("""
        import m
        if m.a:
            x = (m.b,
                 1)
        @m.c
        def f(y=m.d,
              z=2):
            pass
    """)
    statements = [tuple(use.statement) for use in facts.uses]
    assert statements == [(3, 1, 3, 8), (4, 5, 5, 12), (6, 2, 6, 5), (7, 1, 8, 12)]


def test_loads_are_given_once_a_scope(facts_of: FactsOf) -> None:
    facts = facts_of("""
        from m import N, M
        try:
            from k import K
        except ImportError:
            K = None
        def f():
            return N, N, K
        print(M)
    """)
    found = [(load.imported, facts.scopes[load.scope].qualname) for load in facts.loads]
    assert found == [((1,), ""), ((0,), "f"), ((2,), "f")]


def test_loaded_names(facts_of: FactsOf) -> None:
    facts = facts_of("""
        import m
        m.attribute
        getattr(m, "named")
        m.stored = plain
        augmented += 1
        "not an identifier"
        x: "Quoted[inner]"
        def f() -> "Returned": pass
    """)
    wanted = {"attribute", "named", "plain", "augmented", "inner", "Quoted", "Returned", "m"}
    assert wanted <= facts.loaded_names
    assert not {"stored", "f"} & facts.loaded_names
