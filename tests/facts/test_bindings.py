"""What modules and classes bind."""

import re
from collections.abc import Callable

import pytest

from contract_guard.facts.model import ModuleFacts, Span

FactsOf = Callable[[str], ModuleFacts]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(): pass", [("f", "function")]),
        ("async def f(): pass", [("f", "function")]),
        ("class A: pass", [("A", "class")]),
        ("a = b = 1", [("a", "assign"), ("b", "assign")]),
        ("a, (b, *c) = x", [("a", "assign"), ("b", "assign"), ("c", "assign")]),
        ("a: int = 1", [("a", "assign")]),
        ("a: int", [("a", "annotation")]),
        ("a += 1", [("a", "assign")]),
        ("print(a := 1)", [("a", "assign")]),
        ("[a := x for x in y]", [("a", "assign")]),
        ("import a.b", [("a", "import")]),
        ("from m import *", []),
        ("for a, b in c: d = 1", [("a", "loop"), ("b", "loop"), ("d", "assign")]),
        ("with x as a, y as (b, c): pass", [("a", "with"), ("b", "with"), ("c", "with")]),
        ("try: pass\nexcept E as a: b = 1", [("a", "except"), ("b", "assign")]),
        ("match x:\n case [a, *b] | {'k': a, **b}: pass", [("a", "match"), ("b", "match")] * 2),
        ("match x:\n case C(k=a) as b: pass", [("b", "match"), ("a", "match")]),
        ("del a", [("a", "del")]),
        ("a.b = 1\na[0] = 1", []),
        ("if x:\n a = 1\nelse:\n a = 2", [("a", "assign"), ("a", "assign")]),
    ],
)
def test_kinds(facts_of: FactsOf, source: str, expected: list[tuple[str, str]]) -> None:
    found = [(b.name, b.kind) for b in facts_of(source).bindings]
    assert sorted(found) == sorted(expected)


def test_global_statements_bind_in_the_module(facts_of: FactsOf) -> None:
    facts = facts_of("""
        def f():
            global A, np
            A = 1
            import numpy as np
            local = 2
    """)
    found = [(b.name, b.kind, b.via_global, b.imported) for b in facts.bindings]
    assert found == [
        ("A", "assign", True, -1),
        ("np", "import", True, 0),
        ("f", "function", False, -1),
    ]


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("X = 1 << 40", "1 << 40"),
        ("X: int = BASE + 1", "BASE + 1"),
        ("X = (1,\n     2)", "((1,\n     2))"),
        ("X = Color.RED.value", "Color.RED.value"),
        ("X = frozenset({1, 2})", "frozenset({1, 2})"),
        ("X = {'a': [1]}", "{'a': [1]}"),
        ("X = f'{A}.b'", "f'{A}.b'"),
        ("X = compute()", None),
        ("X = lambda: 1", None),
        ("X = [i for i in y]", None),
        ("X += 1", None),
        ("X = 'x' * 3000 + '" + "y" * 3000 + "'", None),
    ],
)
def test_values_are_text_that_folds(facts_of: FactsOf, source: str, value: str | None) -> None:
    (binding,) = facts_of(source).bindings
    assert binding.value == value


def test_unpacking_gives_paths(facts_of: FactsOf) -> None:
    values = {b.name: b.value for b in facts_of("A, (B, *C) = range(2), T\n").bindings}
    assert values == {"A": "(range(2), T)[0]", "B": "((range(2), T)[1])[0]", "C": None}


def test_signatures(facts_of: FactsOf) -> None:
    facts = facts_of("async def f(a, /, b, c=A.B, *d, e, g={'k': 1}, **h): pass\n")
    signature = facts.bindings[0].signature
    assert signature is not None
    assert signature.is_async
    assert [(p.name, p.kind, p.default) for p in signature.parameters] == [
        ("a", "positional-only", None),
        ("b", "positional", None),
        ("c", "positional", "A.B"),
        ("d", "var-positional", None),
        ("e", "keyword-only", None),
        ("g", "keyword-only", "{'k': 1}"),
        ("h", "var-keyword", None),
    ]


def test_spans(facts_of: FactsOf) -> None:
    facts = facts_of("@d\nasync  def  name(a):\n    pass\nclass  K(B): x = 1\nA = 1\n")
    assert [b.span for b in facts.bindings] == [
        Span(2, 13, 2, 17),
        Span(4, 8, 4, 9),
        Span(5, 1, 5, 2),
    ]
    assert facts.bindings[0].statement == Span(2, 1, 3, 9)
    assert facts.bindings[0].decorators == ("d",)


SAME = """
def f(a, b=1):
    return a.b + g(a, key=b)[0] if a else "text"
"""


@pytest.mark.parametrize(
    "other",
    [
        'def f(a, b=1):\n    "docstring"\n    return a.b + g(a, key=b)[0] if a else "text"\n',
        "def f(a, b=1):\n    # why\n    return (a.b\n        + g(a,key=b,)[0] if a else 'text')\n",
        "def f(other, b=2): return a.b + g(a, key=b)[0] if a else 'te' 'xt'\n",
    ],
)
def test_the_body_hash_ignores_layout(facts_of: FactsOf, other: str) -> None:
    assert facts_of(SAME).bindings[0].body == facts_of(other).bindings[0].body != 0


BODIES = [
    "return a.b + c",
    "return b + c.a",
    "return a + b.c",
    "return f(a=b)",
    "return f(a, b)",
    "return f(a)(b)",
    "return f(*a)",
    "return f(**a)",
    "return 1",
    "return True",
    "return 1.0",
    "return '1'",
    "return b'1'",
    "return a < b",
    "return a <= b",
    "return a < b < c",
    "return -a",
    "return not a",
    "return [a, b]",
    "return (a, b)",
    "return {a, b}",
    "return {a: b}",
    "return [a for b in c]",
    "return {a for b in c}",
    "return lambda a: b",
    "return a[b]",
    "return a[b:c]",
    "return a[b::c]",
    "a.b = c",
    "a = b = c",
    "a[b] = c",
    "a += c",
    "a -= c",
    "if a:\n        b\n    c",
    "if a:\n        b\n        c",
    "if a:\n        b\n    else:\n        c",
    "for a in b:\n        c",
    "while a:\n        b\n        c",
    "with a as b:\n        c",
    "try:\n        a\n    except b:\n        c",
    "try:\n        a\n    finally:\n        c",
    "import a",
    "from a import b",
    "from .a import b",
    "raise a from b",
    "assert a, b",
    "assert a",
    "del a",
    "return",
    "pass",
    "yield a",
    "yield from a",
    "await a",
    "def g(a): b",
    "def h(a): b",
    "class g: b",
    "match a:\n        case 1: b",
    "match a:\n        case [1]: b",
    "match a:\n        case c: b",
    "match a:\n        case d: b",
    "match a:\n        case None: b",
    "match a:\n        case d | [*c]: b",
    "import a as b",
    "return Pass",
    "return\n    pass",
    "@a\n    def f(b=c): d",
    "@a\n    @c\n    def f(b): d",
    "def f(*b): d",
    "def f(**b): d",
    "def f(b): d",
    "def f(*, b): d",
    "class g(a): b",
    "class g(metaclass=a): b",
    "with a, b:\n        c",
    "try:\n        a\n    except b as c:\n        c",
    "return [a for b in c if d if e]",
    "return [a async for b in c if d if e]",
    "return (Tuple, f(a, b))",
    "return ((f, a), b)",
    "return f'{a}'",
    "return f'{a!r}'",
    "return f'a'",
    "return f'{a:b}'",
    "return f'{a:{b}}'",
]


def test_different_bodies_have_different_hashes(facts_of: FactsOf) -> None:
    hashes = {body: facts_of(f"async def f(x):\n    {body}\n").bindings[0].body for body in BODIES}
    assert len(set(hashes.values())) == len(BODIES)


@pytest.mark.parametrize("body", ["return f(x) + o.f", "class A:\n        f = f", "del f"])
def test_the_body_hash_ignores_the_own_name(facts_of: FactsOf, body: str) -> None:
    (one,) = facts_of(f"def f(x):\n    {body}\n").bindings
    renamed = re.sub(r"\bf\b", "g", body)
    (other,) = facts_of(f"def g(x):\n    {renamed}\n").bindings
    (text,) = facts_of(f"def g(x):\n    {body}\n").bindings
    assert one.body == other.body != text.body


def test_a_body_hash_is_the_same_on_every_python(facts_of: FactsOf) -> None:
    """The value is part of what is cached and compared between machines."""
    assert facts_of(SAME).bindings[0].body == SAME_HASH


SAME_HASH = 5351927998935461654


def test_classes(facts_of: FactsOf) -> None:
    facts = facts_of("""
        @dataclass
        class A(m.B, Generic[T], metaclass=M):
            __slots__ = ("s",)
            x: int
            y = 1
            def f(this, z):
                this.stored = 1
                z.other = 2
                def g():
                    this.nested: int = 3
            class Inner: k = 1
        def make():
            class Local(A): pass
    """)
    found = {c.name: c for c in facts.classes}
    a = found["A"]
    assert (a.bases, a.metaclass, a.decorators) == (("m.B", "Generic"), "M", ("dataclass",))
    assert [(m.name, m.kind) for m in a.members] == [
        ("__slots__", "assign"),
        ("x", "annotation"),
        ("y", "assign"),
        ("f", "function"),
        ("Inner", "class"),
    ]
    assert set(a.self_attributes) == {"stored", "nested", "s"}
    assert not a.dynamic
    qualnames = [facts.scopes[c.scope].qualname for c in facts.classes]
    assert qualnames == ["A", "A.Inner", "make.Local"]


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n def f(cls):\n  setattr(cls, n, 1)",
        "class A:\n def f(self):\n  setattr(type(self), n, 1)",
        "class A:\n def f(self):\n  setattr(self.__class__, n, 1)",
        "class A:\n def f(cls):\n  cls.__dict__.update(x)",
        "class A:\n locals()[k] = 1",
        "class A(**options): pass",
        "class A:\n __slots__ = names()",
        "class A: pass\nsetattr(A, name, 1)",
    ],
)
def test_dynamic_classes(facts_of: FactsOf, source: str) -> None:
    assert facts_of(source).classes[0].dynamic


def test_decorators_that_only_their_own_module_explains(facts_of: FactsOf) -> None:
    (found,) = facts_of("@dataclass\n@pkg.register\n@get()()\nclass A: pass").classes
    assert (found.dynamic, found.unread_decorators) == (False, ("pkg.register", ""))


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n def f(self, o):\n  setattr(o, n, 1)",
        "class A:\n def f(self):\n  setattr(self, n, 1)",
        "class A:\n def f(self):\n  self.__dict__.update(x)",
        "class A:\n def f(self):\n  self.__dict__[k] = 1",
        "@pytest.mark.slow\nclass A: pass",
        "@dataclasses.dataclass(frozen=True)\nclass A: pass",
        "class A(Base, metaclass=ABCMeta): pass",
        "class A:\n def __getattr__(self, name): pass",
    ],
)
def test_classes_whose_members_are_known(facts_of: FactsOf, source: str) -> None:
    assert not facts_of(source).classes[0].dynamic
